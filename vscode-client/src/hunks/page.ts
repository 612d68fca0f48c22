// The hunk editor's page, the messages between it and us, and its content: plain data without markup.
import type { ReviewHunk, ReviewResult } from "../protocol";
import { count, plain, visible } from "../text";

/** A part of a line: how many UTF-16 units it has, and the class of its colour, or an empty string. */
export type Run = readonly [length: number, kind: string];

/** The runs of each line of a text that stands at a line (from 0) of the origin. */
export type Paint = (text: string, line: number) => readonly (readonly Run[])[];

/** A part of a line: `kind` is the class of its colour, `marked` whether the other text lacks it. */
export interface Part {
  readonly text: string;
  readonly kind: string;
  readonly marked: boolean;
}

/** A line of code with its number in the origin, if it stands there, or the number of lines that are left out. */
export type Row = { readonly number: number | null; readonly parts: readonly Part[] } | number;

export interface Card {
  /** The index in `variants` of the review, or null for the origin. */
  readonly variant: number | null;
  /** The key that takes it, or empty. */
  readonly key: string;
  /** Who has it, each a name. */
  readonly names: readonly string[];
  readonly words: string;
  readonly rows: readonly Row[];
  /** The document has this text here. */
  readonly chosen: boolean;
  /** "3 hunks that belong together: username, password", or empty. */
  readonly unit: string;
  /** The keys of these hunks, which are taken with it. */
  readonly together: readonly string[];
}

export interface HunkPage {
  /** The file, and the lines of the origin, which identify a hunk while others are decided. */
  readonly key: string;
  readonly title: string;
  readonly summary: string;
  readonly decided: boolean;
  readonly decision: string;
  /** What the decisions break, and this hunk brings. */
  readonly warnings: readonly string[];
  /** The head of the function, and the lines of the origin around the hunk that no other hunk shows. */
  readonly above: readonly Row[];
  readonly below: readonly Row[];
  /** The origin's, then those of the variants that change it. */
  readonly cards: readonly Card[];
}

export interface FilePage {
  readonly name: string;
  readonly words: string;
  /** What the decisions break, and no one hunk brings. */
  readonly warnings: readonly string[];
  /** "the target changed these lines, too", by name. */
  readonly notes: readonly string[];
  /** What is done to the file as a whole, and the key that shows it. */
  readonly whole: readonly { readonly key: string; readonly text: string }[];
  readonly hunks: readonly HunkPage[];
}

export interface Page {
  readonly title: string;
  readonly progress: string;
  readonly files: readonly FilePage[];
}

export type ToPage =
  | { readonly type: "page"; readonly page: Page; readonly current: string | undefined }
  | { readonly type: "problem"; readonly text: string };

export type FromPage =
  | { readonly type: "ready" | "undo" }
  /** Take a variant of a hunk, with what belongs to it or alone; null is the origin's text. */
  | { readonly type: "take"; readonly key: string; readonly variant: number | null; readonly alone: boolean }
  /** Go to a hunk in its document, or let that follow beside the page; show a file as a candidate has it. */
  | { readonly type: "open" | "follow" | "whole"; readonly key: string };

