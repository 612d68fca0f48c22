// Text of revisions, labels and paths, made harmless before it is shown.

// Controls, and the marks that make text run in another direction than it is read.
// eslint-disable-next-line no-control-regex
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** One line of text with every hidden character visible, shortened in its middle. */
export function plain(text: string, longest = 80): string {
  return shortened(text, longest).replace(HIDDEN, (mark) => (mark === "\n" ? "⏎" : mark === "\t" ? " " : escaped(mark)));
}

/** A part of a line of code with every hidden character except tabs visible. */
export function visible(code: string): string {
  return code.replace(HIDDEN, (mark) => (mark === "\t" ? mark : escaped(mark)));
}

function escaped(mark: string): string {
  return `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The same for messages and lists, where `$(name)` is an icon and `[a](b)` a link. */
export function message(text: string, longest = 300): string {
  return plain(text, longest).replace(/\$\(/g, "$ (").replace(/\]\(/g, "] (");
}

function shortened(text: string, longest: number): string {
  if (text.length <= longest) {
    return text;
  }
  const half = Math.floor((longest - 1) / 2);
  // Half a surrogate pair is not a character.
  const head = text.slice(0, half).replace(/[\ud800-\udbff]$/, "");
  const tail = text.slice(-half).replace(/^[\udc00-\udfff]/, "");
  return `${head}…${tail}`;
}

/** "1 candidate", "2 candidates". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** A command cannot go on, for a reason that the user is told. */
export class Halt extends Error {}

/** Errors of the protocol: a request was cancelled; the server does not know the document. */
export const CANCELLED = -32800;
export const INVALID_PARAMS = -32602;

export function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

/** An error as one line. */
export function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
