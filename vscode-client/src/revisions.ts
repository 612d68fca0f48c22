// Adding and removing revisions: the one way for commands, the view and other extensions.
import * as vscode from "vscode";
import type { AddRequest, AddResult, NewRevision } from "../excise";
import { opened } from "./documents";
import type { AddTextResult, Base, RejectedEntry, RevisionText } from "./protocol";
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
    await this.supervisor.request("excise/removeRevisions", params);
    this.supervisor.ledger.removed(params.uri, ids);
  }

  /** Add a copied text: a whole file, a fenced block or a patch, as the server reads it. */
  async paste(uri: vscode.Uri, copied: string, named: { readonly label?: string } = {}): Promise<AddTextResult> {
    await sent(uri);
    const params = { uri: uri.toString() };
    const added = await this.supervisor.request("excise/addText", { ...params, ...named, text: copied });
    // Kept as the whole text that it made: a patch could not be read again beside another origin.
    const [{ text }, { revisions }] = await Promise.all([
      this.supervisor.request("excise/revisionContent", { ...params, id: added.id }),
      this.supervisor.request("excise/listRevisions", params),
    ]);
    const label = revisions.find(({ id }) => id === added.id)?.label ?? "";
    this.supervisor.ledger.added(params.uri, [{ id: added.id, text, label }], [added.id]);
    return added;
  }

  /** The result of a patch on the origin, labelled with its subject and the hunks that were applied elsewhere. */
  async patched(uri: vscode.Uri, patch: string): Promise<Readable> {
    await sent(uri);
    const result = await this.supervisor.request("excise/readPatch", { uri: uri.toString(), patch });
    return { text: result.text, label: [result.label, ...result.notes].filter(Boolean).join(", ") };
  }

  /** Add the revisions of another extension, in any of their three shapes. */
  push({ uri, revisions, base }: AddRequest): Promise<AddResult> {
    const read = async (revision: NewRevision): Promise<Readable> => {
      const { text, label: subject } = await this.textOf(uri, revision);
      const { id, label, source } = revision;
      // A label is read in the place of the id: one that only says the source would be no name.
      const name = source === undefined ? label : `${label ?? id} (${source})`;
      return { text, label: [name, subject].filter(Boolean).join(" ") };
    };
    return this.add(uri, revisions.map((revision) => ({ id: revision.id, read: () => read(revision) })), base);
  }

  private async textOf(uri: vscode.Uri, revision: NewRevision): Promise<Readable> {
    if ("text" in revision) {
      return { text: revision.text };
    }
    if ("patch" in revision) {
      return this.patched(uri, revision.patch);
    }
    const document = await sent(uri);
    const edits = revision.edits.map(({ range, newText }) => ({
      start: document.offsetAt(range.start),
      end: document.offsetAt(range.end),
      newText,
    }));
    return { text: applyEdits(document.getText(), edits) };
  }
}

/** Have the server know a document, outside of the workspace as well. */
async function sent(uri: vscode.Uri): Promise<vscode.TextDocument> {
  return opened(uri) ?? vscode.workspace.openTextDocument(uri);
}
