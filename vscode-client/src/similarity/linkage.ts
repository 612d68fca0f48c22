// Average linkage of a similarity matrix, as a tree for the dendrogram. The server's clusters stay
// together: inside of them everything is merged before anything across.

export interface Leaf {
  readonly kind: "leaf";
  readonly index: number;
}

export interface Merge {
  readonly kind: "merge";
  readonly left: Tree;
  readonly right: Tree;
  /** Mean distance, 1 - similarity, between the leaves of both sides. */
  readonly height: number;
  readonly size: number;
}

export type Tree = Leaf | Merge;

interface Group {
  tree: Tree;
  size: number;
  /** Smallest position in the given order: which side is drawn first. */
  first: number;
}

/**
 * The tree of a symmetric matrix; undefined for an empty one. `clusters` are lists of indices that
 * stay together, in the order in which they are drawn.
 */
export function linkage(
  similarity: readonly (readonly number[])[],
  clusters: readonly (readonly number[])[],
): Tree | undefined {
  const size = similarity.length;
  const listed = clusters.flat().filter((index) => index >= 0 && index < size);
  const rest = Array.from({ length: size }, (_, at) => at).filter((at) => !listed.includes(at));
  const position = new Map([...listed, ...rest].map((index, at) => [index, at]));
  const groups: Group[] = similarity.map((_, index) => ({
    tree: { kind: "leaf", index },
    size: 1,
    first: position.get(index) ?? index,
  }));
  const distance = similarity.map((row) => Float64Array.from(row, (value) => 1 - value));
  const tops = [...clusters, ...rest.map((index) => [index])].flatMap((members) => {
    const known = members.filter((index) => index >= 0 && index < size);
    return known.length === 0 ? [] : [merged(known, groups, distance)];
  });
  const top = tops.length === 0 ? undefined : merged(tops, groups, distance);
  return top === undefined ? undefined : groups[top]?.tree;
}

/** Merge the nearest two until one is left; returns its slot. Distances are kept up to date. */
function merged(slots: readonly number[], groups: Group[], distance: Float64Array[]): number {
  const alive = [...slots];
  while (alive.length > 1) {
    const [a, b] = nearest(alive, distance);
    const [one, other] = [groups[a], groups[b]];
    if (one === undefined || other === undefined) {
      break;
    }
    const height = distance[a]?.[b] ?? 0;
    const [left, right] = one.first <= other.first ? [one, other] : [other, one];
    const size = one.size + other.size;
    for (let at = 0; at < distance.length; at++) {
      const mean = ((distance[a]?.[at] ?? 0) * one.size + (distance[b]?.[at] ?? 0) * other.size) / size;
      set(distance, a, at, mean);
      set(distance, at, a, mean);
    }
    groups[a] = {
      tree: { kind: "merge", left: left.tree, right: right.tree, height, size },
      size,
      first: left.first,
    };
    alive.splice(alive.indexOf(b), 1);
  }
  return alive[0] ?? -1;
}

/** The two alive slots at the smallest distance; the first of equal ones. */
function nearest(alive: readonly number[], distance: readonly Float64Array[]): [number, number] {
  let best: [number, number] = [alive[0] ?? 0, alive[1] ?? 0];
  let least = Infinity;
  for (const [at, a] of alive.entries()) {
    const row = distance[a];
    for (let other = at + 1; other < alive.length; other++) {
      const b = alive[other] ?? 0;
      const here = row?.[b] ?? Infinity;
      if (here < least) {
        [least, best] = [here, [a, b]];
      }
    }
  }
  return best;
}

function set(distance: readonly Float64Array[], row: number, column: number, value: number): void {
  const line = distance[row];
  if (line !== undefined) {
    line[column] = value;
  }
}

/** The leaves from first to last. */
export function leaves(tree: Tree | undefined): number[] {
  if (tree === undefined) {
    return [];
  }
  const order: number[] = [];
  const waiting: Tree[] = [tree];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next.kind === "leaf") {
      order.push(next.index);
    } else {
      waiting.push(next.right, next.left);
    }
  }
  return order;
}

/** One bracket of a dendrogram: from two children at their heights to where they meet. */
export interface Bracket {
  /** Positions among the leaves, in units of one leaf; 0.5 is the middle of the first. */
  readonly from: number;
  readonly to: number;
  readonly fromHeight: number;
  readonly toHeight: number;
  readonly height: number;
}

/** The brackets of a tree, children before parents. */
export function brackets(tree: Tree | undefined): Bracket[] {
  const drawn: Bracket[] = [];
  let next = 0;
  const draw = (node: Tree): { at: number; height: number } => {
    if (node.kind === "leaf") {
      next += 1;
      return { at: next - 0.5, height: 0 };
    }
    const left = draw(node.left);
    const right = draw(node.right);
    // Rounding must not draw a parent below its child.
    const height = Math.max(node.height, left.height, right.height);
    drawn.push({ from: left.at, to: right.at, fromHeight: left.height, toHeight: right.height, height });
    return { at: (left.at + right.at) / 2, height };
  };
  if (tree !== undefined) {
    draw(tree);
  }
  return drawn;
}
