// Applying: a whole revision, or what it has in one region. The server makes the edit, of exactly
// the version that the user saw; one undo takes it back.
import * as vscode from "vscode";
import type { ApplyResult, ReportRegion, ReportResult } from "../lsp_ext";
import type { RegionNode } from "../model";
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

/** What a revision has in a region of the view; without one, a choice at the cursor. */
export async function applyRegion(parts: Parts, argument?: unknown): Promise<boolean> {
  const node = argument as Partial<RegionNode> | undefined;
  if (node?.kind !== "region" || node.place === undefined || node.revision === undefined) {
    return chooseVariant(parts, argument);
  }
  const uri = documentOf(parts, node);
  const { report, version } = await target(parts, uri);
  // The view may be older than the report: the region is the one that is still at these lines.
  const place = report.regions.findIndex((region) => same(region, node.range));
  const variant = report.regions[place]?.variants.findIndex(({ ids }) => ids.includes(node.revision ?? ""));
  if (place < 0 || variant === undefined || variant < 0) {
    throw new Halt("the document has changed since; look at the view again");
  }
  return apply(parts, uri, report, version, place, variant);
}

/** Choose among the variants of a place: that of a lens, or the one under the cursor. */
export async function chooseVariant(parts: Parts, argument?: unknown): Promise<boolean> {
  const uri = documentOf(parts, argument);
  const { report, version } = await target(parts, uri);
  const place = placeOf(report, uri, argument);
  const region = report.regions[place];
  if (region === undefined) {
    throw new Halt("the revisions do not diverge at the cursor");
  }
  const there = textOf(uri, region);
  const items = region.variants.map(({ ids, text }, variant) => ({
    variant,
    label: ids.map((id) => message(id, 40)).join(", "),
    description: `${ids.length} of ${report.revisions.length}${text === there ? " · as it is now" : ""}`,
    detail: text === "" ? "(deletes these lines)" : message(text.trim(), 160),
  }));
  const title = `Variants here (ES ${score(region.es)}): choose one to apply`;
  const chosen = await vscode.window.showQuickPick(items, { title, matchOnDetail: true });
  if (chosen === undefined) {
    return false;
  }
  return apply(parts, uri, report, version, place, chosen.variant);
}

/** Show a region in its document. */
export async function revealRegion(parts: Parts, argument?: unknown): Promise<void> {
  const node = argument as RegionNode;
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
  place: number,
  variant: number,
): Promise<boolean> {
  const params = { uri: uri.toString(), place, variant, version, state: report.state };
  const result = await parts.supervisor.request("excise/applyVariant", params);
  return told(result, "Applied to this region");
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

function placeOf(report: ReportResult, uri: vscode.Uri, argument: unknown): number {
  const given = (argument as { place?: unknown } | undefined)?.place;
  if (typeof given === "number") {
    return given;
  }
  const editor = vscode.window.activeTextEditor;
  const line = editor?.document.uri.toString() === uri.toString() ? editor.selection.active.line : -1;
  return report.regions.findIndex(({ range: { start, end } }) => {
    const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
    return start.line <= line && line <= last;
  });
}

function textOf(uri: vscode.Uri, { range: { start, end } }: ReportRegion): string | undefined {
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  return opened(uri)?.getText(range).replace(/\r\n?/g, "\n");
}

function same(region: ReportRegion, range: ReportRegion["range"] | undefined): boolean {
  return JSON.stringify(region.range) === JSON.stringify(range);
}
