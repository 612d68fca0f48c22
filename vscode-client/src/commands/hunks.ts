// The review of a document: the hunk editor, the next hunk that is not decided, and what all are compared with.
import * as vscode from "vscode";
import { joined } from "../candidates/words";
import { SECTION } from "../config";
import { documentOf, rangeOf, show } from "../documents";
import { hunkAt, reviewed } from "../hunks/review";
import type { Parts } from "../parts";
import { Halt } from "../text";

const ORIGINS: Record<string, string> = {
  saved: "the saved file",
  head: "the file at HEAD",
  index: "the file in the index",
};

/** Open the hunk editor of a document, at a hunk if one is named. */
export async function openHunks(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  await show(uri);
  const review = await reviewed(parts, uri);
  const index = hunkAt(review, uri, argument);
  parts.hunkEditors.open(uri, review.hunks[index] ?? review.hunks[review.next ?? 0]);
}

/** Put the cursor on a hunk. */
export async function revealHunk(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  const review = await reviewed(parts, uri);
  const hunk = review.hunks[hunkAt(review, uri, argument)];
  if (hunk === undefined) {
    throw new Halt("this hunk is not there any more");
  }
  const editor = await show(uri);
  const range = rangeOf(hunk.range);
  editor.selection = new vscode.Selection(range.start, range.start);
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

export function nextHunk(parts: Parts, argument?: unknown): Promise<void> {
  return step(parts, argument, 1);
}

export function previousHunk(parts: Parts, argument?: unknown): Promise<void> {
  return step(parts, argument, -1);
}

async function step(parts: Parts, argument: unknown, by: 1 | -1): Promise<void> {
  const uri = documentOf(parts, argument);
  const review = await reviewed(parts, uri);
  const open = review.hunks.flatMap(({ decided, range }, hunk) => (decided ? [] : [{ hunk, line: range.start.line }]));
  if (open.length === 0) {
    throw new Halt("every hunk of this file is decided");
  }
  const { line } = (await show(uri)).selection.active;
  const next = by === 1 ? (open.find((one) => one.line > line) ?? open[0]) : (open.findLast((one) => one.line < line) ?? open.at(-1));
  await revealHunk(parts, { uri: uri.toString(), hunk: next?.hunk });
}

/** Choose which text the revisions are compared with; what fits them better than the setting is marked. */
export async function chooseOrigin(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  await parts.supervisor.ensure();
  const offers = (await parts.sources.get(uri)).result?.offers ?? [];
  const section = vscode.workspace.getConfiguration(SECTION);
  const now = section.get("origin");
  const items = Object.entries(ORIGINS).map(([value, label]) => ({
    value,
    label,
    description: joined(value === now ? "as it is now" : "", offers.includes(value) ? "what the revisions were made from" : ""),
  }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Compare revisions with" });
  if (chosen !== undefined && chosen.value !== now) {
    const folders = vscode.workspace.workspaceFolders ?? [];
    await section.update("origin", chosen.value, folders.length === 0);
  }
}

/** The origin of a review stays through saving and commits; this lets it be what is saved now. */
export async function startReviewAgain(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  const { started } = await parts.supervisor.request("excise/startAgain", { uri: uri.toString() });
  if (!started) {
    throw new Halt("this file has no review that could start again");
  }
  parts.reports.forget(uri);
}
