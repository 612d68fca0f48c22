// Adding and removing revisions: the one way for commands, the view and other extensions.
import * as vscode from "vscode";
import type { AddRequest, AddResult, NewRevision } from "../excise";
import type { Servers } from "./connection";
import { opened } from "./documents";
import { applyEdits, sorted } from "./incoming";
import type { Base, RevisionText } from "./lsp_ext";
import { applyPatch } from "./patch";
import { reason } from "./text";

export class Revisions {
  constructor(private readonly supervisor: Servers) {}

  /** Add revisions, and keep them for a new server. */
  async add(uri: vscode.Uri, revisions: readonly RevisionText[], base?: Base): Promise<AddResult> {
    const { fit, refused } = sorted(revisions);
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

  async ids(uri: vscode.Uri): Promise<Set<string>> {
    const listed = await this.supervisor.request("excise/listRevisions", { uri: uri.toString() });
    return new Set(listed.revisions.map(({ id }) => id));
  }

  /** The text that patches are made from: the origin, or the document where there is none. */
  async originText(uri: vscode.Uri): Promise<string> {
    const document = opened(uri) ?? (await vscode.workspace.openTextDocument(uri));
    const params = { uri: uri.toString() };
    return this.supervisor.request("excise/revisionContent", params).then(
      ({ text }) => text,
      () => document.getText(),
    );
  }

  /** What another extension pushes, in any of its three shapes. */
  async push({ uri, revisions, base }: AddRequest): Promise<AddResult> {
    const texts: RevisionText[] = [];
    const unusable: { id: string; reason: string }[] = [];
    for (const revision of revisions) {
      const { id, label, source } = revision;
      const shown = [label, source === undefined ? undefined : `(${source})`].filter(Boolean).join(" ");
      try {
        texts.push({ id, text: await this.textOf(uri, revision), label: shown });
      } catch (error) {
        unusable.push({ id, reason: reason(error) });
      }
    }
    const { accepted, rejected } = await this.add(uri, texts, base);
    return { accepted, rejected: [...unusable, ...rejected] };
  }

  private async textOf(uri: vscode.Uri, revision: NewRevision): Promise<string> {
    if ("text" in revision) {
      return revision.text;
    }
    if ("patch" in revision) {
      const name = uri.path.slice(uri.path.lastIndexOf("/") + 1);
      return applyPatch(await this.originText(uri), revision.patch, name);
    }
    const document = opened(uri) ?? (await vscode.workspace.openTextDocument(uri));
    const edits = revision.edits.map(({ range, newText }) => ({
      start: document.offsetAt(range.start),
      end: document.offsetAt(range.end),
      newText,
    }));
    return applyEdits(document.getText(), edits);
  }
}
