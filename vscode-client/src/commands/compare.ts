// Comparing: all with the origin, one with the origin, one with its cluster's representative.
import * as vscode from "vscode";
import type { Comparison } from "../protocol";
import type { RevisionNode } from "../model";
import { message, plain, score } from "../text";
import { Halt, type Parts, documentOf, reportOf, show } from "./context";

/** All revisions beside the origin, in one editor. */
export async function compareAll(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  if (parts.current.uri?.toString() !== uri.toString()) {
    await show(uri);
  }
  const { report } = await reportOf(parts, uri);
  const { changes } = await parts.supervisor.request("excise/compare", { uri: uri.toString() });
  const resources = changes.map((change) => [
    vscode.Uri.parse(change.modified),
    vscode.Uri.parse(change.original),
    vscode.Uri.parse(change.modified),
  ]);
  const title = `${plain(uri.path.split("/").at(-1) ?? "")}: ${report.revisions.length} revisions`;
  await vscode.commands.executeCommand("vscode.changes", title, resources);
}

/** One revision beside the origin. */
export async function compareRevision(parts: Parts, argument?: unknown): Promise<void> {
  const { uri, id } = await revisionOf(parts, argument, "Compare with the origin");
  const [change] = await comparisons(parts, uri, [id]);
  if (change === undefined) {
    throw new Halt("this revision is gone");
  }
  await diff(change.original, change.modified, change.label);
}

/** One revision beside the representative of its cluster. */
export async function compareRepresentative(parts: Parts, argument?: unknown): Promise<void> {
  const { uri, id } = await revisionOf(parts, argument, "Compare with its representative");
  const { report } = await reportOf(parts, uri);
  const cluster = report.clusters.find(({ members }) => members.includes(id));
  if (cluster === undefined || cluster.representative === id) {
    throw new Halt(`${id} is the representative of its cluster`);
  }
  await comparePair(parts, uri, cluster.representative, id);
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
  const given = (argument as Partial<RevisionNode> | undefined)?.revision;
  if (typeof given === "string") {
    return { uri, id: given };
  }
  const { report } = await reportOf(parts, uri);
  const items = [...report.revisions]
    .sort((a, b) => a.rank - b.rank)
    .map((revision) => ({
      id: revision.id,
      label: `#${revision.rank} ${message(revision.id, 60)}`,
      description: [
        `cluster ${revision.cluster}`,
        ...(revision.agreement === null ? [] : [`agreement ${score(revision.agreement)}`]),
        ...(revision.noOp ? ["no change"] : []),
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
