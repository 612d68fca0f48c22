// The dendrogram of a report's merges: the order of its leaves, and its brackets.
import type { ReportMerge } from "../protocol";

/** One bracket of a dendrogram: from two children at their heights to where they meet. */
export interface Bracket {
  /** Positions among the leaves, in units of one leaf: 0.5 is the middle of the first. */
  readonly from: number;
  readonly to: number;
  readonly fromHeight: number;
  readonly toHeight: number;
  readonly height: number;
}

export interface Tree {
  /** The leaves from first to last. */
  readonly order: readonly number[];
  /** Children before parents. */
  readonly brackets: readonly Bracket[];
}

/**
 * The tree that merges make of leaves 0 .. size - 1; the result of merge m is size + m. Of the two sides of a merge
 * that one is drawn first which has the first leaf of `preferred`.
 */
export function dendrogram(size: number, merges: readonly ReportMerge[], preferred: readonly number[]): Tree {
  const rank = new Map(preferred.map((leaf, at) => [leaf, at]));
  /** The leaves of each node, in order. */
  const leaves = Array.from({ length: size }, (_, leaf) => [leaf]);
  const firstOf = (node: number): number => Math.min(...(leaves[node] ?? []).map((leaf) => rank.get(leaf) ?? size));
  const sides = merges.map(({ a, b }) => {
    const [first, second] = firstOf(a) <= firstOf(b) ? ([a, b] as const) : ([b, a] as const);
    leaves.push([...(leaves[first] ?? []), ...(leaves[second] ?? [])]);
    return [first, second] as const;
  });
  const complete = merges.length === size - 1 ? leaves.at(-1) : undefined;
  const order = complete ?? Array.from({ length: size }, (_, leaf) => leaf);
  return { order, brackets: brackets(order, merges, sides) };
}

function brackets(
  order: readonly number[],
  merges: readonly ReportMerge[],
  sides: readonly (readonly [number, number])[],
): Bracket[] {
  const places = new Map(order.map((leaf, at) => [leaf, { at: at + 0.5, height: 0 }]));
  return merges.flatMap(({ distance }, merge): Bracket[] => {
    const [left, right] = (sides[merge] ?? []).map((node) => places.get(node));
    if (left === undefined || right === undefined) {
      return [];
    }
    // Rounding must not draw a parent below its child.
    const height = Math.max(distance, left.height, right.height);
    places.set(order.length + merge, { at: (left.at + right.at) / 2, height });
    return [{ from: left.at, to: right.at, fromHeight: left.height, toHeight: right.height, height }];
  });
}