/** A message of the webview, if it is one: whatever else comes is dropped. */
export function fromPage(data: unknown): FromPage | undefined {
  const { type, key, variant, alone } = (typeof data === "object" ? data ?? {} : {}) as Record<string, unknown>;
  if (type === "ready" || type === "undo") {
    return { type };
  }
  if (typeof key === "string" && (type === "open" || type === "follow" || type === "whole")) {
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
<p id="help"><kbd>1</kbd>–<kbd>9</kbd> take, <kbd>a</kbd> <kbd>1</kbd> one alone, <kbd>0</kbd> keep the origin, <kbd>n</kbd> <kbd>p</kbd> next and previous undecided, <kbd>j</kbd> <kbd>k</kbd> any next and previous, <kbd>u</kbd> undo, <kbd>Enter</kbd> open</p>
<p id="problem" role="alert"></p>
<p id="alone" role="status"></p>
</header>
<main id="files"><p>Reading the file…</p></main>
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
/** Lines of the origin that are shown before and after a hunk. */
const AROUND = 3;

/** A file whose hunks are shown: its review, the lines of its origin, and their colours, if it has any. */
export interface Reviewed {
  readonly uri: string;
  readonly name: string;
  /** Who changes it, and what is done to it. */
  readonly words: string;
  /** The candidates that change it, and how. */
  readonly changes: readonly { readonly label: string; readonly status: string }[];
  readonly review: ReviewResult | undefined;
  readonly lines: readonly string[];
  readonly paint?: Paint | undefined;
}

export function page(title: string, files: readonly Reviewed[]): Page {
  return { title: plain(title, 200), progress: progress(files.flatMap(({ review }) => review ?? [])), files: files.map(filePage) };
}

function filePage({ uri, name, words, changes, review, lines, paint }: Reviewed): FilePage {
  const aside = review?.candidates.filter(({ state }) => state !== "shown").length ?? 0;
  const notes = review?.candidates.flatMap(({ name: who, notes: said }) => said.map((note) => `${plain(who, 60)}: ${plain(note, 200)}`)) ?? [];
  const whole = changes.map(({ label, status }, at) => ({ status, key: `${uri} ${at}`, text: `${plain(label, 60)}: ${status}` }));
  return {
    name: plain(name, 200),
    words: joined(review === undefined || review.hunks.length === 0 ? "" : progress([review]), words),
    warnings: review === undefined ? [] : warnings(review, null),
    notes: [...notes, ...(aside === 0 ? [] : [`${aside} set aside`])],
    whole: whole.filter(({ status }) => status !== "modified"),
    hunks: review?.hunks.map((hunk, at) => hunkPage(uri, review, hunk, at, lines, paint)) ?? [],
  };
}

/** The lines of the origin that identify a hunk in its file. */
export function hunkKey({ lo, hi }: Pick<ReviewHunk, "lo" | "hi">): string {
  return `${lo}-${hi}`;
}

/** "Lines 43 to 45 · Inventory.reserve", and what is said of it: in the page and in the view. */
export function hunkTitle({ where, function: inside }: ReviewHunk): string {
  return joined(`${where.charAt(0).toUpperCase()}${where.slice(1)}`, plain(inside, 80));
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

function hunkPage(uri: string, review: ReviewResult, hunk: ReviewHunk, at: number, lines: readonly string[], paint?: Paint): HunkPage {
  const [before, after] = [review.hunks[at - 1], review.hunks[at + 1]];
  const { lo, hi, head, text, variants, marks, decided, decision } = hunk;
  const changes = changing(hunk);
  const leaving = variants.findIndex((variant) => variant.text === text);
  const known = new Map(review.candidates.map(({ id, name }) => [id, plain(name, 60)]));
  const names = (variant: number): string[] => {
    const ids = variants[variant]?.ids ?? [];
    const more = ids.length > MOST_NAMES ? [`and ${ids.length - MOST_NAMES} more`] : [];
    return [...ids.slice(0, MOST_NAMES).map((id) => known.get(id) ?? plain(id, 60)), ...more];
  };
  const shown = (said: string, spans: readonly (readonly number[])[], number: number | null): Row[] => code(said, spans, number, paint?.(said, lo));
  const origin: Card = {
    variant: null,
    key: "0",
    names: names(leaving),
    words: leaving < 0 ? "" : variantWords(hunk, leaving),
    rows: shown(text, changes.flatMap((variant) => marks?.[variant]?.lost ?? []), lo + 1),
    chosen: decision === "origin" && decided,
    unit: "",
    together: [],
  };
  const cards = changes.map((variant, position): Card => ({
    variant,
    key: position < 9 ? `${position + 1}` : "",
    names: names(variant),
    words: variantWords(hunk, variant),
    rows: shown(variants[variant]?.text ?? "", marks?.[variant]?.own ?? [], null),
    chosen: hunk.variant === variant && decision === "variant",
    unit: plain(hunk.units[variant]?.words ?? "", 300),
    together: together(hunk, variant).flatMap((number) => review.hunks[number] ?? []).map((other) => `${uri} ${hunkKey(other)}`),
  }));
  const around = (from: number, to: number): Row[] => {
    const said = lines.slice(from, to).join("\n");
    return from >= to ? [] : code(`${said}\n`, [], from + 1, paint?.(said, from));
  };
  // No line stands twice on the page: the hunk before has shown those below it.
  const from = Math.min(lo, Math.max(lo - AROUND, before === undefined ? 0 : before.hi + AROUND));
  return {
    key: `${uri} ${hunkKey(hunk)}`,
    title: hunkTitle(hunk),
    summary: plain(hunk.words, 300),
    decided,
    decision: plain(hunk.outcome, 160),
    warnings: warnings(review, at),
    above: [...(head === null || head >= from ? [] : around(head, head + 1)), ...around(from, lo)],
    below: around(hi, Math.min(hi + AROUND, after?.lo ?? lines.length, lines.length)),
    cards: [origin, ...cards],
  };
}

/** The lines of a text, numbered from the first if that has a number. Spans are ranges (from, to) of its code points. */
export function code(text: string, spans: readonly (readonly number[])[], first: number | null, runs: readonly (readonly Run[])[] = []): Row[] {
  if (text === "") {
    return [];
  }
  const all = text.replace(/\n$/, "").split("\n");
  const hidden = all.length > MOST_LINES ? all.length - 2 * EDGE : 0;
  const rows: Row[] = [];
  let start = 0;
  all.forEach((line, index) => {
    if (hidden === 0 || index < EDGE || index >= all.length - EDGE) {
      const cut = line.length > MOST_CHARACTERS ? [{ text: ` … ${count(line.length - MOST_CHARACTERS, "character")} more`, kind: "said", marked: false }] : [];
      const parts = partsOf(Array.from(line.slice(0, MOST_CHARACTERS)), start, spans, runs[index] ?? []);
      rows.push({ number: first === null ? null : first + index, parts: [...parts, ...cut] });
    } else if (index === EDGE) {
      rows.push(hidden);
    }
    start += line.replace(/[\ud800-\udbff][\udc00-\udfff]/g, "x").length + 1;
  });
  return rows;
}

/** The characters of a line that begins at a code point of the text, in parts of one colour. */
function partsOf(characters: readonly string[], start: number, spans: readonly (readonly number[])[], runs: readonly Run[]): Part[] {
  const marked = characters.map(() => false);
  for (const [lo = 0, hi = 0] of spans) {
    if (lo < start + characters.length && hi > start) {
      marked.fill(true, Math.max(lo - start, 0), hi - start);
    }
  }
  const kinds = runs.flatMap(([length, kind]) => Array.from({ length }, () => kind));
  // Tokens that only blanks part are one mark.
  const letters = characters.map((character, at) => (marked[at] === true ? "m" : /[ \t]/.test(character) ? " " : ".")).join("");
  const joinedMarks = letters.replace(/(?<=m) +(?=m)/g, (blanks) => "m".repeat(blanks.length));
  const parts: { text: string; kind: string; marked: boolean }[] = [];
  let unit = 0;
  characters.forEach((character, at) => {
    const [kind, isMarked, last] = [kinds[unit] ?? "", joinedMarks[at] === "m", parts.at(-1)];
    unit += character.length;
    if (last?.kind === kind && last.marked === isMarked) {
      last.text += character;
    } else {
      parts.push({ text: character, kind, marked: isMarked });
    }
  });
  return parts.map((part) => ({ ...part, text: visible(part.text) }));
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

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(" · ");
}

/** "4 of 11 decided · 1 warning". */
export function progress(reviews: readonly Pick<ReviewResult, "decided" | "undecided" | "problems">[]): string {
  const sum = (of: (review: (typeof reviews)[number]) => number): number => reviews.reduce((all, review) => all + of(review), 0);
  const decided = sum((review) => review.decided);
  const problems = sum((review) => review.problems.length);
  return joined(`${decided} of ${decided + sum((review) => review.undecided)} decided`, problems === 0 ? "" : count(problems, "warning"));
}
