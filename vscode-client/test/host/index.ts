/** Entry of the tests in the extension host: runs mocha over the files beside it. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import Mocha from "mocha";
import { MARK } from "./mark.js";

/** One line for each test; the workbench hands lines over, not columns and colours. */
class Lines {
  constructor(runner: Mocha.Runner) {
    const { EVENT_TEST_PASS, EVENT_TEST_FAIL, EVENT_TEST_PENDING } = Mocha.Runner.constants;
    runner.on(EVENT_TEST_PASS, (test) => say(`passed   ${test.fullTitle()} (${test.duration ?? 0} ms)`));
    runner.on(EVENT_TEST_PENDING, (test) => say(`SKIPPED  ${test.fullTitle()}`));
    runner.on(EVENT_TEST_FAIL, (test, error: Error) => {
      say(`FAILED   ${test.fullTitle()}`);
      say(error.stack ?? String(error));
    });
  }
}

function say(text: string): void {
  for (const line of text.split("\n")) console.log(MARK + line);
}

export async function run(): Promise<void> {
  const only = process.env["EXCISE_TEST_ONLY"];
  const mocha = new Mocha({
    timeout: 60_000,
    reporter: Lines as unknown as Mocha.ReporterConstructor,
    forbidOnly: true,
    forbidPending: true,
    bail: Boolean(process.env["EXCISE_TEST_BAIL"]),
    ...(only ? { grep: only } : {}),
  });
  for (const name of readdirSync(__dirname).sort()) {
    if (name.endsWith(".test.js")) mocha.addFile(join(__dirname, name));
  }
  const runner = await new Promise<Mocha.Runner>((done) => {
    const started: Mocha.Runner = mocha.run(() => done(started));
  });
  const { passes = 0, failures = 0 } = runner.stats ?? {};
  say(`in the extension host: ${passes} passed, ${failures} failed`);
  if (passes === 0) throw new Error("no test ran");
  if (failures > 0) throw new Error(`${failures} tests failed`);
}
