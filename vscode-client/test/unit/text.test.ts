import assert from "node:assert/strict";
import { test } from "node:test";
import { count, message, plain, reason } from "../../src/text";

test("hidden characters become visible", () => {
  assert.equal(plain("a\u202eb\u200bc\u0007\u001b[31m"), "a\\u202eb\\u200bc\\u0007\\u001b[31m");
  assert.equal(plain("two\nlines\tand"), "two⏎lines and");
  assert.equal(plain("ordinary größe 日本 😀"), "ordinary größe 日本 😀");
});

test("a long text is cut in its middle, never inside of a character", () => {
  const shown = plain("a".repeat(50) + "b".repeat(50), 21);
  assert.equal(shown, `${"a".repeat(10)}…${"b".repeat(10)}`);
  for (let longest = 4; longest < 20; longest++) {
    assert.doesNotThrow(() => encodeURIComponent(plain("😀".repeat(40), longest)));
  }
});

test("messages have neither icons nor links", () => {
  const shown = message("$(trash) [press me](command:evil) \\$(x)");
  assert.doesNotMatch(shown, /\$\(/);
  assert.doesNotMatch(shown, /\]\(/);
});

test("numbers as people read them", () => {
  assert.deepEqual([count(1, "revision"), count(0, "revision")], ["1 revision", "0 revisions"]);
  assert.deepEqual([reason(new Error("why")), reason("text")], ["why", "text"]);
});
