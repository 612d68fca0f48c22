import assert from "node:assert/strict";
import { test } from "node:test";
import type { ReportMerge } from "../../src/protocol";
import { dendrogram } from "../../src/similarity/tree";

/** Leaves merged one after the other into one chain. */
function chain(size: number): ReportMerge[] {
  return Array.from({ length: size - 1 }, (_, m) => ({ a: m === 0 ? 0 : size + m - 1, b: m + 1, distance: m / size }));
}

test("the tree of three leaves, as by hand", () => {
  const merges = [
    { a: 0, b: 2, distance: 0.2 },
    { a: 1, b: 3, distance: 0.85 },
  ];
  const { order, brackets } = dendrogram(3, merges, [2, 0, 1]);
  assert.deepEqual(order, [2, 0, 1]);
  assert.deepEqual(brackets, [
    { from: 0.5, to: 1.5, fromHeight: 0, toHeight: 0, height: 0.2 },
    { from: 1, to: 2.5, fromHeight: 0.2, toHeight: 0, height: 0.85 },
  ]);
  assert.deepEqual(dendrogram(3, merges, [1, 2, 0]).order, [1, 2, 0], "the preferred leaf's side comes first");
});

test("a merge that rounding has put below an earlier one is drawn as high as that", () => {
  const merges = [
    { a: 0, b: 1, distance: 0.5 },
    { a: 2, b: 3, distance: 0.5 - 1e-16 },
  ];
  assert.deepEqual(dendrogram(3, merges, [0, 1, 2]).brackets.map(({ height }) => height), [0.5, 0.5]);
});

test("odd input: nothing, one leaf, no merges, merges of what is not there", () => {
  assert.deepEqual(dendrogram(0, [], []), { order: [], brackets: [] });
  assert.deepEqual(dendrogram(1, [], [0]), { order: [0], brackets: [] });
  assert.deepEqual(dendrogram(2, [], [1, 0]), { order: [0, 1], brackets: [] });
  assert.deepEqual(dendrogram(2, [{ a: 7, b: -1, distance: 0 }], [0, 1]).brackets, []);
});

test("300 leaves, the most there can be, in a chain", () => {
  const { order, brackets } = dendrogram(300, chain(300), []);
  assert.deepEqual(order, Array.from({ length: 300 }, (_, leaf) => leaf));
  assert.equal(brackets.length, 299);
  for (const { from, to, fromHeight, toHeight, height } of brackets) {
    assert.ok(from < to && from >= 0.5 && to <= 299.5);
    assert.ok(height >= fromHeight && height >= toHeight);
  }
});
