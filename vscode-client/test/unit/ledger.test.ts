import assert from "node:assert/strict";
import { test } from "node:test";
import { Ledger } from "../../src/ledger";

const text = (id: string): { id: string; text: string } => ({ id, text: id });

test("what was accepted is kept, in its order", () => {
  const ledger = new Ledger();
  ledger.added("file:///a", [text("x"), text("y"), text("z")], ["x", "z"]);
  ledger.added("file:///a", [{ id: "x", text: "newer" }], ["x"]);
  assert.deepEqual(ledger.standings(), [
    { uri: "file:///a", revisions: [{ id: "x", text: "newer" }, text("z")], removed: [] },
  ]);
  assert.equal(ledger.size, 2);
});

test("what was removed is not put back, until it is added or its document closed", () => {
  const ledger = new Ledger();
  ledger.added("a", [text("x"), text("y")], ["x", "y"]);
  ledger.removed("a", ["x", "worktree:w"]);
  assert.deepEqual(ledger.standings()[0]?.removed, ["x", "worktree:w"]);
  assert.deepEqual(ledger.standings()[0]?.revisions, [text("y")]);
  ledger.added("a", [text("x")], ["x"]);
  assert.deepEqual(ledger.standings()[0]?.removed, ["worktree:w"]);
  ledger.closed("a");
  ledger.closed("unknown");
  assert.deepEqual(ledger.standings()[0]?.removed, []);
});
