import assert from "node:assert/strict";
import { test } from "node:test";
import { type FilePage, type Paint, code, fromPage, page, progress, variantWords } from "../../src/hunks/page";
import type { ReviewHunk, ReviewResult } from "../../src/protocol";

function hunk(variants: Record<string, string[]>, more: Partial<ReviewHunk> = {}): ReviewHunk {
  const range = { start: { line: 4, character: 0 }, end: { line: 5, character: 0 } };
  const listed = Object.entries(variants).map(([text, ids]) => ({ text, ids }));
  const undecided = { where: "line 5", function: "", head: null, words: "", decision: "origin", variant: null, decided: false, outcome: "", marks: null };
  const units = listed.map(() => ({ hunks: [], words: "" }));
  return { lo: 4, hi: 5, range, text: "old\n", variants: listed, units, ...undecided, ...more };
}

function review(...hunks: ReviewHunk[]): ReviewResult {
  const decided = hunks.filter((one) => one.decided).length;
  const rest = { version: 1, state: 1, origin: "", originUri: "", comparedWith: null, sources: [], pinned: true, signature: "", next: null };
  return { ...rest, decided, undecided: hunks.length - decided, candidates: [], hunks, problems: [] };
}

function shown(said: ReviewResult, lines: string[] = [], paint?: Paint): FilePage {
  const whole = page("", [{ uri: "file:///a.py", name: "a.py", words: "", changes: [], review: said, lines, paint }]).files[0];
  assert.ok(whole);
  return whole;
}

const shownOf = (...hunks: ReviewHunk[]): FilePage => shown(review(...hunks));

test("who makes a change is said in words", () => {
  assert.equal(variantWords(hunk({ "new\n": ["a", "b"], "old\n": ["c", "d", "e"] }), 0), "2 of 5 make this change");
  assert.equal(variantWords(hunk({ "new\n": ["a", "b"], "old\n": ["c", "d", "e"] }), 1), "3 of 5 leave it");
  assert.equal(variantWords(hunk({ "": ["a"], "old\n": ["b"] }), 0), "1 of 2 deletes it");
});

test("the page has the origin once, then each change with its key, and nothing is folded", () => {
  const { hunks, words } = shownOf(
    hunk({ "1\n": ["a"], "old\n": ["b"], "2\n": ["c"] }, { decided: true, decision: "variant", variant: 2 }),
    hunk({ "1\n": ["a", "b", "c"] }, { lo: 9, hi: 10 }),
  );
  assert.equal(words, "1 of 2 decided");
  assert.deepEqual([hunks[0]?.cards[0]?.names, hunks[0]?.cards[0]?.key], [["b"], "0"]);
  assert.deepEqual(hunks[0]?.cards.map(({ key, variant, chosen }) => [key, variant, chosen]), [["0", null, false], ["1", 0, false], ["2", 2, true]]);
  assert.deepEqual(hunks.map(({ cards }) => cards.map(({ rows }) => rows.length)), [[1, 1, 1], [1, 1]]);
});

test("a hunk stands in its function, with three lines around it, and no line stands twice", () => {
  const lines = Array.from({ length: 30 }, (_, at) => `line ${at + 1}`);
  const inside = { function: "Store.get\u202e", head: 1 };
  const { hunks } = shown(review(hunk({ "1\n": ["a"] }, { lo: 9, hi: 10, ...inside }), hunk({ "1\n": ["a"] }, { lo: 14, hi: 14, text: "" })), lines);
  const numbers = (rows: FilePage["hunks"][number]["above"]): unknown[] => rows.map((row) => (typeof row === "number" ? row : row.number));
  assert.deepEqual(hunks.map(({ above, below }) => [numbers(above), numbers(below)]), [[[2, 7, 8, 9], [11, 12, 13]], [[14], [15, 16, 17]]]);
  assert.equal(hunks[0]?.title, "Line 5 · Store.get\\u202e");
  assert.deepEqual(hunks.map(({ cards }) => cards.map(({ rows }) => numbers(rows))), [[[10], [null]], [[], [null]]]);
});

