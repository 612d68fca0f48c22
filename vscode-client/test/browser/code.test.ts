/** `make code`, as somebody who tries it: from its address to the best revision applied. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { newWindow, startBrowser } from "../../scripts/lib/browser.js";
import { FILE, suggestion } from "../../scripts/lib/fixture.js";
import { Workbench } from "../../scripts/lib/workbench.js";

test("make code opens the example, and ends without a trace", { timeout: 180_000 }, async () => {
  const code = spawn(process.execPath, ["scripts/run.mjs", "code"], {
    env: { ...process.env, DISPLAY: "", WAYLAND_DISPLAY: "" }, // no browser of the user's
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<number | null>((done) => code.once("exit", done));
  const browser = await startBrowser();
  try {
    const url = new URL(await address(code.stdout, ended));
    const folder = url.searchParams.get("folder") ?? "";
    const window = await newWindow(browser);
    await window.page.goto(url.href);
    const bench = Workbench.on(window);
    await bench.squiggles.first().waitFor(); // the document is open
    await bench.showCandidates();
    await bench.inline(bench.candidate("ada"), "Take Candidate");
    await bench.save();
    assert.equal(readFileSync(`${folder}/${FILE}`, "utf8"), suggestion("ada"));
    code.kill("SIGINT");
    assert.equal(await ended, 0);
    assert.ok(!existsSync(folder));
  } finally {
    code.kill("SIGTERM");
    await browser.close();
    await ended;
  }
});

/** The address it prints, once it has printed all it has to say. */
async function address(output: NodeJS.ReadableStream, ended: Promise<unknown>): Promise<string> {
  let said = "";
  const found = new Promise<string>((done) => {
    output.on("data", (data: Buffer) => {
      said += data.toString();
      const url = /(http:\/\/127\.0\.0\.1:\d+\/\S+)/.exec(said)?.[1];
      if (url !== undefined && said.includes("Ctrl+C")) done(url);
    });
  });
  const gone = ended.then((code) => {
    throw new Error(`it ended with ${String(code)}:\n${said}`);
  });
  return Promise.race([found, gone]);
}
