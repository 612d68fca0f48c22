import assert from "node:assert/strict";
import { test } from "node:test";
import { MOST_BYTES, applyEdits, free, looksLikePatch, sorted, tooLarge, unfenced } from "../../src/incoming";

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
  const { fit, refused } = sorted([
    { id: "small", text: "x" },
    { id: "large", text: "x".repeat(20_000_000) },
  ]);
  assert.deepEqual(fit.map(({ id }) => id), ["small"]);
  assert.deepEqual(refused, [{ id: "large", reason: "skipped: 20 MB, limit 10 MB" }]);
});

test("the limit counts bytes of UTF-8, exactly", () => {
  assert.equal(tooLarge("x".repeat(MOST_BYTES)), "");
  assert.notEqual(tooLarge("x".repeat(MOST_BYTES + 1)), "");
  assert.equal(tooLarge("é".repeat(MOST_BYTES / 2)), "");
  assert.notEqual(tooLarge("é".repeat(MOST_BYTES / 2 + 1)), "");
  assert.notEqual(tooLarge("日".repeat(MOST_BYTES / 3 + 1)), "");
});

test("an answer in one fence is its inside; anything else is left alone", () => {
  assert.equal(unfenced("```python\nx = 1\n```\n"), "x = 1\n");
  assert.equal(unfenced("\n~~~\na\nb\n~~~"), "a\nb\n");
  for (const text of ["x = 1\n", "Here:\n```\nx\n```\n", "```\nx\n```\ntext\n```\ny\n```\n", '"""```\n"""']) {
    assert.equal(unfenced(text), text);
  }
});

test("what looks like a fence, and is not one around everything, is left alone", () => {
  assert.equal(unfenced("```\n```"), "");
  assert.equal(unfenced("````\n```\n````"), "```\n");
  assert.equal(unfenced("```\r\nx\r\n```\r\n"), "x\r\n");
  for (const text of ["", "```", "```\n", "```\nx", "```\nx\n ```", "``` `\nx\n```", "\n".repeat(40_000)]) {
    assert.equal(unfenced(text), text);
  }
});

test("finding a fence takes time that grows with the text", () => {
  const blank = (lines: number): number => {
    const start = performance.now();
    unfenced(`${"\n".repeat(lines)}x`);
    return performance.now() - start;
  };
  blank(1_000);
  // Once it took 5.8 s for 40,000 lines, 16 times of what it took for 10,000.
  const least = (lines: number): number => Math.min(blank(lines), blank(lines), blank(lines));
  assert.ok(least(400_000) < 16 * 4 * Math.max(least(100_000), 0.05));
});

test("ids that are taken get a number", () => {
  assert.equal(free("clipboard", new Set()), "clipboard");
  assert.equal(free("clipboard", new Set(["clipboard", "clipboard#2"])), "clipboard#3");
});

test("patches are told from texts", () => {
  assert.ok(looksLikePatch("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"));
  assert.ok(!looksLikePatch("--- a title\n\ntext\n"));
});
