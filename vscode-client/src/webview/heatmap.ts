// The similarity picture in its webview: a canvas for the cells, an accessible grid above it whose
// one cell is the current one, the dendrogram and the names beside it.
import type { Chosen, Picture } from "../similarity/picture";
import { score } from "../text";
import {
  type Colour,
  type Position,
  branches,
  cellAt,
  cellSize,
  colour,
  mixed,
  moved,
  readable,
} from "./geometry";

declare function acquireVsCodeApi(): { postMessage(message: Chosen): void };

const api = acquireVsCodeApi();
/** Widths beside the matrix. */
const DENDROGRAM = 100;
const NAMES = 200;
let shown: Picture | undefined;
let size = 0;
let current: Position = { row: 0, column: 0 };

function element<T extends Element>(id: string, kind: new () => T): T {
  const node = document.getElementById(id) as Element | null;
  if (!(node instanceof kind)) {
    throw new Error(`no ${id}`);
  }
  return node;
}

const grid = element("grid", HTMLElement);
const cells = element("cells", HTMLCanvasElement);

function show(picture: Picture): void {
  const opening = shown === undefined;
  shown = picture;
  const rows = picture.rows.length;
  element("title", HTMLElement).textContent = picture.title;
  element("signature", HTMLElement).textContent = picture.signature;
  element("picture", HTMLElement).hidden = rows === 0;
  element("empty", HTMLElement).hidden = rows > 0;
  current = { row: Math.min(current.row, Math.max(rows - 1, 0)), column: Math.min(current.column, Math.max(rows - 1, 0)) };
  layOut(picture);
  if (opening) {
    grid.focus();
  }
}

function layOut(picture: Picture): void {
  const rows = picture.rows.length;
  const room = Math.min(window.innerWidth - DENDROGRAM - NAMES, window.innerHeight - 190);
  size = cellSize(rows, room);
  const dendrogram = element("dendrogram", SVGSVGElement);
  dendrogram.setAttribute("width", String(DENDROGRAM));
  dendrogram.setAttribute("height", String(rows * size));
  element("branches", SVGPathElement).setAttribute("d", branches(picture.brackets, size, DENDROGRAM));
  grid.setAttribute("aria-rowcount", String(rows));
  grid.setAttribute("aria-colcount", String(rows));
  // For those who look at the page from outside: where the cells are.
  grid.dataset["cellSize"] = String(size);
  grid.dataset["rows"] = String(rows);
  name(picture);
  draw(picture);
  move(current);
}

/** The names of the rows, as far as there is room for letters. */
function name(picture: Picture): void {
  const every = Math.ceil(11 / size);
  const lines = picture.rows.map((row, index) => {
    const line = document.createElement("div");
    line.style.height = `${size}px`;
    if (index % every === 0) {
      line.append(row.name);
      line.style.fontSize = `${Math.min(14, Math.max(9, size * every - 1))}px`;
      line.style.lineHeight = `${size}px`;
      line.style.overflow = every > 1 ? "visible" : "hidden";
    }
    line.classList.toggle("representative", row.representative);
    return line;
  });
  element("names", HTMLElement).replaceChildren(...lines);
}

function draw(picture: Picture): void {
  const rows = picture.rows.length;
  const ratio = window.devicePixelRatio;
  cells.width = Math.round(rows * size * ratio);
  cells.height = cells.width;
  cells.style.width = cells.style.height = `${rows * size}px`;
  const brush = cells.getContext("2d");
  if (brush === null) {
    return;
  }
  brush.scale(ratio, ratio);
  const [low, high] = theme();
  const gap = size >= 8 ? 1 : 0;
  brush.textAlign = "center";
  brush.textBaseline = "middle";
  brush.font = `${Math.min(12, size / 2.6)}px sans-serif`;
  picture.values.forEach((values, row) => {
    values.forEach((value, column) => {
      const fill = mixed(low, high, value);
      brush.fillStyle = css(fill);
      brush.fillRect(column * size, row * size, size - gap, size - gap);
      if (size >= 24) {
        brush.fillStyle = readable(fill);
        brush.fillText(score(value), (column + 0.5) * size, (row + 0.5) * size);
      }
    });
  });
  border(brush, picture);
  scale(low, high);
}

/** A frame around each cluster. */
function border(brush: CanvasRenderingContext2D, picture: Picture): void {
  brush.strokeStyle = getComputedStyle(document.body).color;
  brush.lineWidth = 1.5;
  let first = 0;
  for (let row = 1; row <= picture.rows.length; row++) {
    if (picture.rows[row]?.cluster !== picture.rows[first]?.cluster) {
      const side = (row - first) * size;
      brush.strokeRect(first * size + 0.75, first * size + 0.75, side - 1.5, side - 1.5);
      first = row;
    }
  }
}

