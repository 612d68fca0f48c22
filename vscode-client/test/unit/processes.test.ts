import assert from "node:assert/strict";
import { homedir } from "node:os";
import { test } from "node:test";
import { environment, run } from "../../src/servers";

const ends = { timeoutMs: 20_000 };

test("a program that ends is told by its code", async () => {
  const done = await run("/bin/sh", ["-c", "echo out; echo err >&2; exit 3"], ends);
  assert.deepEqual(done, { code: 3, stdout: "out\n", stderr: "err\n", failure: "" });
  assert.equal((await run("/bin/sh", ["-c", "true"], ends)).code, 0);
});

test("one that is not there, is no program, does not end, or says too much", async () => {
  const missing = await run("/nowhere/excise", [], ends);
  assert.deepEqual([missing.code, missing.failure], [undefined, "there is no such program"]);
  const folder = await run(homedir(), [], ends);
  assert.deepEqual([folder.code, folder.failure === ""], [undefined, false]);
  const late = await run("/bin/sh", ["-c", "exec sleep 600"], { timeoutMs: 50 });
  assert.deepEqual([late.code, late.failure], [undefined, "no answer within 0.05 s"]);
  const loud = await run("/bin/sh", ["-c", "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"], ends);
  assert.deepEqual([loud.code, loud.failure === ""], [undefined, false]);
});

test("cancelled, it says so", async () => {
  const control = new AbortController();
  const running = run("/bin/sh", ["-c", "exec sleep 600"], { ...ends, signal: control.signal });
  control.abort();
  assert.equal((await running).failure, "cancelled");
});

test("it starts in the home directory, and Python is not led elsewhere", async () => {
  process.env["PYTHONPATH"] = "/workspace";
  process.env["PYTHONSTARTUP"] = "/workspace/x.py";
  const done = await run("/bin/sh", ["-c", "pwd; echo \"[$PYTHONPATH$PYTHONSTARTUP]\""], ends);
  assert.equal(done.stdout, `${homedir()}\n[]\n`);
  assert.ok(!("PYTHONPATH" in environment()));
  delete process.env["PYTHONPATH"];
  delete process.env["PYTHONSTARTUP"];
});
