import assert from "node:assert/strict";
import { test } from "node:test";
import { clusters, markOf, hunks } from "../../src/model";
import { shortNames } from "../../src/names";
import { picture } from "../../src/similarity/picture";
import { hunk, report, revision } from "./report";

const URI = "file:///x.py";

test("clusters hold their revisions in rank order, with their numbers", () => {
  const [first, second] = clusters(URI, report());
  assert.equal(first?.label, "Cluster 1 of 2");
  assert.match(first.description, /2 revisions · ES ≥ 0\.80/);
  assert.deepEqual(first.revisions.map(({ label }) => label), ["#1 a", "#2 b"]);
  assert.equal(first.revisions[0]?.mark, "representative");
  assert.match(first.revisions[1]?.description ?? "", /0\.50 agreement · ES 0\.80, contains · 3 tokens/);
  assert.equal(second?.description, "1 revision");
});

test("what is special is marked, the worst first", () => {
  const cluster = { members: ["x", "y"], representative: "x", min_similarity: 0.5 };
  const mark = (more: Parameters<typeof revision>[1]): string => markOf(revision("x", more), cluster);
  assert.equal(mark({}), "representative");
  assert.equal(mark({ noOp: true }), "noOp");
  assert.equal(mark({ noOp: true, syntaxErrors: true }), "syntaxErrors");
  assert.equal(mark({ notes: ["whitespace-only"] }), "noOp");
  assert.equal(markOf(revision("y"), cluster), "none");
  assert.equal(markOf(revision("x"), { ...cluster, members: ["x"] }), "lone");
  const revisions = [revision("x", { noOp: true, notes: ["whitespace-only"], agreement: null })];
  const lone = report({ revisions, similarity: [[1]], clusters: [{ members: ["x"], representative: "x", min_similarity: 1 }] });
  assert.match(clusters(URI, lone)[0]?.revisions[0]?.description ?? "", /no change · whitespace-only/);
});

test("a revision's hunks are those where it differs from the document", () => {
  const there = hunks(URI, report(), "b", () => "old\n");
  assert.equal(there.length, 1);
  assert.deepEqual([there[0]?.index, there[0]?.variant, there[0]?.label], [0, 0, "Line 5"]);
  assert.match(there[0]?.description ?? "", /2 of 3 agree · ES 0\.25 · 40 %/);
  assert.deepEqual(hunks(URI, report(), "c", () => "old\n"), []);
  assert.equal(hunks(URI, report(), "c", () => undefined).length, 1, "of an unknown document all");
  assert.deepEqual(hunks(URI, report(), "nobody", () => ""), []);
});

test("a hunk that is deleted says so, and a long text is cut", () => {
  const long = report({ hunks: [hunk(0, { "": ["b"], ["x\n".repeat(99)]: ["c"] })] });
  assert.match(hunks(URI, long, "b", () => "?").at(0)?.tooltip.at(-1) ?? "", /deletes/);
  assert.ok((hunks(URI, long, "c", () => "?").at(0)?.tooltip.at(-1) ?? "").length < 200);
});

test("names lose what the document's path says, only where they stay apart", () => {
  const short = (...ids: string[]): string[] => [...shortNames(ids, "/home/shop/a.py").values()];
  assert.deepEqual(short("worktree:shop-gpt-4", "worktree:shop-gpt-5", "branch:x"), ["gpt-4", "gpt-5", "x"]);
  assert.deepEqual(short("file:a.py.suggestion-gpt", "file:a.py.orig", "file:b.py"), ["gpt", "orig", "b.py"]);
  assert.deepEqual(short("worktree:a", "branch:a", "branch:b"), ["worktree:a", "branch:a", "b"]);
  assert.deepEqual(short("worktree:shop-", "worktree:shop", "patch:"), ["shop-", "shop", "patch:"]);
  assert.deepEqual(short("shop-1", "a.py.x"), ["shop-1", "a.py.x"]);
  assert.deepEqual(short(), []);
  assert.deepEqual([...shortNames(["file:a.py.suggestion-gpt"], "/a/a.py").values()], ["gpt"]);
});

test("hostile ids and labels are shown, not obeyed", () => {
  const id = "a\u202e$(x)\n[y](command:z)";
  const hostile = report({
    revisions: [revision(id, { label: "\u001b[2J", notes: ["\u0000"] })],
    similarity: [[1]],
    clusters: [{ members: [id], representative: id, min_similarity: 1 }],
    hunks: [hunk(0, { "\u0007": [id] })],
  });
  const shown = [
    clusters(URI, hostile).map(({ label, description, tooltip, revisions }) => [
      label,
      description,
      tooltip,
      revisions.map((one) => [one.label, one.description, one.tooltip]),
    ]),
    hunks(URI, hostile, id, () => "").map(({ label, description, tooltip }) => [label, description, tooltip]),
    picture(id, hostile).rows.map(({ name }) => name),
    picture(id, hostile).title,
  ]
    .flat(9)
    .join(" ");
  assert.match(shown, /a\\u202e.*\\u001b\[2J/, "they are there");
  // eslint-disable-next-line no-control-regex
  assert.doesNotMatch(shown, /[\u0000\u0007\u001b\u202e]/);
});

test("the picture's rows are in the order of the tree, its values in the same", () => {
  const { rows, values, brackets } = picture("x.py", report());
  assert.deepEqual(rows.map(({ id }) => id), ["worktree:a", "b", "c"]);
  assert.deepEqual(values, [
    [1, 0.8, 0.2],
    [0.8, 1, 0.1],
    [0.2, 0.1, 1],
  ]);
  assert.equal(brackets.length, 2);
  assert.deepEqual(rows.map(({ representative }) => representative), [true, false, true]);
});

test("300 revisions make a view and a picture", () => {
  const ids = Array.from({ length: 300 }, (_, at) => `r${at}`);
  const many = report({
    revisions: ids.map((id, at) => revision(id, { rank: at + 1 })),
    similarity: ids.map((_, a) => ids.map((_id, b) => (a === b ? 1 : 1 / (1 + Math.abs(a - b))))),
    clusters: [{ members: ids, representative: "r0", min_similarity: 0.1 }],
    hunks: [],
  });
  assert.equal(clusters(URI, many)[0]?.revisions.length, 300);
  assert.equal(picture("x", many).rows.length, 300);
});
