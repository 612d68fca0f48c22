// The hunk editor's page, the messages between it and us, and its content: plain data without markup.
import type { ReviewHunk, ReviewResult } from "../protocol";
import { count, plain, visible } from "../text";

/** A line of code in parts, `marked` if the other text lacks them, or the number of lines that are left out. */
export type CodeLine = readonly { readonly text: string; readonly marked: boolean }[] | number;

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
  /** "3 hunks that belong together: username, password", or empty. */
  readonly unit: string;
  /** The keys of these hunks, which are taken with it. */
  readonly together: readonly string[];
}

export interface HunkPage {
  /** The lines of the origin, which identify a hunk while others are decided. */
  readonly key: string;
  /** The first line of the origin, counted from 1. */
  readonly first: number;
  readonly title: string;
  readonly summary: string;
  readonly decided: boolean;
  readonly decision: string;
  readonly folded: boolean;
  /** What the decisions break, and this hunk brings. */
  readonly warnings: readonly string[];
  /** The origin's, then those of the variants that change it. */
  readonly cards: readonly Card[];
}

export interface Page {
  readonly title: string;
  readonly progress: string;
  /** What the decisions break, and no one hunk brings. */
  readonly warnings: readonly string[];
  /** "the target changed these lines, too", by name. */
  readonly notes: readonly string[];
  readonly hunks: readonly HunkPage[];
}

export type ToPage =
  | { readonly type: "page"; readonly page: Page; readonly current: string | undefined }
  | { readonly type: "problem"; readonly text: string };

export type FromPage =
  | { readonly type: "ready" | "undo" }
  /** Take a variant of a hunk, with what belongs to it or alone; null is the origin's text. */
  | { readonly type: "take"; readonly key: string; readonly variant: number | null; readonly alone: boolean }
  | { readonly type: "open"; readonly key: string };

/** A message of the webview, if it is one: whatever else comes is dropped. */
export function fromPage(data: unknown): FromPage | undefined {
  const { type, key, variant, alone } = (typeof data === "object" ? data ?? {} : {}) as Record<string, unknown>;
  if (type === "ready" || type === "undo") {
    return { type };
  }
  if (typeof key === "string" && type === "open") {
    return { type, key };
  }
  const isVariant = variant === null || (typeof variant === "number" && Number.isInteger(variant));
  return typeof key === "string" && type === "take" && isVariant ? { type, key, variant, alone: alone === true } : undefined;
}

/** The page, with the addresses that it loads, and the nonce that lets it. Nothing in it comes from a candidate. */
export function html(nonce: string, cspSource: string, script: string, style: string): string {
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${cspSource}; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>Hunks</title>
</head>
<body>
<header>
<h1 id="title"></h1>
<p id="progress" role="status"></p>
<p id="help"><kbd>1</kbd>–<kbd>9</kbd> take, <kbd>a</kbd> <kbd>1</kbd> one alone, <kbd>0</kbd> keep the origin, <kbd>n</kbd> <kbd>p</kbd> next and previous undecided, <kbd>u</kbd> undo, <kbd>Enter</kbd> open</p>
</header>
<main>
<p id="problem" role="alert"></p>
<p id="alone" role="status"></p>
<div id="warnings"></div>
<ul id="notes" aria-label="Notes"></ul>
<div id="hunks"><p>Reading the file…</p></div>
</main>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}

/** The most lines of a text that is shown completely, and the lines at each end of a longer one. */
const MOST_LINES = 400;
const EDGE = 10;
/** Characters of a line that are shown. */
const MOST_CHARACTERS = 2000;
const MOST_NAMES = 12;

export function page(name: string, review: ReviewResult, nameOf: (id: string) => string): Page {
  const aside = review.candidates.filter(({ state }) => state !== "shown").length;
  const notes = review.candidates.flatMap(({ id, notes: said }) => said.map((note) => `${nameOf(id)}: ${plain(note, 200)}`));
  return {
    title: plain(name, 200),
    progress: [progress(review), ...(review.problems.length === 0 ? [] : [count(review.problems.length, "warning")])].join(" · "),
    warnings: warnings(review, null),
    notes: [...notes, ...(aside === 0 ? [] : [`${aside} set aside`])],
    hunks: review.hunks.map((hunk, at) => hunkPage(review, hunk, at, nameOf)),
  };
}

export function hunkKey({ lo, hi }: Pick<ReviewHunk, "lo" | "hi">): string {
  return `${lo}-${hi}`;
}

/** What the decisions break, by the hunk that brings it, or null for what none does. */
export function warnings(review: Pick<ReviewResult, "problems">, hunk: number | null): string[] {
  const own = review.problems.filter((problem) => problem.hunk === hunk);
  return own.map(({ range, message }) => `Line ${range.start.line + 1} ${plain(message, 300)}`);
}

