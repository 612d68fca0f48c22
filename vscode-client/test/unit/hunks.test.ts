import assert from "node:assert/strict";
import { test } from "node:test";
import { type Page, code, fromPage, page } from "../../src/hunks/page";
import { decision, hunkWords, summary, variantWords } from "../../src/hunks/words";
import type { ReviewHunk, ReviewResult } from "../../src/protocol";

function hunk(variants: Record<string, string[]>, more: Partial<ReviewHunk> = {}): ReviewHunk {
  const range = { start: { line: 4, character: 0 }, end: { line: 5, character: 0 } };
  const listed = Object.entries(variants).map(([text, ids]) => ({ text, ids }));
  const undecided = { decision: "origin", variant: null, decided: false, marks: null };
  return { lo: 4, hi: 5, range, text: "old\n", variants: listed, ...undecided, ...more };
}

function review(...hunks: ReviewHunk[]): ReviewResult {
  const decided = hunks.filter((one) => one.decided).length;
  const rest = { version: 1, state: 1, origin: "", pinned: true, signature: "", next: null };
  return { ...rest, decided, undecided: hunks.length - decided, candidates: [], hunks };
}

const shownOf = (...hunks: ReviewHunk[]): Page => page("a.py", review(...hunks), (id) => id.toUpperCase());

test("where a hunk is, as people count", () => {
  const places = [[0, 0], [7, 7], [4, 5], [4, 7]].map(([lo = 0, hi = 0]) => hunkWords({ lo, hi }));
  assert.deepEqual(places, ["at the start", "after line 7", "line 5", "lines 5 to 7"]);
});

test("who makes a change is said in words", () => {
  const some = hunk({ "new\n": ["a", "b"], "old\n": ["c", "d", "e"] });
  const said = (variants: Record<string, string[]>): string => summary(hunk(variants), (id) => id.toUpperCase());
  assert.equal(summary(some, String), "2 of 5 make this change");
  assert.equal(variantWords(some, 1), "3 of 5 leave it");
  assert.equal(variantWords(hunk({ "": ["a"], "old\n": ["b"] }), 0), "1 of 2 deletes it");
  assert.equal(said({ "1\n": ["a"], "2\n": ["b"], "3\n": ["c"], "4\n": ["d"], "5\n": ["e"] }), "all five differ here");
  assert.equal(said({ "1\n": ["a"], "2\n": ["b"] }), "both differ here");
  assert.equal(said({ "1\n": ["a", "b"], "2\n": ["c"] }), "2 of 3 make one change, another makes another");
  assert.equal(said({ "1\n": ["a", "b"], "2\n": ["c"], "old\n": ["d"] }), "2 of 4 make one change, another makes another");
  assert.equal(said({ "1\n": ["a", "b", "c"] }), "all three make this change");
  assert.equal(said({ "1\n": ["a"], "old\n": ["b", "c"] }), "only A makes this change");
  assert.equal(said({ "1\n": ["a"], "2\n": ["b"], "old\n": ["c"] }), "2 of 3 change this, each in its own way");
  assert.equal(said({ "1\n": ["a"] }), "A changes this");
});

test("what was decided is said, by name", () => {
  const two = { "1\n": ["a", "b"], "2\n": ["c"] };
  const said = (more: Partial<ReviewHunk>): string => decision(hunk(two, { decided: true, ...more }), (id) => id);
  assert.equal(said({ decision: "variant", variant: 0 }), "as a and 1 more");
  assert.equal(said({ decision: "variant", variant: 1 }), "as c");
  assert.deepEqual(["origin", "mixed", "edited"].map((kind) => said({ decision: kind })), ["kept", "mixed", "edited by hand"]);
  assert.equal(decision(hunk(two), (id) => id), "");
});

test("the page has the origin once, then each change with its key; what all agree on is folded", () => {
  const { hunks, progress } = shownOf(
    hunk({ "1\n": ["a"], "old\n": ["b"], "2\n": ["c"] }, { decided: true, decision: "variant", variant: 2 }),
    hunk({ "1\n": ["a", "b", "c"] }, { lo: 9, hi: 10 }),
  );
  assert.equal(progress, "1 of 2 decided");
  assert.deepEqual([hunks[0]?.origin.names, hunks[0]?.origin.key], [["B"], "0"]);
  assert.deepEqual(hunks[0]?.cards.map(({ key, variant, chosen }) => [key, variant, chosen]), [["1", 0, false], ["2", 2, true]]);
  assert.deepEqual(hunks.map(({ folded }) => folded), [false, true]);
});

test("with many variants only nine have a key, and many names are counted", () => {
  const variants = Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`${n}x\n`, [`id${n}`]]));
  const { hunks } = shownOf(hunk(variants));
  assert.deepEqual(hunks[0]?.cards.map(({ key }) => key).slice(7, 11), ["8", "9", "", ""]);
  const many = shownOf(hunk({ "x\n": Array.from({ length: 64 }, (_, n) => `id${n}`) }));
  const [names = []] = many.hunks.flatMap(({ cards }) => cards.map((one) => one.names));
  assert.deepEqual([names.length, names.at(-1)], [13, "and 52 more"]);
});

test("marks cut lines into pieces, in code points, and those that blanks part are one", () => {
  const pieces = (text: string, spans: number[][]): unknown =>
    code(text, spans).map((line) => (typeof line === "number" ? line : line.map(({ text: t, marked }) => (marked ? `[${t}]` : t))));
  assert.deepEqual(pieces("a = b + c\n", [[4, 5], [6, 7]]), [["a = ", "[b +]", " c"]]);
  assert.deepEqual(pieces("x\ny z\n", [[0, 1], [4, 5]]), [["[x]"], ["y ", "[z]"]]);
  assert.deepEqual(pieces("😀 = 1\n", [[4, 5]]), [["😀 = ", "[1]"]]);
  assert.deepEqual(pieces("ab\n", [[0, 9]]), [["[ab]"]]);
  assert.deepEqual(pieces("", []), []);
  assert.deepEqual(pieces("\n", []), [[]]);
});

test("a text of 5,000 lines is cut in its middle, and hidden characters are made visible", () => {
  const lines = code("x\n".repeat(5000), []);
  assert.deepEqual([lines.length, lines[10]], [21, 4980]);
  const [line] = code("a\u202e\tb\u0007", [[1, 2]]);
  assert.deepEqual(line, [
    { text: "a", marked: false },
    { text: "\\u202e", marked: true },
    { text: "\tb\\u0007", marked: false },
  ]);
});

test("what is not a message of the page is dropped", () => {
  assert.deepEqual(fromPage({ type: "take", key: "1-2", variant: 0 }), { type: "take", key: "1-2", variant: 0 });
  assert.deepEqual(fromPage({ type: "take", key: "1-2", variant: null }), { type: "take", key: "1-2", variant: null });
  for (const bad of [null, 1, {}, { type: "take" }, { type: "take", key: "1", variant: 0.5 }, { type: "take", key: "1" }, { type: "open" }, { type: "run", key: "x" }]) {
    assert.equal(fromPage(bad), undefined, JSON.stringify(bad));
  }
});
