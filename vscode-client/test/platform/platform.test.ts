/** The VSIX for this platform: with no server on the machine it makes its own, from its own wheel. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { FILE } from "../../scripts/lib/fixture.js";
import { suite } from "../../scripts/lib/suite.js";
import { find, PYTHON } from "../../scripts/lib/places.js";
import { until } from "../../scripts/lib/workbench.js";
import { execFileSync } from "node:child_process";

const vsix = process.env["EXCISE_TEST_VSIX"];
assert.ok(vsix, "EXCISE_TEST_VSIX is not set");

const inWorkbench = suite("platform", {
  vsix,
  patience: 600_000,
  surroundings: (scratch) => {
    // A PATH of its own: a Python without packages, and git.
    const bin = join(scratch, "bin");
    mkdirSync(bin);
    const git = find("git");
    assert.ok(git);
    symlinkSync(git, join(bin, "git"));
    const base = execFileSync(PYTHON, ["-I", "-c", "import sys; print(sys._base_executable)"], { encoding: "utf8" });
    return { environment: { PATH: `${join(base.trim(), "..")}:${bin}` } };
  },
});

/** Command lines of the language servers whose Python lies below a folder. */
function servers(below: string): string[][] {
  const lines = readdirSync("/proc").map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    } catch {
      return []; // no process, or it has ended meanwhile
    }
  });
  return lines.filter(([program = "", ...rest]) => program.startsWith(below) && rest.includes("excise_server"));
}

inWorkbench("it asks, installs the wheel that it carries, and scores", async ({ bench, scratch }) => {
  await bench.openFile(FILE);
  await bench.notifications.getByRole("button", { name: "Install", exact: true }).click();
  const dialog = bench.page.locator(".monaco-dialog-box", { hasText: "Make a Python environment" });
  await until(() => dialog.innerText(), (text) => text.includes('each checked by its hash'));
  await dialog.getByRole("button", { name: "Install", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await bench.squiggles.first().waitFor({ timeout: 500_000 });
  const rows = await bench.showCandidates();
  await until(() => rows.count(), (count) => count > 4);
  const [[, ...args] = [], ...more] = servers(scratch);
  assert.equal(more.length, 0);
  assert.deepEqual(args.slice(0, 4), ["-I", "-m", "excise_server", "--stdio"]);
});