test("a change that belongs with other hunks names them, and what the decisions break is said at the hunk that brings it", () => {
  const units = [{ hunks: [0, 1], words: "2 hunks that belong together: user\u202e" }, { hunks: [], words: "" }];
  const range = { start: { line: 6, character: 0 }, end: { line: 6, character: 9 } };
  const { warnings, hunks, words } = shown({
    ...review(hunk({ "1\n": ["a"], "old\n": ["b"] }, { units }), hunk({ "2\n": ["a"], "old\n": ["b"] }, { lo: 9, hi: 10, units })),
    problems: [{ range, message: "uses user", hunk: 1 }, { range, message: "uses <b>\u202e", hunk: null }],
  });
  assert.equal(words, "0 of 2 decided · 2 warnings");
  assert.deepEqual([warnings, hunks.map((each) => each.warnings)], [["Line 7 uses <b>\\u202e"], [[], ["Line 7 uses user"]]]);
  const keys = ["file:///a.py 4-5", "file:///a.py 9-10"];
  assert.deepEqual(hunks[0]?.cards.map(({ unit, together }) => [unit, together]), [["", []], ["2 hunks that belong together: user\\u202e", keys]]);
});

test("the files of a task are one page: what is decided is counted in all, and whole files are named", () => {
  const changes = [{ label: "bo\u202e", status: "deleted" }, { label: "eli", status: "modified" }];
  const file = { uri: "file:///a.py", name: "a.py", words: "2 candidates", changes, review: review(hunk({ "1\n": ["a"] }, { decided: true })), lines: [] };
  const { files, progress: all } = page("2 files", [file, { ...file, uri: "file:///b.py", review: undefined }]);
  assert.deepEqual([all, files.map(({ words }) => words)], ["1 of 1 decided", ["1 of 1 decided · 2 candidates", "2 candidates"]]);
  assert.deepEqual(files[1]?.whole.map(({ key, text }) => [key, text]), [["file:///b.py 0", "bo\\u202e: deleted"]]);
  assert.equal(progress([]), "0 of 0 decided");
});

test("with many variants only nine have a key, and many names are counted", () => {
  const variants = Object.fromEntries(Array.from({ length: 64 }, (_, n) => [`${n}x\n`, [`id${n}`]]));
  const { hunks } = shownOf(hunk(variants));
  assert.deepEqual(hunks[0]?.cards.map(({ key }) => key).slice(8, 12), ["8", "9", "", ""]);
  const many = shownOf(hunk({ "x\n": Array.from({ length: 64 }, (_, n) => `id${n}`) }));
  const names = many.hunks[0]?.cards[1]?.names ?? [];
  assert.deepEqual([names.length, names.at(-1)], [13, "and 52 more"]);
});

const pieces = (text: string, spans: number[][], runs?: ReturnType<Paint>): unknown =>
  code(text, spans, null, runs).map((row) =>
    typeof row === "number" ? row : row.parts.map(({ text: t, kind, marked }) => `${kind}${marked ? `[${t}]` : t}`),
  );

test("marks cut lines into pieces, in code points, and those that blanks part are one", () => {
  assert.deepEqual(pieces("a = b + c\n", [[4, 5], [6, 7]]), [["a = ", "[b +]", " c"]]);
  assert.deepEqual(pieces("x\ny z\n", [[0, 1], [4, 5]]), [["[x]"], ["y ", "[z]"]]);
  assert.deepEqual(pieces("😀 = 1\n", [[4, 5]]), [["😀 = ", "[1]"]]);
  assert.deepEqual(pieces("ab\n", [[0, 9]]), [["[ab]"]]);
  assert.deepEqual(pieces("", []), []);
  assert.deepEqual(pieces("\n", []), [[]]);
});

test("colours cut them as well, in UTF-16 units, and whatever they say no character is lost", () => {
  assert.deepEqual(pieces("😀 = 1\n", [[2, 5]], [[[2, "type"], [3, ""], [1, "number"]]]), [["type😀", " ", "[= ]", "number[1]"]]);
  assert.deepEqual(pieces("ab\nc\n", [], [[[1, "type"]]]), [["typea", "b"], ["c"]]);
});

test("a text of 5,000 lines is cut in its middle, a long line at its end, and hidden characters are made visible", () => {
  const rows = code("x\n".repeat(5000), [], 1);
  assert.deepEqual([rows.length, rows[10], rows.at(-1)], [21, 4980, { number: 5000, parts: [{ text: "x", kind: "", marked: false }] }]);
  assert.deepEqual(pieces(`${"x".repeat(3000)}\n`, []), [["x".repeat(2000), "said … 1000 characters more"]]);
  assert.deepEqual(pieces("a\u202e\tb\u0007", [[1, 2]]), [["a", "[\\u202e]", "\tb\\u0007"]]);
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
