/**
 * Runs test/host/ with mocha inside the extension host of a real VS Code.
 *
 * The workbench is told of the tests by its `payload`, as the editor's own command line does; it
 * says what they print and how they end through two functions of its page.
 */
import { createWriteStream, type WriteStream } from "node:fs";
import { join } from "node:path";
import { MARK } from "../test/host/mark.js";
import { newWindow, startBrowser } from "./lib/browser.js";
import { installCodeServer } from "./lib/code_server.js";
import { makeFolder } from "./lib/fixture.js";
import { CLIENT, EXAMPLE, isExecutable, main, PYTHON, Trouble, VENV, VSIX } from "./lib/places.js";
import { Scratch } from "./lib/scratch.js";
import { startServer } from "./lib/server.js";
import { buildHostTests } from "./lib/tests.js";

/** Milliseconds after which the whole run is given up; each test has a shorter deadline of its own. */
const DEADLINE = 600_000;

await main(async () => {
  await installCodeServer();
  await buildHostTests();
  const scratch = new Scratch("host");
  let code = 1;
  try {
    code = await run(scratch);
  } finally {
    await scratch.close(code !== 0);
  }
  if (code !== 0) process.exitCode = 1;
});

async function run(scratch: Scratch): Promise<number> {
  if (!isExecutable(PYTHON)) throw new Trouble(`there is no ${PYTHON}: make test-vscode makes it`);
  const folder = makeFolder(scratch.sub("workspace"));
  const server = await startServer({
    home: scratch.sub("server"),
    extensions: [VSIX],
    environment: {
      EXCISE_TEST_EXAMPLE: EXAMPLE,
      EXCISE_TEST_VENV: VENV,
      EXCISE_TEST_SCRATCH: scratch.sub("tests"),
    },
  });
  scratch.later(() => server.stop());
  const browser = await startBrowser();
  scratch.later(() => browser.close());
  const window = await newWindow(browser);
  const log = createWriteStream(join(scratch.folder, "host.log"));

  const ended = new Promise<number>((done) => {
    void window.page.exposeFunction("codeAutomationExit", done);
  });
  await window.page.exposeFunction("codeAutomationLog", (kind: string, args: unknown) => {
    heard(log, kind, args);
  });
  const remote = (path: string): string => `vscode-remote://127.0.0.1:${server.port}${path}`;
  const payload = [
    ["extensionDevelopmentPath", remote(join(CLIENT, "test", "api-client"))],
    ["extensionTestsPath", remote(join(CLIENT, "out", "host", "index.js"))],
  ];
  const query = new URLSearchParams({ folder, payload: JSON.stringify(payload) });
  await window.page.goto(`${server.url}/?${query.toString()}`);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<number>((done) => {
    timer = setTimeout(() => {
      console.error(`no end after ${DEADLINE / 1000} s`);
      done(1);
    }, DEADLINE);
  });
  const code = await Promise.race([ended, late]);
  clearTimeout(timer);
  if (code !== 0) {
    await window.page.screenshot({ path: join(scratch.folder, "end.png") });
  }
  return code;
}

/** What everything else logs comes here too; the lines of the tests carry a mark. */
function heard(log: WriteStream, kind: string, args: unknown): void {
  const text = Array.isArray(args) ? args.map(String).join(" ") : String(args);
  log.write(`${kind}: ${text}\n`);
  if (text.startsWith(MARK)) console.log(text.slice(MARK.length));
}
