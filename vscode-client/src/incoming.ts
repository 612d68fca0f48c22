// Revisions on their way to the server: whole texts made of edits, none too large.

/** The server's limit: ten million bytes of UTF-8 a text. */
export const MOST_BYTES = 10_000_000;

/** An edit by offsets of UTF-16 units, as the editor counts. */
export interface OffsetEdit {
  readonly start: number;
  readonly end: number;
  readonly newText: string;
}

/** Apply edits that were all made from one text, and must not overlap. */
export function applyEdits(text: string, edits: readonly OffsetEdit[]): string {
  const ordered = edits
    .map((edit, at) => ({ ...edit, at }))
    .sort((a, b) => a.start - b.start || a.end - b.end || a.at - b.at);
  const parts: string[] = [];
  let done = 0;
  for (const edit of ordered) {
    if (edit.start < done) {
      throw new RangeError("edits overlap");
    }
    if (edit.end < edit.start || edit.end > text.length) {
      throw new RangeError("an edit lies outside of the document");
    }
    parts.push(text.slice(done, edit.start), edit.newText);
    done = edit.end;
  }
  return [...parts, text.slice(done)].join("");
}

/** Why a text need not be sent, or an empty string. */
export function tooLarge(text: string): string {
  // Each UTF-16 unit is one byte at least: only texts in doubt are counted.
  const bytes = text.length > MOST_BYTES || text.length * 3 <= MOST_BYTES ? text.length : Buffer.byteLength(text);
  return bytes > MOST_BYTES
    ? `skipped: ${(bytes / 1e6).toFixed(0)} MB, limit ${MOST_BYTES / 1e6} MB`
    : "";
}
