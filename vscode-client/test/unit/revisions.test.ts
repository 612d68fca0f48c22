import assert from "node:assert/strict";
import { test } from "node:test";
import { MOST_BYTES, applyEdits, tooLarge } from "../../src/revisions";

test("edits that were made from one text are applied together", () => {
  const edits = [
    { start: 4, end: 7, newText: "2" },
    { start: 0, end: 0, newText: "zero " },
    { start: 0, end: 3, newText: "1" },
  ];
  assert.equal(applyEdits("one two", edits), "zero 1 2");
  assert.equal(applyEdits("a", [{ start: 1, end: 1, newText: "b" }, { start: 1, end: 1, newText: "c" }]), "abc");
  assert.equal(applyEdits("same", []), "same");
});

test("edits that overlap or lie outside are refused", () => {
  const overlap = [{ start: 0, end: 2, newText: "" }, { start: 1, end: 3, newText: "" }];
  assert.throws(() => applyEdits("abc", overlap), /overlap/);
  assert.throws(() => applyEdits("abc", [{ start: 2, end: 4, newText: "" }]), /outside/);
  assert.throws(() => applyEdits("abc", [{ start: 2, end: 1, newText: "" }]), /outside/);
});

test("a text of 20 MB is not even sent, and the reason is said", () => {
  assert.deepEqual(["x", "x".repeat(20_000_000)].map(tooLarge), ["", "skipped: 20 MB, limit 10 MB"]);
});

test("the limit counts bytes of UTF-8, exactly", () => {
  assert.equal(tooLarge("x".repeat(MOST_BYTES)), "");
  assert.notEqual(tooLarge("x".repeat(MOST_BYTES + 1)), "");
  assert.equal(tooLarge("é".repeat(MOST_BYTES / 2)), "");
  assert.notEqual(tooLarge("é".repeat(MOST_BYTES / 2 + 1)), "");
  assert.notEqual(tooLarge("日".repeat(MOST_BYTES / 3 + 1)), "");
});
