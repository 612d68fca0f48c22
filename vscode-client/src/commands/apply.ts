// Applying: a whole revision, or what it has in one hunk. The server makes the edit, of exactly
// the version that the user saw; one undo takes it back.
import * as vscode from "vscode";
import type { ApplyResult, ReportHunk, ReportResult } from "../protocol";
import type { HunkNode } from "../model";
import { opened } from "../documents";
import { message, plain, score } from "../text";
import { revisionOf } from "./compare";
import { Halt, type Parts, documentOf, reportOf, show } from "./context";

export async function applyRevision(parts: Parts, argument?: unknown): Promise<boolean> {
  const { uri, id } = await revisionOf(parts, argument, "Apply a revision");
  const { report, version } = await target(parts, uri);
  const params = { uri: uri.toString(), id, version, state: report.state };
  const result = await parts.supervisor.request("excise/applyRevision", params);
  return told(result, `Applied ${message(id, 60)}`);
}

/** What a revision has in a hunk of the view; without one, a choice at the cursor. */
export async function applyHunk(parts: Parts, argument?: unknown): Promise<boolean> {
  const node = argument as Partial<HunkNode> | undefined;
  if (node?.kind !== "hunk" || node.index === undefined || node.revision === undefined) {
    return chooseVariant(parts, argument);
  }
  const uri = documentOf(parts, node);
  const { report, version } = await target(parts, uri);
  // The view may be older than the report: the hunk is the one that is still at these lines.
  const index = report.hunks.findIndex((hunk) => same(hunk, node.range));
  const variant = report.hunks[index]?.variants.findIndex(({ ids }) => ids.includes(node.revision ?? ""));
  if (index < 0 || variant === undefined || variant < 0) {
    throw new Halt("the document has changed since; look at the view again");
  }
  return apply(parts, uri, report, version, index, variant);
}

/** Choose among the variants of a hunk: that of a lens, or the one under the cursor. */
export async function chooseVariant(parts: Parts, argument?: unknown): Promise<boolean> {
  const uri = documentOf(parts, argument);
  const { report, version } = await target(parts, uri);
  const index = hunkOf(report, uri, argument);
  const hunk = report.hunks[index];
  if (hunk === undefined) {
    throw new Halt("the revisions do not diverge at the cursor");
  }
  const there = textOf(uri, hunk);
  const items = hunk.variants.map(({ ids, text }, variant) => ({
    variant,
    label: ids.map((id) => message(id, 40)).join(", "),
    description: `${ids.length} of ${report.revisions.length}${text === there ? " · as it is now" : ""}`,
    detail: text === "" ? "(deletes these lines)" : message(text.trim(), 160),
  }));
  const title = `Variants here (ES ${score(hunk.es)}): choose one to apply`;
  const chosen = await vscode.window.showQuickPick(items, { title, matchOnDetail: true });
  if (chosen === undefined) {
    return false;
  }
  return apply(parts, uri, report, version, index, chosen.variant);
}

/** Show a hunk in its document. */
export async function revealHunk(parts: Parts, argument?: unknown): Promise<void> {
  const node = argument as HunkNode;
  const editor = await show(documentOf(parts, node));
  const { start, end } = node.range;
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  editor.selection = new vscode.Selection(range.start, range.start);
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

async function apply(
  parts: Parts,
  uri: vscode.Uri,
  report: ReportResult,
  version: number,
  index: number,
  variant: number,
): Promise<boolean> {
  const params = { uri: uri.toString(), hunk: index, variant, version, state: report.state };
  const result = await parts.supervisor.request("excise/applyVariant", params);
  return told(result, "Applied to this hunk");
}

/** The report of the document as it is open, which it is afterwards. */
async function target(parts: Parts, uri: vscode.Uri): Promise<{ report: ReportResult; version: number }> {
  await writable(uri);
  await show(uri);
  const { report } = await reportOf(parts, uri);
  if (report.version === null) {
    throw new Halt("the server does not have this document; try again");
  }
  return { report, version: report.version };
}

async function writable(uri: vscode.Uri): Promise<void> {
  if (uri.scheme !== "file") {
    return;
  }
  const name = plain(uri.path.split("/").at(-1) ?? "");
  const found = await vscode.workspace.fs.stat(uri).then(
    (stat) => stat,
    () => undefined,
  );
  const locked = ((found?.permissions ?? 0) & vscode.FilePermission.Readonly) !== 0;
  if (locked || vscode.workspace.fs.isWritableFileSystem(uri.scheme) === false) {
    throw new Halt(`${name} is read-only: nothing was applied`);
  }
}

function told({ applied, reason }: ApplyResult, done: string): boolean {
  if (!applied) {
    throw new Halt(`not applied: ${reason === "" ? "the editor refused the edit" : reason}`);
  }
  vscode.window.setStatusBarMessage(`$(check) Excise: ${done}`, 4000);
  return applied;
}

function hunkOf(report: ReportResult, uri: vscode.Uri, argument: unknown): number {
  const given = (argument as { hunk?: unknown } | undefined)?.hunk;
  if (typeof given === "number") {
    return given;
  }
  const editor = vscode.window.activeTextEditor;
  const line = editor?.document.uri.toString() === uri.toString() ? editor.selection.active.line : -1;
  return report.hunks.findIndex(({ range: { start, end } }) => {
    const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
    return start.line <= line && line <= last;
  });
}

function textOf(uri: vscode.Uri, { range: { start, end } }: ReportHunk): string | undefined {
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  return opened(uri)?.getText(range).replace(/\r\n?/g, "\n");
}

function same(hunk: ReportHunk, range: ReportHunk["range"] | undefined): boolean {
  return JSON.stringify(hunk.range) === JSON.stringify(range);
}
