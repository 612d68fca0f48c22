// The review of a document: find a hunk in it, and decide it.
import * as vscode from "vscode";
import { nameOf, opened, rangeOf, show } from "../documents";
import type { Parts } from "../parts";
import type { ApplyResult, ReviewHunk, ReviewResult } from "../protocol";
import { unlessBroken } from "../take/apply";
import { Halt, plain } from "../text";
import { hunkKey } from "./page";

export type Open = ReviewResult & { readonly version: number };

/** The review of a document that has one, and is open afterwards. */
export async function reviewed(parts: Parts, uri: vscode.Uri): Promise<Open> {
  if (opened(uri) === undefined) {
    await show(uri);
  }
  const { result: review, problem } = await parts.reviews.fresh(uri);
  if (review === undefined || review.hunks.length === 0) {
    throw new Halt(problem === "" ? `no candidate changes ${plain(nameOf(uri))}` : problem);
  }
  if (review.version === null) {
    throw new Halt("the server does not have this document; try again");
  }
  return { ...review, version: review.version };
}

/** The hunk that a command names, or the one under the cursor, or -1. */
export function hunkAt(review: ReviewResult, uri: vscode.Uri, argument: unknown): number {
  const { hunk, key } = (argument ?? {}) as { hunk?: unknown; key?: unknown };
  if (typeof key === "string") {
    return review.hunks.findIndex((entry) => hunkKey(entry) === key);
  }
  if (typeof hunk === "number") {
    return hunk;
  }
  const editor = vscode.window.activeTextEditor;
  const line = editor?.document.uri.toString() === uri.toString() ? editor.selection.active.line : -1;
  return hunkOfLine(review, line);
}

/** The hunk that a line (from 0) is part of; -1: none. */
export function hunkOfLine(review: ReviewResult, line: number): number {
  return review.hunks.findIndex(({ range: { start, end } }) => {
    const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
    return start.line <= line && line <= last;
  });
}

/** Have a hunk say what a variant says, or the origin (null), which is then decided on purpose. */
export async function decide(parts: Parts, uri: vscode.Uri, review: Open, index: number, variant: number | null): Promise<void> {
  await writable(uri);
  const hunk = review.hunks[index];
  if (hunk === undefined) {
    throw new Halt("this hunk is not there any more");
  }
  const params = { uri: uri.toString(), hunk: index, version: review.version, state: review.state };
  if (variant !== null) {
    await applied((anyway) => parts.supervisor.request("excise/applyVariant", { ...params, variant, anyway }));
    parts.reviews.forget(uri);
    return;
  }
  if (hunk.decision !== "origin") {
    await replace(uri, review, hunk, hunk.text, "Keep the origin");
  }
  await keep(parts, uri, hunk, true);
}

/** Have the server apply something, asking the user about what it would break. */
export async function applied(apply: (anyway: boolean) => Promise<ApplyResult>): Promise<void> {
  const { applied: done, reason } = await unlessBroken(apply);
  if (!done) {
    throw new Halt(`not taken: ${reason === "" ? "the editor refused the edit" : reason}`);
  }
}

/** Record that a hunk keeps the origin's text, or undo that. */
export async function keep(parts: Parts, uri: vscode.Uri, hunk: ReviewHunk, decided: boolean): Promise<void> {
  const now = await reviewed(parts, uri);
  const index = now.hunks.findIndex((entry) => hunkKey(entry) === hunkKey(hunk));
  const params = { uri: uri.toString(), hunk: index, version: now.version, state: now.state, decided };
  await parts.supervisor.request("excise/decide", params);
  parts.reviews.forget(uri);
}

/** Put a text into a hunk, of exactly the version that was reviewed. */
export async function replace(uri: vscode.Uri, review: Open, hunk: ReviewHunk, text: string, label: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.replace(uri, rangeOf(hunk.range), text, { label, needsConfirmation: false });
  if (opened(uri)?.version !== review.version || !(await vscode.workspace.applyEdit(edit))) {
    throw new Halt("the document has changed meanwhile; try again");
  }
}

export async function writable(uri: vscode.Uri): Promise<void> {
  if (uri.scheme !== "file") {
    return;
  }
  const stat = await Promise.resolve(vscode.workspace.fs.stat(uri)).catch(() => undefined);
  const locked = ((stat?.permissions ?? 0) & vscode.FilePermission.Readonly) !== 0;
  if (locked || vscode.workspace.fs.isWritableFileSystem(uri.scheme) === false) {
    throw new Halt(`${plain(nameOf(uri))} is read-only: nothing was changed`);
  }
}
