/** The server's life, as the extension minds it. */
import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";
import { api, file, findings, NAMES, origin, PYTHON, SCRATCH, scored, servers, suggestion, suggestions, until, withSetting } from "./helpers.js";

/** A program in the place of the server. */
function program(name: string, body: string): string {
  const path = join(SCRATCH, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** With a server that is none, what is asked for is refused; with the right one again, it is done. */
async function refusedWith(path: string): Promise<void> {
  const { addRevisions } = await api();
  const request = { uri: file(), revisions: suggestions() };
  await withSetting("path", [path], () => assert.rejects(async () => addRevisions(request)));
  await until(
    () => addRevisions(request).catch(() => undefined),
    (added) => added?.accepted.length === NAMES.length,
  );
}

describe("the server", () => {
  it("is one process, isolated from the workspace", async () => {
    await scored();
    assert.equal(servers().length, 1);
  });

  it("is started again after it was killed, and the revisions are put back", async () => {
    const document = await scored();
    const [old] = servers();
    assert.ok(old);
    const before = await (await api()).getReport(document.uri);
    assert.ok(before);
    assert.deepEqual(before.revisions.map(({ id }) => id), [...NAMES]);
    process.kill(old, "SIGKILL");
    await until(servers, (pids) => pids.length === 1 && pids[0] !== old);
    const after = await (await api()).getReport(document.uri);
    assert.deepEqual(after?.revisions, before.revisions);
    assert.deepEqual(after.similarity, before.similarity);
    await until(() => findings(document.uri).length, (count) => count > 1);
  });

  it("that is killed while a candidate is taken leaves all of it or nothing, and takes it the next time", async () => {
    const document = await scored();
    const [old] = servers();
    assert.ok(old);
    const node = { kind: "candidate", uri: document.uri.toString(), candidate: "dana" };
    const take = async (): Promise<boolean | undefined> => vscode.commands.executeCommand("excise.takeCandidate", node);
    const taking = take();
    setTimeout(() => process.kill(old, "SIGKILL"), 20);
    const taken = await taking;
    await until(servers, (pids) => pids.length === 1 && pids[0] !== old);
    const whole = taken === true ? [suggestion("dana")] : [origin(), suggestion("dana")];
    assert.ok(whole.includes(document.getText()));
    if (document.getText() === origin()) {
      await until(take, (done) => done === true);
    }
    assert.equal(document.getText(), suggestion("dana"));
  });

  it("that is missing is named, and the next setting is taken", () =>
    refusedWith(join(SCRATCH, "nowhere", "excise")));

  it("that is too old is refused", () => refusedWith(program("old", 'echo "excise, version 0.0.1"')));

  it("that ends at once is refused", () =>
    refusedWith(program("brief", '[ "$1" = --version ] && echo "excise, version 0.3.0"; exit 3')));

  it("may be named by its interpreter", async () => {
    await withSetting("interpreter", [PYTHON], async () => {
      const { addRevisions } = await api();
      await until(
        () => addRevisions({ uri: file(), revisions: suggestions() }).catch(() => undefined),
        (added) => added?.accepted.length === NAMES.length,
      );
    });
  });
});
