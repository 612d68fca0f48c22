import assert from "node:assert/strict";
import { test } from "node:test";
import { type Page, code, fromPage, page, variantWords } from "../../src/hunks/page";
import type { ReviewHunk, ReviewResult } from "../../src/protocol";

function hunk(variants: Record<string, string[]>, more: Partial<ReviewHunk> = {}): ReviewHunk {
  const range = { start: { line: 4, character: 0 }, end: { line: 5, character: 0 } };
  const listed = Object.entries(variants).map(([text, ids]) => ({ text, ids }));
  const undecided = { where: "line 5", words: "", decision: "origin", variant: null, decided: false, outcome: "", marks: null };
  const units = listed.map(() => ({ hunks: [], words: "" }));
  return { lo: 4, hi: 5, range, text: "old\n", variants: listed, units, ...undecided, ...more };
}

function review(...hunks: ReviewHunk[]): ReviewResult {
  const decided = hunks.filter((one) => one.decided).length;
  const rest = { version: 1, state: 1, origin: "", pinned: true, signature: "", next: null };
  return { ...rest, decided, undecided: hunks.length - decided, candidates: [], hunks, problems: [] };
}

const shownOf = (...hunks: ReviewHunk[]): Page => page("a.py", review(...hunks), (id) => id.toUpperCase());

test("who makes a change is said in words", () => {
  assert.equal(variantWords(hunk({ "new\n": ["a", "b"], "old\n": ["c", "d", "e"] }), 0), "2 of 5 make this change");
  assert.equal(variantWords(hunk({ "new\n": ["a", "b"], "old\n": ["c", "d", "e"] }), 1), "3 of 5 leave it");
  assert.equal(variantWords(hunk({ "": ["a"], "old\n": ["b"] }), 0), "1 of 2 deletes it");
});

test("the page has the origin once, then each change with its key; what all agree on is folded", () => {
  const { hunks, progress } = shownOf(
    hunk({ "1\n": ["a"], "old\n": ["b"], "2\n": ["c"] }, { decided: true, decision: "variant", variant: 2 }),
    hunk({ "1\n": ["a", "b", "c"] }, { lo: 9, hi: 10 }),
  );
  assert.equal(progress, "1 of 2 decided");
  assert.deepEqual([hunks[0]?.cards[0]?.names, hunks[0]?.cards[0]?.key], [["B"], "0"]);
  assert.deepEqual(hunks[0]?.cards.map(({ key, variant, chosen }) => [key, variant, chosen]), [["0", null, false], ["1", 0, false], ["2", 2, true]]);
  assert.deepEqual(hunks.map(({ folded }) => folded), [false, true]);
});

test("a change that belongs with other hunks names them, and what the decisions break is said at the hunk that brings it", () => {
  const units = [{ hunks: [0, 1], words: "2 hunks that belong together: user\u202e" }, { hunks: [], words: "" }];
  const range = { start: { line: 6, character: 0 }, end: { line: 6, character: 9 } };
  const shown = page(
    "a.py",
    {
      ...review(hunk({ "1\n": ["a"], "old\n": ["b"] }, { units }), hunk({ "2\n": ["a"], "old\n": ["b"] }, { lo: 9, hi: 10, units })),
      problems: [{ range, message: "uses user", hunk: 1 }, { range, message: "uses <b>\u202e", hunk: null }],
    },
    (id) => id,
  );
  assert.equal(shown.progress, "0 of 2 decided · 2 warnings");
  assert.deepEqual([shown.warnings, shown.hunks.map(({ warnings }) => warnings)], [["Line 7 uses <b>\\u202e"], [[], ["Line 7 uses user"]]]);
  assert.deepEqual(shown.hunks[0]?.cards.map(({ unit, together }) => [unit, together]), [["", []], ["2 hunks that belong together: user\\u202e", ["4-5", "9-10"]]]);
});

test("with many variants only nine have a key, and many names are counted", () => {
  const variants = Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`${n}x\n`, [`id${n}`]]));
  const { hunks } = shownOf(hunk(variants));
  assert.deepEqual(hunks[0]?.cards.map(({ key }) => key).slice(8, 12), ["8", "9", "", ""]);
  const many = shownOf(hunk({ "x\n": Array.from({ length: 64 }, (_, n) => `id${n}`) }));
  const names = many.hunks[0]?.cards[1]?.names ?? [];
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
  const take = { type: "take", key: "1-2", variant: 0, alone: false };
  assert.deepEqual(fromPage({ ...take, alone: undefined }), take);
  assert.deepEqual(fromPage({ ...take, variant: null, alone: "yes" }), { ...take, variant: null });
  assert.deepEqual(fromPage({ ...take, alone: true }), { ...take, alone: true });
  for (const bad of [null, 1, {}, { type: "take" }, { type: "take", key: "1", variant: 0.5 }, { type: "take", key: "1" }, { type: "open" }, { type: "run", key: "x" }]) {
    assert.equal(fromPage(bad), undefined, JSON.stringify(bad));
  }
});
