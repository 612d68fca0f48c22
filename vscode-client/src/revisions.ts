// Adding and removing revisions: the one way for commands, the view and other extensions.
import * as vscode from "vscode";
import type { AddRequest, AddResult, NewRevision } from "../excise";
import { opened } from "./documents";
import type { Base, RejectedEntry, RevisionText } from "./protocol";
import type { Supervisor } from "./supervisor";
import { Halt, reason } from "./text";

/** The server's limit: ten million bytes of UTF-8 a text. */
export const MOST_BYTES = 10_000_000;

/** Why a text need not be sent, or an empty string. */
export function tooLarge(text: string): string {
  const bytes = Buffer.byteLength(text);
  return bytes > MOST_BYTES ? `skipped: ${(bytes / 1e6).toFixed(0)} MB, limit ${MOST_BYTES / 1e6} MB` : "";
}

/** Apply edits that were all made from one text, and must not overlap. Their offsets are of UTF-16 units, as the editor counts. */
export function applyEdits(text: string, edits: readonly { readonly start: number; readonly end: number; readonly newText: string }[]): string {
  const parts: string[] = [];
  let done = 0;
  for (const { start, end, newText } of [...edits].sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (start < done) {
      throw new RangeError("edits overlap");
    }
    if (end < start || end > text.length) {
      throw new RangeError("an edit lies outside of the document");
    }
    parts.push(text.slice(done, start), newText);
    done = end;
  }
  return [...parts, text.slice(done)].join("");
}

/** The text of a revision, and what is shown beside its id. */
export interface Readable {
  readonly text: string;
  readonly label?: string;
}

/** A revision that is read when it is added: why it cannot be is the reason that it is rejected. */
export interface Unread {
  readonly id: string;
  readonly read: () => Promise<Readable>;
}

export class Revisions {
  constructor(private readonly supervisor: Supervisor) {}

  /** Add revisions, and keep them for a new server. */
  async add(uri: vscode.Uri, revisions: readonly Unread[], base?: Base): Promise<AddResult> {
    const texts: RevisionText[] = [];
    const refused: RejectedEntry[] = [];
    for (const { id, read } of revisions) {
      try {
        const revision = await read();
        const large = tooLarge(revision.text);
        if (large !== "") {
          throw new Halt(large);
        }
        texts.push({ id, ...revision });
      } catch (error) {
        refused.push({ id, reason: reason(error) });
      }
    }
    const params = { uri: uri.toString(), revisions: texts, ...(base === undefined ? {} : { base }) };
    const { accepted, rejected } = await this.supervisor.request("excise/addRevisions", params);
    this.supervisor.ledger.added(params.uri, texts, accepted);
    return { accepted, rejected: [...refused, ...rejected] };
  }

  async remove(uri: vscode.Uri, ids: readonly string[]): Promise<void> {
    const params = { uri: uri.toString(), ids };
    await this.supervisor.request("excise/removeCandidates", params);
    this.supervisor.ledger.removed(params.uri, ids);
  }

  /** Add the revisions of another extension, in either of their two shapes. */
  push({ uri, revisions, base }: AddRequest): Promise<AddResult> {
    const read = async (revision: NewRevision): Promise<Readable> => {
      const text = await textOf(uri, revision);
      const { id, label, source } = revision;
      // A label is read in the place of the id: one that only says the source would be no name.
      return { text, label: (source === undefined ? label : `${label ?? id} (${source})`) ?? "" };
    };
    return this.add(uri, revisions.map((revision) => ({ id: revision.id, read: () => read(revision) })), base);
  }

}

async function textOf(uri: vscode.Uri, revision: NewRevision): Promise<string> {
  if ("text" in revision) {
    return revision.text;
  }
  if (!("edits" in revision)) {
    throw new Halt("neither a text nor edits; a patch is applied by git apply, in a worktree");
  }
  // Edits are of the document as it is open now, or of its file.
  const document = opened(uri) ?? (await vscode.workspace.openTextDocument(uri));
  const edits = revision.edits.map(({ range, newText }) => ({
    start: document.offsetAt(range.start),
    end: document.offsetAt(range.end),
    newText,
  }));
  return applyEdits(document.getText(), edits);
}
