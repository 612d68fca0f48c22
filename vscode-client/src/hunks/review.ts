// The review of a document: find a hunk in it, and decide it.
import * as vscode from "vscode";
import { DOCUMENTS, documentOf, nameOf, opened, rangeOf } from "../documents";
import { namesOf } from "../candidates/tree";
import type { Parts } from "../parts";
import type { ApplyResult, ReviewHunk, ReviewResult } from "../protocol";
import { unlessBroken } from "../take";
import { Halt, message, plain } from "../text";
import { changing, hunkKey } from "./page";

/** Variants with a link each in a hover. The hunk editor has all. */
const MOST_LINKS = 8;

export type Open = ReviewResult & { readonly version: number };

/** The review of a document that has one, and is open afterwards. */
export async function reviewed(parts: Parts, uri: vscode.Uri): Promise<Open> {
  if (opened(uri) === undefined) {
    await vscode.workspace.openTextDocument(uri);
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

/** The hunk that a command names, or the one under the cursor, if there is one. */
export async function hunkOf(parts: Parts, argument: unknown): Promise<{ uri: vscode.Uri; review: Open; index: number; hunk: ReviewHunk | undefined }> {
  const uri = documentOf(parts, argument);
  const review = await reviewed(parts, uri);
  const { hunk: number, key } = (argument ?? {}) as { hunk?: unknown; key?: unknown };
  const editor = vscode.window.activeTextEditor;
  const line = editor?.document.uri.toString() === uri.toString() ? editor.selection.active.line : -1;
  const named = typeof number === "number" ? number : hunkOfLine(review, line);
  const index = typeof key === "string" ? review.hunks.findIndex((entry) => hunkKey(entry) === key) : named;
  return { uri, review, index, hunk: review.hunks[index] };
}

/** The hunk that a line (from 0) is part of; -1: none. */
function hunkOfLine(review: ReviewResult, line: number): number {
  return review.hunks.findIndex(({ range: { start, end } }) => {
    const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
    return start.line <= line && line <= last;
  });
}

/** Have a hunk say what a variant says, with all that belongs with it or alone; or the origin (null), which is then decided on purpose. */
export async function decide(parts: Parts, uri: vscode.Uri, review: Open, index: number, variant: number | null, alone = false): Promise<void> {
  await writable(uri);
  const hunk = review.hunks[index];
  if (hunk === undefined) {
    throw new Halt("this hunk is not there any more");
  }
  if (variant !== null) {
    const params = { uri: uri.toString(), hunk: index, variant, version: review.version, state: review.state, split: alone };
    await applied((anyway) => parts.supervisor.request("excise/apply", { ...params, anyway }));
    parts.reviews.forget(uri);
    return;
  }
  if (hunk.decision !== "origin") {
    await replace(uri, review, [{ hunk, text: hunk.text }], "Keep the origin");
  }
  await keep(parts, uri, hunk, true);
}

/** Have the server apply something, asking the user about what it would break. */
export async function applied(apply: (anyway: boolean) => Promise<ApplyResult>): Promise<void> {
  const { applied: done, reason, checked } = await unlessBroken(apply);
  if (!done) {
    throw new Halt(`not taken: ${reason === "" ? "the editor refused the edit" : reason}`);
  }
  if (checked !== "") {
    vscode.window.setStatusBarMessage(`$(check) Excise: ${message(checked, 120)}`, 6000);
  }
}

/** Record that a hunk keeps the origin's text, or undo that. */
export async function keep(parts: Parts, uri: vscode.Uri, hunk: ReviewHunk, decided: boolean): Promise<void> {
  const { hunks, version, state } = await reviewed(parts, uri);
  const index = hunks.findIndex((entry) => hunkKey(entry) === hunkKey(hunk));
  await parts.supervisor.request("excise/decide", { uri: uri.toString(), hunk: index, version, state, decided });
  parts.reviews.forget(uri);
}

/** Put texts into hunks in one edit, of exactly the version that was reviewed. */
export async function replace(uri: vscode.Uri, review: Open, texts: readonly { readonly hunk: ReviewHunk; readonly text: string }[], label: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  texts.forEach(({ hunk, text }) => edit.replace(uri, rangeOf(hunk.range), text, { label, needsConfirmation: false }));
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

/** Links below the server's hover that take a variant. They are ours, so that its Markdown stays untrusted. */
export function takeLinks(parts: Parts): vscode.Disposable {
  return vscode.languages.registerHoverProvider(DOCUMENTS, {
    provideHover: async ({ uri }, { line }) => {
      const { result: review } = await parts.reviews.get(uri);
      const index = review === undefined ? -1 : hunkOfLine(review, line);
      const hunk = review?.hunks[index];
      if (review === undefined || hunk === undefined) {
        return undefined;
      }
      const names = await namesOf(parts, uri);
      const target = { uri: uri.toString(), hunk: index, state: review.state };
      const text = new vscode.MarkdownString();
      text.isTrusted = { enabledCommands: ["excise.takeVariant", "excise.openHunks"] };
      const link = (name: string, command: string, argument: object): void => {
        text.appendMarkdown(`[${name}](command:${command}?${encodeURIComponent(JSON.stringify([argument]))})`);
      };
      for (const variant of changing(hunk).slice(0, MOST_LINKS)) {
        const ids = hunk.variants[variant]?.ids ?? [];
        link("Take", "excise.takeVariant", { ...target, variant });
        // Names are somebody's words: text, whatever they hold.
        text.appendText(` ${ids.map((id) => plain(names.get(id) ?? id, 40)).join(", ")}`);
        text.appendMarkdown("  \n");
      }
      link("Keep the origin", "excise.takeVariant", { ...target, variant: null });
      text.appendMarkdown(" · ");
      link("Open in the hunk editor", "excise.openHunks", target);
      return new vscode.Hover(text);
    },
  });
}
