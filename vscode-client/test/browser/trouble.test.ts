/** What goes wrong is told once, with a way out. */
import assert from "node:assert/strict";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FILE } from "../../scripts/lib/fixture.js";
import type { ServerOptions } from "../../scripts/lib/server.js";
import { suite } from "../../scripts/lib/suite.js";
import { until } from "../../scripts/lib/workbench.js";

const inWorkbench = suite("trouble");
const withoutServer = suite("no-server", {
  path: [],
  settings: { "excise.path": ["/nowhere/excise"] },
});

/** A program in the place of the server: it has a version, and then does something else. */
function insteadOfServer(name: string, does: string): ReturnType<typeof suite> {
  const surroundings = (scratch: string): Partial<ServerOptions> => {
    const path = join(scratch, "excise");
    writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && echo "excise, version 0.3.0" || ${does}\n`);
    chmodSync(path, 0o755);
    return { settings: { "excise.path": [path] } };
  };
  return suite(name, { path: [], surroundings });
}

const withBrokenServer = insteadOfServer("broken-server", "exit 7");
const withMuteServer = insteadOfServer("mute-server", "exec sleep 600");

/** The language servers below an editor, found by its folder in their environment; not their workers. */
function serversOf(scratch: string): number[] {
  const mine = (pid: string): boolean => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      const isServer = command.includes("excise_server") && !command.includes("excise_server.workers");
      return isServer && readFileSync(`/proc/${pid}/environ`, "utf8").includes(scratch);
    } catch {
      return false; // it has ended meanwhile
    }
  };
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && mine(name)).map(Number);
}

inWorkbench("a server that was killed is back, and the user is told once", async ({ bench, scratch }) => {
  await bench.openFile(FILE);
  const rows = await bench.showCandidates();
  await bench.squiggles.first().waitFor();
  const [old, ...more] = serversOf(scratch);
  assert.ok(old && more.length === 0);
  process.kill(old, "SIGKILL");
  await bench.notifications.first().waitFor();
  await until(() => rows.count(), (count) => count > 4);
  await bench.squiggles.first().waitFor();
  const told = await bench.notifications.allInnerTexts();
  assert.equal(told.length, 1, told.join("\n"));
  assert.match(told[0] ?? "", /ended unexpectedly.*your candidates are back/s);
  assert.equal(serversOf(scratch).filter((pid) => pid !== old).length, 1);
});

withoutServer("a missing server is named once, with a button", async ({ bench }) => {
  await bench.openFile(FILE);
  await bench.notifications.first().waitFor();
  const told = await bench.notifications.allInnerTexts();
  assert.equal(told.length, 1, told.join("\n"));
  assert.match(told[0] ?? "", /no server.*\/nowhere\/excise/s);
  await bench.notifications.getByRole("button", { name: "Open Settings" }).waitFor();
  await bench.page.getByRole("tab", { name: /^Excise/ }).click();
  await bench.page.getByRole("button", { name: "Install The Server" }).waitFor();
});

withBrokenServer("a server that ends at once is told of once, with how it ended", async ({ bench }) => {
  await bench.openFile(FILE);
  await bench.notifications.first().waitFor();
  const told = await bench.notifications.allInnerTexts();
  assert.equal(told.length, 1, told.join("\n"));
  assert.match(told[0] ?? "", /could not be started.*exit code 7/s);
  await bench.notifications.getByRole("button", { name: "Restart Server" }).waitFor();
});

withMuteServer("a server that never answers is given up, and told of once", async ({ bench }) => {
  await bench.openFile(FILE);
  await bench.notifications.first().waitFor({ timeout: 90_000 }); // the extension's patience is 30 s
  const told = await bench.notifications.allInnerTexts();
  assert.equal(told.length, 1, told.join("\n"));
  assert.match(told[0] ?? "", /could not be started.*did not answer within 30 s/s);
});
