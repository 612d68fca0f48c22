// Sizes and positions of the picture: arithmetic only.
import type { Bracket } from "../similarity/tree";

/** Side of a cell: the matrix fits where it can, and a small one stays readable where it cannot. */
export function cellSize(rows: number, room: number): number {
  const least = rows <= 12 ? 34 : rows <= 40 ? 14 : 4;
  return Math.max(least, Math.min(48, Math.floor(room / Math.max(rows, 1))));
}

export interface Position {
  readonly row: number;
  readonly column: number;
}

/** The cell at a point, or undefined outside. */
export function cellAt(x: number, y: number, size: number, rows: number): Position | undefined {
  const [row, column] = [Math.floor(y / size), Math.floor(x / size)];
  return row >= 0 && column >= 0 && row < rows && column < rows ? { row, column } : undefined;
}

/** The cell to which a key moves, or undefined for other keys. */
export function moved(from: Position, key: string, rows: number, control: boolean): Position | undefined {
  const last = rows - 1;
  const to = {
    ArrowUp: { ...from, row: from.row - 1 },
    ArrowDown: { ...from, row: from.row + 1 },
    ArrowLeft: { ...from, column: from.column - 1 },
    ArrowRight: { ...from, column: from.column + 1 },
    PageUp: { ...from, row: from.row - 10 },
    PageDown: { ...from, row: from.row + 10 },
    Home: { row: control ? 0 : from.row, column: 0 },
    End: { row: control ? last : from.row, column: last },
  }[key];
  const within = (at: number): number => Math.max(0, Math.min(last, at));
  return to && { row: within(to.row), column: within(to.column) };
}

/** The dendrogram as one path, leaves on the right, in a box of a width. */
export function branches(all: readonly Bracket[], size: number, width: number): string {
  const highest = Math.max(...all.map(({ height }) => height), Number.EPSILON);
  const x = (height: number): string => ((1 - height / highest) * (width - 2) + 1).toFixed(1);
  const y = (at: number): string => (at * size).toFixed(1);
  return all
    .map(({ from, to, fromHeight, toHeight, height }) =>
      [`M${x(fromHeight)} ${y(from)}H${x(height)}`, `V${y(to)}`, `H${x(toHeight)}`].join(""),
    )
    .join("");
}

export type Colour = readonly [number, number, number];

/** "#rrggbb", "rgb(r, g, b)" or "rgba(...)" as numbers, or undefined for anything else. */
export function colour(text: string): Colour | undefined {
  const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i.exec(text.trim());
  if (hex !== null) {
    return [parseInt(hex[1] ?? "", 16), parseInt(hex[2] ?? "", 16), parseInt(hex[3] ?? "", 16)];
  }
  const rgb = /^rgba?\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)/.exec(text.trim());
  return rgb === null ? undefined : [Number(rgb[1]), Number(rgb[2]), Number(rgb[3])];
}

/** Between two colours: 0 is the first, 1 the second. */
export function mixed(from: Colour, to: Colour, part: number): Colour {
  const share = Math.max(0, Math.min(1, part));
  const between = (a: number, b: number): number => Math.round(a + (b - a) * share);
  return [between(from[0], to[0]), between(from[1], to[1]), between(from[2], to[2])];
}

/** Black or white, whichever is easier to read on a colour. */
export function readable([red, green, blue]: Colour): string {
  return red * 0.299 + green * 0.587 + blue * 0.114 > 140 ? "#000000" : "#ffffff";
}
