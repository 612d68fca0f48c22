/** The VSIX that carries its server: with no network and no server on the machine it makes its own. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { FILE } from "../../scripts/lib/fixture.js";
import { suite } from "../../scripts/lib/suite.js";
import { find } from "../../scripts/lib/places.js";
import { until } from "../../scripts/lib/workbench.js";

/** Where nothing listens: whatever asks the network is refused at once. */
const NOWHERE = "http://127.0.0.1:9";

function given(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} is not set`);
  return value;
}

const inWorkbench = suite("offline", {
  vsix: given("EXCISE_TEST_VSIX"),
  patience: 400_000,
  surroundings: (scratch) => {
    // A PATH of its own: a Python without packages, and git.
    const bin = join(scratch, "bin");
    mkdirSync(bin);
    const git = find("git");
    assert.ok(git);
    symlinkSync(git, join(bin, "git"));
    const environment = {
      PATH: `${join(given("EXCISE_TEST_PYTHON"), "..")}:${bin}`,
      HTTP_PROXY: NOWHERE,
      HTTPS_PROXY: NOWHERE,
      http_proxy: NOWHERE,
      https_proxy: NOWHERE,
      PIP_INDEX_URL: NOWHERE,
      PIP_CONFIG_FILE: "/dev/null",
      no_proxy: "127.0.0.1",
    };
    return { environment };
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

inWorkbench("it asks, installs from its own wheels, and scores", async ({ bench, scratch }) => {
  await bench.openFile(FILE);
  await bench.notifications.getByRole("button", { name: "Install", exact: true }).click();
  const dialog = bench.page.locator(".monaco-dialog-box", { hasText: "Make a Python environment" });
  await until(() => dialog.innerText(), (text) => text.includes('nothing is downloaded'));
  await dialog.getByRole("button", { name: "Install", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await bench.squiggles.first().waitFor({ timeout: 300_000 });
  const rows = await bench.showRevisions();
  await until(() => rows.count(), (count) => count > 4);
  const [[, ...args] = [], ...more] = servers(scratch);
  assert.equal(more.length, 0);
  assert.deepEqual(args.slice(0, 4), ["-I", "-m", "excise_server", "--stdio"]);
});
