// From hunk to hunk: the hunk editor, and the next one that is not decided.
import * as vscode from "vscode";
import { type Parts, Halt, documentOf, show } from "./context";
import { hunkAt, reviewed } from "./review";

/** Open the hunk editor of a document, at a hunk if one is named. */
export async function openHunks(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  await show(uri);
  const review = await reviewed(parts, uri);
  const index = hunkAt(review, uri, argument);
  parts.hunkEditors.open(parts, uri, review.hunks[index] ?? review.hunks[review.next ?? 0]);
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
  const { start, end } = hunk.range;
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
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
  const open = review.hunks.flatMap(({ decided }, at) => (decided ? [] : [at]));
  if (open.length === 0) {
    throw new Halt("every hunk of this file is decided");
  }
  const editor = await show(uri);
  const { line } = editor.selection.active;
  const after = (at: number): boolean => (review.hunks[at]?.range.start.line ?? 0) > line;
  const before = (at: number): boolean => (review.hunks[at]?.range.start.line ?? 0) < line;
  const hunk = by === 1 ? (open.find(after) ?? open[0]) : (open.findLast(before) ?? open.at(-1));
  await revealHunk(parts, { uri: uri.toString(), hunk });
}