/** The numbers of the hunks that belong together with a variant, or none if it belongs with no other. */
export function together(hunk: ReviewHunk, variant: number | null): readonly number[] {
  return (variant === null ? undefined : hunk.units[variant]?.hunks) ?? [];
}

function hunkPage(review: ReviewResult, hunk: ReviewHunk, at: number, nameOf: (id: string) => string): HunkPage {
  const changes = changing(hunk);
  const leaving = hunk.variants.findIndex(({ text }) => text === hunk.text);
  const names = (ids: readonly string[]): string[] => {
    const more = ids.length > MOST_NAMES ? [`and ${ids.length - MOST_NAMES} more`] : [];
    return [...ids.slice(0, MOST_NAMES).map(nameOf), ...more];
  };
  const origin: Card = {
    variant: null,
    key: "0",
    names: names(hunk.variants[leaving]?.ids ?? []),
    words: leaving < 0 ? "" : variantWords(hunk, leaving),
    lines: code(hunk.text, changes.flatMap((variant) => hunk.marks?.[variant]?.lost ?? [])),
    chosen: hunk.decision === "origin" && hunk.decided,
    unit: "",
    together: [],
  };
  const cards = changes.map((variant, position): Card => ({
    variant,
    key: position < 9 ? `${position + 1}` : "",
    names: names(hunk.variants[variant]?.ids ?? []),
    words: variantWords(hunk, variant),
    lines: code(hunk.variants[variant]?.text ?? "", hunk.marks?.[variant]?.own ?? []),
    chosen: hunk.variant === variant && hunk.decision === "variant",
    unit: plain(hunk.units[variant]?.words ?? "", 300),
    together: together(hunk, variant).flatMap((number) => review.hunks[number] ?? []).map(hunkKey),
  }));
  return {
    key: hunkKey(hunk),
    first: hunk.lo + 1,
    title: hunk.where,
    summary: plain(hunk.words, 300),
    decided: hunk.decided,
    decision: plain(hunk.outcome, 160),
    // What several candidates all say needs no look.
    folded: hunk.variants.length === 1 && hunk.variants.some(({ ids }) => ids.length > 1),
    warnings: warnings(review, at),
    cards: [origin, ...cards],
  };
}

/** The lines of a text in parts. Spans are ranges (from, to) of its code points. */
export function code(text: string, spans: readonly (readonly number[])[]): CodeLine[] {
  if (text === "") {
    return [];
  }
  const all = text.replace(/\n$/, "").split("\n");
  const hidden = all.length > MOST_LINES ? all.length - 2 * EDGE : 0;
  const lines: CodeLine[] = [];
  let start = 0;
  all.forEach((line, index) => {
    if (hidden === 0 || index < EDGE || index >= all.length - EDGE) {
      lines.push(markedParts(Array.from(line.slice(0, MOST_CHARACTERS)), start, spans));
    } else if (index === EDGE) {
      lines.push(hidden);
    }
    start += line.replace(/[\ud800-\udbff][\udc00-\udfff]/g, "x").length + 1;
  });
  return lines;
}

/** The characters of a line that begins at a code point of the text, in parts. */
function markedParts(characters: readonly string[], start: number, spans: readonly (readonly number[])[]): CodeLine {
  const marked = characters.map(() => false);
  for (const [lo = 0, hi = 0] of spans) {
    if (lo < start + characters.length && hi > start) {
      marked.fill(true, Math.max(lo - start, 0), hi - start);
    }
  }
  const kinds = characters.map((character, at) => (marked[at] === true ? "m" : /[ \t]/.test(character) ? " " : "."));
  // Tokens that only blanks part are one mark.
  const joined = kinds.join("").replace(/(?<=m) +(?=m)/g, (blanks) => "m".repeat(blanks.length));
  return [...joined.matchAll(/m+|[^m]+/g)].map(({ 0: part, index }) => ({
    text: visible(characters.slice(index, index + part.length).join("")),
    marked: part.startsWith("m"),
  }));
}

/** The variants that differ from the origin, by their numbers. */
export function changing(hunk: Pick<ReviewHunk, "variants" | "text">): number[] {
  return hunk.variants.flatMap(({ text }, at) => (text === hunk.text ? [] : [at]));
}

/** "2 of 5 make this change", "1 of 5 deletes it", "3 of 5 leave it". */
export function variantWords(hunk: Pick<ReviewHunk, "variants" | "text">, at: number): string {
  const { ids, text } = hunk.variants[at] ?? { ids: [], text: "" };
  const all = hunk.variants.reduce((sum, variant) => sum + variant.ids.length, 0);
  const [verb, what] = text === hunk.text ? ["leave", "it"] : text === "" ? ["delete", "it"] : ["make", "this change"];
  return `${ids.length} of ${all} ${verb}${ids.length === 1 ? "s" : ""} ${what}`;
}

/** "4 of 11 decided". */
export function progress({ decided, undecided }: { readonly decided: number; readonly undecided: number }): string {
  return `${decided} of ${decided + undecided} decided`;
}
