// The hunk editor and its webview: the content, which is plain data without markup, and the messages between them.
import type { ReviewHunk, ReviewResult } from "../protocol";
import { plain, visible } from "../text";
import { changing, decision, hunkWords, progress, summary, unanimous, variantWords } from "./words";

/** A part of a line, `marked` if the other text lacks it. */
export interface Piece {
  readonly text: string;
  readonly marked: boolean;
}

/** A line of code, or the number of lines that are left out. */
export type CodeLine = readonly Piece[] | number;

export interface Card {
  /** The index in `variants` of the review, or null for the origin. */
  readonly variant: number | null;
  /** The key that takes it, or empty. */
  readonly key: string;
  /** Who has it, each a name. */
  readonly names: readonly string[];
  readonly words: string;
  readonly lines: readonly CodeLine[];
  /** The document has this text here. */
  readonly chosen: boolean;
}

export interface HunkPage {
  readonly index: number;
  /** The lines of the origin, which identify a hunk while others are decided. */
  readonly key: string;
  /** The first line of the origin, counted from 1. */
  readonly first: number;
  readonly title: string;
  readonly summary: string;
  readonly decided: boolean;
  readonly decision: string;
  readonly folded: boolean;
  readonly origin: Card;
  readonly cards: readonly Card[];
}

export interface Page {
  readonly title: string;
  readonly progress: string;
  /** "the target changed these lines, too", by name. */
  readonly notes: readonly string[];
  readonly hunks: readonly HunkPage[];
}

export type ToPage =
  | { readonly type: "page"; readonly page: Page; readonly current: string | undefined }
  | { readonly type: "problem"; readonly text: string };

export type FromPage =
  | { readonly type: "ready" | "undo" }
  /** Take a variant of a hunk, or null for the origin's text. */
  | { readonly type: "take"; readonly key: string; readonly variant: number | null }
  | { readonly type: "open"; readonly key: string };

/** A message of the webview, if it is one: whatever else comes is dropped. */
export function fromPage(data: unknown): FromPage | undefined {
  const { type, key, variant } = (typeof data === "object" ? data ?? {} : {}) as Record<string, unknown>;
  if (type === "ready" || type === "undo") {
    return { type };
  }
  if (typeof key !== "string") {
    return undefined;
  }
  if (type === "open") {
    return { type, key };
  }
  const isVariant = variant === null || (typeof variant === "number" && Number.isInteger(variant));
  return type === "take" && isVariant ? { type, key, variant } : undefined;
}

/** The most lines of a text that is shown completely, and the lines at each end of a longer one. */
const MOST_LINES = 400;
const EDGE = 10;
/** Characters of a line that are shown. */
const MOST_CHARACTERS = 2000;
const MOST_NAMES = 12;

export function page(name: string, review: ReviewResult, nameOf: (id: string) => string): Page {
  const aside = review.candidates.filter(({ state }) => state !== "shown").length;
  const notes = review.candidates.flatMap(({ id, notes: said }) =>
    said.map((note) => `${nameOf(id)}: ${plain(note, 200)}`),
  );
  return {
    title: plain(name, 200),
    progress: progress(review),
    notes: [...notes, ...(aside === 0 ? [] : [`${aside} set aside`])],
    hunks: review.hunks.map((hunk, index) => hunkPage(hunk, index, nameOf)),
  };
}

export function hunkKey({ lo, hi }: Pick<ReviewHunk, "lo" | "hi">): string {
  return `${lo}-${hi}`;
}

function hunkPage(hunk: ReviewHunk, index: number, nameOf: (id: string) => string): HunkPage {
  const changes = changing(hunk);
  const leaving = hunk.variants.findIndex(({ text }) => text === hunk.text);
  const spans = hunk.marks ?? [];
  const lost = changes.flatMap((variant) => spans[variant]?.lost ?? []);
  return {
    index,
    key: hunkKey(hunk),
    first: hunk.lo + 1,
    title: hunkWords(hunk),
    summary: summary(hunk, nameOf),
    decided: hunk.decided,
    decision: decision(hunk, nameOf),
    folded: unanimous(hunk),
    origin: {
      variant: null,
      key: "0",
      names: names(hunk.variants[leaving]?.ids ?? [], nameOf),
      words: leaving < 0 ? "" : variantWords(hunk, leaving),
      lines: code(hunk.text, lost),
      chosen: hunk.decision === "origin" && hunk.decided,
    },
    cards: changes.map((variant, position) => ({
      variant,
      key: position < 9 ? `${position + 1}` : "",
      names: names(hunk.variants[variant]?.ids ?? [], nameOf),
      words: variantWords(hunk, variant),
      lines: code(hunk.variants[variant]?.text ?? "", spans[variant]?.own ?? []),
      chosen: hunk.variant === variant && hunk.decision === "variant",
    })),
  };
}

function names(ids: readonly string[], nameOf: (id: string) => string): string[] {
  const shown = ids.slice(0, MOST_NAMES).map(nameOf);
  return ids.length > MOST_NAMES ? [...shown, `and ${ids.length - MOST_NAMES} more`] : shown;
}

/** The lines of a text in pieces. Spans are ranges (from, to) of its code points. */
export function code(text: string, spans: readonly (readonly number[])[]): CodeLine[] {
  if (text === "") {
    return [];
  }
  const all = text.replace(/\n$/, "").split("\n");
  const marks = offsets(text, spans);
  let start = 0;
  const lines: CodeLine[] = [];
  const hidden = all.length > MOST_LINES ? all.length - 2 * EDGE : 0;
  all.forEach((line, index) => {
    if (hidden === 0 || index < EDGE || index >= all.length - EDGE) {
      lines.push(pieces(line.slice(0, MOST_CHARACTERS), start, marks));
    } else if (index === EDGE) {
      lines.push(hidden);
    }
    start += line.length + 1;
  });
  return lines;
}

/** Convert spans in code points to UTF-16 units, in order, with overlapping ones joined. */
function offsets(text: string, spans: readonly (readonly number[])[]): [number, number][] {
  const sorted = [...spans].sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0));
  // eslint-disable-next-line no-control-regex
  const astral = /[^\u0000-\uffff]/u.test(text);
  const units = astral ? unitsOf(text) : undefined;
  const joined: [number, number][] = [];
  for (const [lo = 0, hi = 0] of sorted) {
    const [from, to] = [units?.[lo] ?? lo, units?.[hi] ?? hi];
    const last = joined.at(-1);
    // Tokens that only blanks part are one mark.
    if (last !== undefined && (from <= last[1] || /^[ \t]*$/.test(text.slice(last[1], from)))) {
      last[1] = Math.max(last[1], to);
    } else {
      joined.push([from, to]);
    }
  }
  return joined;
}

function unitsOf(text: string): number[] {
  const units: number[] = [];
  let unit = 0;
  for (const character of text) {
    units.push(unit);
    unit += character.length;
  }
  return [...units, unit];
}

function pieces(line: string, start: number, marks: readonly (readonly [number, number])[]): Piece[] {
  const parts: Piece[] = [];
  let end = 0;
  for (const [lo, hi] of marks) {
    const [from, to] = [Math.max(lo - start, 0), Math.min(hi - start, line.length)];
    if (from < to && to > end) {
      parts.push({ text: visible(line.slice(end, from)), marked: false }, { text: visible(line.slice(from, to)), marked: true });
      end = to;
    }
  }
  return [...parts, { text: visible(line.slice(end)), marked: false }].filter(({ text }) => text !== "");
}
