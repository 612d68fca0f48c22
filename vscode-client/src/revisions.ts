// Adding and removing revisions: the one way for commands, the view and other extensions.
import * as vscode from "vscode";
import type { AddRequest, AddResult, NewRevision } from "../excise";
import type { Servers } from "./connection";
import { opened } from "./documents";
import { applyEdits, tooLarge } from "./incoming";
import type { AddTextResult, Base, RevisionText } from "./protocol";
import { reason } from "./text";

export class Revisions {
  constructor(private readonly supervisor: Servers) {}

  /** Add revisions, and keep them for a new server. */
  async add(uri: vscode.Uri, revisions: readonly RevisionText[], base?: Base): Promise<AddResult> {
    const refused = revisions.map(({ id, text }) => ({ id, reason: tooLarge(text) })).filter((one) => one.reason !== "");
    const tooLargeIds = new Set(refused.map(({ id }) => id));
    const fit = revisions.filter(({ id }) => !tooLargeIds.has(id));
    const params = { uri: uri.toString(), revisions: fit, ...(base === undefined ? {} : { base }) };
    const { accepted, rejected } = await this.supervisor.request("excise/addRevisions", params);
    this.supervisor.ledger.added(params.uri, fit, accepted);
    return { accepted, rejected: [...refused, ...rejected] };
  }

  async remove(uri: vscode.Uri, ids: readonly string[]): Promise<void> {
    const params = { uri: uri.toString(), ids };
    await this.supervisor.request("excise/removeRevisions", params);
    this.supervisor.ledger.removed(params.uri, ids);
  }

  /** Add a copied text: a whole file, a fenced block or a patch, as the server reads it. */
  async paste(uri: vscode.Uri, copied: string): Promise<AddTextResult> {
    await sent(uri);
    const params = { uri: uri.toString() };
    const added = await this.supervisor.request("excise/addText", { ...params, text: copied });
    // Kept as the whole text that it made: a patch could not be read again beside another origin.
    const [{ text }, { revisions }] = await Promise.all([
      this.supervisor.request("excise/revisionContent", { ...params, id: added.id }),
      this.supervisor.request("excise/listRevisions", params),
    ]);
    const label = revisions.find(({ id }) => id === added.id)?.label ?? "";
    this.supervisor.ledger.added(params.uri, [{ id: added.id, text, label }], [added.id]);
    return added;
  }

  /** The result of a patch on the origin, and notes: its subject, hunks that were applied elsewhere. */
  async patched(uri: vscode.Uri, patch: string): Promise<{ text: string; notes: string }> {
    await sent(uri);
    const result = await this.supervisor.request("excise/readPatch", { uri: uri.toString(), patch });
    return { text: result.text, notes: [result.label, ...result.notes].filter(Boolean).join(", ") };
  }

  /** Add the revisions of another extension, in any of their three shapes. */
  async push({ uri, revisions, base }: AddRequest): Promise<AddResult> {
    const texts: RevisionText[] = [];
    const unusable: { id: string; reason: string }[] = [];
    for (const revision of revisions) {
      const { id, label, source } = revision;
      try {
        const { text, notes } = await this.textOf(uri, revision);
        const shown = [label, source === undefined ? undefined : `(${source})`, notes];
        texts.push({ id, text, label: shown.filter(Boolean).join(" ") });
      } catch (error) {
        unusable.push({ id, reason: reason(error) });
      }
    }
    const { accepted, rejected } = await this.add(uri, texts, base);
    return { accepted, rejected: [...unusable, ...rejected] };
  }

  private async textOf(uri: vscode.Uri, revision: NewRevision): Promise<{ text: string; notes: string }> {
    if ("text" in revision) {
      return { text: revision.text, notes: "" };
    }
    if ("patch" in revision) {
      return this.patched(uri, revision.patch);
    }
    const document = opened(uri) ?? (await vscode.workspace.openTextDocument(uri));
    const edits = revision.edits.map(({ range, newText }) => ({
      start: document.offsetAt(range.start),
      end: document.offsetAt(range.end),
      newText,
    }));
    return { text: applyEdits(document.getText(), edits), notes: "" };
  }
}

/** Have the server know a document, outside of the workspace as well. */
async function sent(uri: vscode.Uri): Promise<void> {
  if (opened(uri) === undefined) {
    await vscode.workspace.openTextDocument(uri);
  }
}
