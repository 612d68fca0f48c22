import assert from "node:assert/strict";
import { test } from "node:test";
import { documentGroups } from "../../src/candidates/document";
import { nameOf } from "../../src/names";
import { picture } from "../../src/similarity/picture";
import { hunk, report, revision } from "./report";

test("hostile ids and labels are shown, not obeyed", () => {
  const id = "a\u202e$(x)\n[y](command:z)";
  const hostile = report({
    merges: [],
    revisions: [revision(id, { label: "\u001b[2J", notes: ["\u0000"] })],
    similarity: [[1]],
    clusters: [{ members: [id], representative: id, min_similarity: 1 }],
    hunks: [hunk(0, { "\u0007": [id] })],
  });
  const shown = [
    documentGroups("file:///x.py", hostile, new Set()).map(({ label, description, tooltip }) => [label, description, tooltip]),
    picture(id, hostile, nameOf).rows.map(({ name }) => name),
    picture(id, hostile, nameOf).title,
  ]
    .flat(9)
    .join(" ");
  assert.match(shown, /a\\u202e.*\\u001b\[2J/, "they are there");
  // eslint-disable-next-line no-control-regex
  assert.doesNotMatch(shown, /[\u0000\u0007\u001b\u202e]/);
});

test("the picture's rows are in the order of the tree, its values in the same", () => {
  const { rows, values, brackets } = picture("x.py", report(), nameOf);
  assert.deepEqual(rows.map(({ id }) => id), ["worktree:a", "b", "c"]);
  assert.deepEqual(values, [
    [1, 0.8, 0.2],
    [0.8, 1, 0.1],
    [0.2, 0.1, 1],
  ]);
  assert.equal(brackets.length, 2);
  assert.deepEqual(rows.map(({ representative }) => representative), [true, false, false]);
  assert.deepEqual(rows.map(({ group }) => group), ["2 of 3 make similar changes", "2 of 3 make similar changes", "nobody else makes this change"]);
});

test("300 revisions make a view and a picture", () => {
  const ids = Array.from({ length: 300 }, (_, at) => `r${at}`);
  const many = report({
    merges: ids.slice(1).map((_, m) => ({ a: m === 0 ? 0 : 299 + m, b: m + 1, distance: 0.5 })),
    revisions: ids.map((id, at) => revision(id, { rank: at + 1 })),
    similarity: ids.map((_, a) => ids.map((_id, b) => (a === b ? 1 : 1 / (1 + Math.abs(a - b))))),
    clusters: [{ members: ids, representative: "r0", min_similarity: 0.1 }],
    hunks: [],
  });
  const [group] = documentGroups("file:///x.py", many, new Set());
  assert.equal(group?.children.length, 300);
  const drawn = picture("x", many, nameOf);
  assert.deepEqual([drawn.rows.length, drawn.brackets.length], [300, 299]);
});
