// What the hunk editor shows: plain data, posted to its webview. Nothing in it is markup.
import type { ReviewHunk, ReviewResult } from "../protocol";
import { plain, visible } from "../text";
import { changing, decision, hunkWords, progress, summary, unanimous, variantWords } from "./words";

/** A part of a line; `marked`: the other text lacks it. */
export interface Piece {
  readonly text: string;
  readonly marked: boolean;
}

/** A line of code; a number: so many lines are left out. */
export type CodeLine = readonly Piece[] | number;

export interface Card {
  /** In `variants` of the review; null: the origin. */
  readonly variant: number | null;
  /** The key that takes it; empty where there is none. */
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
  /** Of the origin: what tells a hunk from the others while they are decided. */
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

/** Lines of one text up to which it is shown whole, and how many of a longer one at each end. */
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
  const lost = changes.flatMap((at) => spans[at]?.lost ?? []);
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
    cards: changes.map((variant, at) => ({
      variant,
      key: at < 9 ? `${at + 1}` : "",
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

/** The lines of a text in pieces; spans are of its characters (code points), from and to. */
export function code(text: string, spans: readonly (readonly number[])[]): CodeLine[] {
  if (text === "") {
    return [];
  }
  const all = text.replace(/\n$/, "").split("\n");
  const marks = offsets(text, spans);
  let start = 0;
  const lines: CodeLine[] = [];
  const hidden = all.length > MOST_LINES ? all.length - 2 * EDGE : 0;
  all.forEach((line, at) => {
    if (hidden === 0 || at < EDGE || at >= all.length - EDGE) {
      lines.push(pieces(line.slice(0, MOST_CHARACTERS), start, marks));
    } else if (at === EDGE) {
      lines.push(hidden);
    }
    start += line.length + 1;
  });
  return lines;
}

/** Spans in code points as those in UTF-16 units, in order, overlaps joined. */
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
  let at = 0;
  for (const character of text) {
    units.push(at);
    at += character.length;
  }
  return [...units, at];
}

function pieces(line: string, start: number, marks: readonly (readonly [number, number])[]): Piece[] {
  const made: Piece[] = [];
  let at = 0;
  for (const [lo, hi] of marks) {
    const [from, to] = [Math.max(lo - start, 0), Math.min(hi - start, line.length)];
    if (from < to && to > at) {
      made.push({ text: visible(line.slice(at, from)), marked: false }, { text: visible(line.slice(from, to)), marked: true });
      at = to;
    }
  }
  return [...made, { text: visible(line.slice(at)), marked: false }].filter(({ text }) => text !== "");
}
