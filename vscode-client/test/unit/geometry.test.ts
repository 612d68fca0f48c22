import assert from "node:assert/strict";
import { test } from "node:test";
import { branches, cellAt, cellSize, colour, mixed, moved, readable } from "../../src/webview/geometry";

test("cells fit into the room where they can", () => {
  for (const rows of [1, 5, 20, 60, 200]) {
    const size = cellSize(rows, 900);
    assert.ok(size >= 4 && size <= 48);
    assert.ok(size * rows <= 900 || size === 4, `${rows}`);
  }
  assert.ok(cellSize(5, -100) >= 24, "a small matrix stays readable");
});

test("points and cells", () => {
  assert.deepEqual(cellAt(25, 5, 10, 3), { row: 0, column: 2 });
  for (const [x, y] of [[-1, 0], [0, -1], [30, 0], [0, 30]] as const) {
    assert.equal(cellAt(x, y, 10, 3), undefined);
  }
});

test("keys lead to cells, and never out of the matrix", () => {
  const from = { row: 1, column: 1 };
  assert.deepEqual(moved(from, "ArrowUp", 5, false), { row: 0, column: 1 });
  assert.deepEqual(moved(from, "End", 5, false), { row: 1, column: 4 });
  assert.deepEqual(moved(from, "End", 5, true), { row: 4, column: 4 });
  assert.deepEqual(moved(from, "PageDown", 5, false), { row: 4, column: 1 });
  assert.deepEqual(moved({ row: 0, column: 0 }, "ArrowLeft", 5, false), { row: 0, column: 0 });
  assert.equal(moved(from, "a", 5, false), undefined);
});

test("a dendrogram's path has one bracket for each merge, inside of its box", () => {
  const path = branches([{ from: 0.5, to: 1.5, fromHeight: 0, toHeight: 0.2, height: 0.5 }], 10, 100);
  assert.equal(path, "M99.0 5.0H1.0V15.0H59.8");
  assert.equal(branches([], 10, 100), "");
  assert.doesNotMatch(branches([{ from: 0.5, to: 1.5, fromHeight: 0, toHeight: 0, height: 0 }], 10, 100), /NaN/);
});

test("colours of themes, and what can be read on them", () => {
  assert.deepEqual(colour(" #1a85ff"), [26, 133, 255]);
  assert.deepEqual(colour("#1a85ff80"), [26, 133, 255]);
  assert.deepEqual(colour("rgba(1, 2, 3, 0.5)"), [1, 2, 3]);
  assert.equal(colour("hsl(1 2% 3%)"), undefined);
  assert.deepEqual(mixed([0, 0, 0], [100, 200, 50], 0.5), [50, 100, 25]);
  assert.deepEqual(mixed([0, 0, 0], [100, 200, 50], 7), [100, 200, 50]);
  assert.deepEqual([readable([255, 255, 255]), readable([0, 0, 40])], ["#000000", "#ffffff"]);
});
