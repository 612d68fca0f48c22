import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tree, brackets, leaves, linkage } from "../../src/similarity/linkage";

/** Numbers that look random and are the same each time. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

function matrix(size: number, seed: number): number[][] {
  const next = random(seed);
  const values = Array.from({ length: size }, () => Array.from({ length: size }, () => 1));
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < row; column++) {
      const value = next();
      (values[row] ?? [])[column] = value;
      (values[column] ?? [])[row] = value;
    }
  }
  return values;
}

/** Average linkage from its definition: the mean over all pairs of leaves. */
function mean(a: Tree, b: Tree, similarity: number[][]): number {
  const all = leaves(a).flatMap((row) => leaves(b).map((column) => 1 - (similarity[row]?.[column] ?? 0)));
  return all.reduce((sum, value) => sum + value, 0) / all.length;
}

function check(tree: Tree | undefined, similarity: number[][]): void {
  if (tree?.kind !== "merge") {
    return;
  }
  assert.ok(Math.abs(tree.height - mean(tree.left, tree.right, similarity)) < 1e-9);
  assert.equal(tree.size, leaves(tree).length);
  check(tree.left, similarity);
  check(tree.right, similarity);
}

test("a merge is as high as the mean distance between its sides", () => {
  for (let size = 2; size < 15; size++) {
    const similarity = matrix(size, size);
    check(linkage(similarity, []), similarity);
  }
});

test("the nearest two are merged first, as by hand", () => {
  const similarity = [
    [1, 0.9, 0.1],
    [0.9, 1, 0.3],
    [0.1, 0.3, 1],
  ];
  const tree = linkage(similarity, []);
  assert.ok(tree?.kind === "merge");
  assert.ok(Math.abs(tree.height - 0.8) < 1e-12);
  assert.ok(tree.left.kind === "merge" && Math.abs(tree.left.height - 0.1) < 1e-12);
  assert.deepEqual(leaves(tree), [0, 1, 2]);
});

test("every leaf is there once, and clusters stay together", () => {
  for (let seed = 1; seed < 30; seed++) {
    const size = 3 + (seed % 9);
    const indices = Array.from({ length: size }, (_, at) => at);
    const clusters = [indices.filter((at) => at % 3 === 0), indices.filter((at) => at % 3 === 1)];
    const order = leaves(linkage(matrix(size, seed), clusters));
    assert.deepEqual([...order].sort((a, b) => a - b), indices);
    for (const cluster of clusters) {
      const at = cluster.map((index) => order.indexOf(index));
      assert.equal(Math.max(...at) - Math.min(...at), cluster.length - 1, `seed ${seed}`);
    }
  }
});

test("odd input: nothing, one, all equal, clusters that name what is not there", () => {
  assert.equal(linkage([], []), undefined);
  assert.deepEqual(leaves(undefined), []);
  assert.deepEqual(brackets(undefined), []);
  assert.deepEqual(linkage([[1]], [[0]]), { kind: "leaf", index: 0 });
  assert.deepEqual(leaves(linkage([[1, 1], [1, 1]], [[1, 0]])), [1, 0]);
  assert.deepEqual(leaves(linkage([[1, 0.5], [0.5, 1]], [[7, -1], [0], []])), [0, 1]);
});

test("brackets join children where they are, and no parent is below its child", () => {
  const tree = linkage(matrix(12, 5), []);
  const all = brackets(tree);
  assert.equal(all.length, 11);
  for (const { from, to, fromHeight, toHeight, height } of all) {
    assert.ok(from < to);
    assert.ok(height >= fromHeight && height >= toHeight);
    assert.ok(from >= 0.5 && to <= 11.5);
  }
});

test("300 revisions, the most there can be, in a chain as well", () => {
  assert.equal(leaves(linkage(matrix(300, 1), [])).length, 300);
  const chain = Array.from({ length: 300 }, (_, a) =>
    Array.from({ length: 300 }, (_value, b) => (a === b ? 1 : 1 - Math.max(a, b) / 400)),
  );
  assert.equal(brackets(linkage(chain, [])).length, 299);
});