function scale(low: Colour, high: Colour): void {
  const canvas = element("scale", HTMLCanvasElement);
  const brush = canvas.getContext("2d");
  for (let x = 0; brush !== null && x < canvas.width; x++) {
    brush.fillStyle = css(mixed(low, high, x / (canvas.width - 1)));
    brush.fillRect(x, 0, 1, canvas.height);
  }
}

/** Nothing in common is the editor's background, the same edit the theme's blue. */
function theme(): [Colour, Colour] {
  const style = getComputedStyle(document.documentElement);
  const read = (variable: string): Colour | undefined => colour(style.getPropertyValue(variable));
  const low = read("--vscode-editor-background") ?? [255, 255, 255];
  const high = read("--vscode-charts-blue") ?? read("--vscode-textLink-foreground") ?? [26, 133, 255];
  const faint = mixed(low, read("--vscode-foreground") ?? [128, 128, 128], 0.08);
  return [faint, high];
}

function css([red, green, blue]: Colour): string {
  return `rgb(${red}, ${green}, ${blue})`;
}

/** Make a cell the current one: for the eye, and for those who hear. */
function move(to: Position): void {
  const [a, b] = [shown?.rows[to.row], shown?.rows[to.column]];
  if (shown === undefined || a === undefined || b === undefined) {
    return;
  }
  current = to;
  const value = shown.values[to.row]?.[to.column] ?? 0;
  const word = shown.words[to.row]?.[to.column] ?? "";
  const together = a.cluster === b.cluster ? `in one group: ${a.group}` : "in two groups";
  const text =
    to.row === to.column
      ? `${a.name}: ${a.group}${a.representative ? ", and it stands for them" : ""}`
      : `${a.name} and ${b.name}: ${score(value)}, ${word}, ${together}`;
  const cell = element("cell", HTMLElement);
  // A new element each time: screen readers announce the focused element, not changes in it.
  const fresh = cell.cloneNode() as HTMLElement;
  fresh.setAttribute("aria-colindex", String(to.column + 1));
  fresh.textContent = text;
  cell.replaceWith(fresh);
  element("row", HTMLElement).setAttribute("aria-rowindex", String(to.row + 1));
  grid.setAttribute("aria-activedescendant", "cell");
  element("pair", HTMLElement).textContent = text;
  const cursor = element("cursor", HTMLElement);
  cursor.style.left = `${to.column * size}px`;
  cursor.style.top = `${to.row * size}px`;
  cursor.style.width = cursor.style.height = `${size}px`;
  for (const [index, line] of [...element("names", HTMLElement).children].entries()) {
    line.classList.toggle("current", index === to.row || index === to.column);
  }
}

function choose(): void {
  const [a, b] = [shown?.rows[current.row], shown?.rows[current.column]];
  if (a !== undefined && b !== undefined) {
    api.postMessage({ type: "compare", a: a.id, b: b.id });
  }
}

function under(event: MouseEvent): Position | undefined {
  const box = cells.getBoundingClientRect();
  return cellAt(event.clientX - box.left, event.clientY - box.top, size, shown?.rows.length ?? 0);
}

grid.addEventListener("keydown", (event) => {
  const to = moved(current, event.key, shown?.rows.length ?? 0, event.ctrlKey || event.metaKey);
  if (to !== undefined) {
    event.preventDefault();
    move(to);
    element("cursor", HTMLElement).scrollIntoView({ block: "nearest", inline: "nearest" });
  } else if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    choose();
  }
});
grid.addEventListener("mousemove", (event) => {
  const to = under(event);
  if (to !== undefined && (to.row !== current.row || to.column !== current.column)) {
    move(to);
  }
});
grid.addEventListener("click", (event) => {
  const to = under(event);
  if (to !== undefined) {
    move(to);
    choose();
  }
});
window.addEventListener("message", (event: MessageEvent<Picture>) => show(event.data));
const again = (): void => {
  if (shown !== undefined) {
    layOut(shown);
  }
};
window.addEventListener("resize", again);
// A change of theme changes the style of the page and the class of its body.
const watch = new MutationObserver(again);
watch.observe(document.documentElement, { attributes: true, attributeFilter: ["style"] });
watch.observe(document.body, { attributes: true, attributeFilter: ["class"] });
api.postMessage({ type: "ready" });
