// Comparing the revisions of one document: one with the origin, or two with each other.
import * as vscode from "vscode";
import type { Comparison } from "../protocol";
import { count, message, plain } from "../text";
import { Halt, type Parts, documentOf, reportOf } from "./context";

/** One revision beside the origin. */
export async function compareRevision(parts: Parts, argument?: unknown): Promise<void> {
  const { uri, id } = await revisionOf(parts, argument, "Compare with the origin");
  const [change] = await comparisons(parts, uri, [id]);
  if (change === undefined) {
    throw new Halt("this revision is gone");
  }
  await diff(change.original, change.modified, change.label);
}

/** Two revisions side by side. */
export async function comparePair(parts: Parts, uri: vscode.Uri, a: string, b: string): Promise<void> {
  if (a === b) {
    await compareRevision(parts, { uri: uri.toString(), revision: a });
    return;
  }
  const [first] = await comparisons(parts, uri, [a]);
  const [second] = await comparisons(parts, uri, [b]);
  if (first === undefined || second === undefined) {
    throw new Halt("these revisions are gone");
  }
  await diff(first.modified, second.modified, `${plain(a, 40)} ↔ ${plain(b, 40)}`);
}

async function comparisons(parts: Parts, uri: vscode.Uri, ids: string[]): Promise<readonly Comparison[]> {
  return (await parts.supervisor.request("excise/compare", { uri: uri.toString(), ids })).changes;
}

async function diff(left: string, right: string, title: string): Promise<void> {
  const [original, modified] = [vscode.Uri.parse(left), vscode.Uri.parse(right)];
  await vscode.commands.executeCommand("vscode.diff", original, modified, plain(title, 120));
}

export interface Chosen {
  readonly uri: vscode.Uri;
  readonly id: string;
}

/** The revision of a command: that of the view, or one that the user picks. */
export async function revisionOf(parts: Parts, argument: unknown, title: string): Promise<Chosen> {
  const uri = documentOf(parts, argument);
  const revision = (argument as { revision?: unknown } | undefined)?.revision;
  if (typeof revision === "string") {
    return { uri, id: revision };
  }
  const { report } = await reportOf(parts, uri);
  const names = await parts.reviews.names(uri);
  const items = [...report.revisions]
    .sort((a, b) => a.rank - b.rank)
    .map((revision) => ({
      id: revision.id,
      label: message(names.get(revision.id) ?? revision.id, 60),
      description: [
        count(revision.editSize, "token"),
        ...(revision.syntaxErrors ? ["breaks the syntax"] : []),
        ...(revision.noOp ? ["changes nothing"] : []),
      ].join(" · "),
      detail: [message(revision.label, 80), ...revision.notes.map((note) => message(note, 80))]
        .filter((text) => text !== "")
        .join(" · "),
    }));
  const chosen = await vscode.window.showQuickPick(items, { title, matchOnDetail: true });
  if (chosen === undefined) {
    throw new vscode.CancellationError();
  }
  return { uri, id: chosen.id };
}
