// Taking a candidate, a file of it, or one variant of a hunk. One undo takes each of them back.
import * as vscode from "vscode";
import type { ReviewHunk } from "../protocol";
import { hunkWords, variantWords } from "../hunks/words";
import { takeChoices, unlessBroken } from "../take/apply";
import { message, plain } from "../text";
import { candidateOf, given } from "./candidate";
import { revisionOf } from "./compare";
import { Halt, type Parts, documentOf } from "./context";
import { decide, hunkAt, reviewed, writable } from "./review";

/** All that a candidate changes; of one that is known for a document only, what it makes of that. */
export async function takeCandidate(parts: Parts, argument?: unknown): Promise<boolean> {
  const { uri, candidate } = given(argument);
  if (typeof uri === "string") {
    return takeRevision(parts, { uri, revision: candidate });
  }
  const { folder, work } = await candidateOf(parts, argument, "Take a whole candidate");
  const conflicts = await agreed(work.label, work.conflicts.map(({ path }) => path));
  await takeChoices(parts, folder, [{ candidate: work.id, conflicts }], `Take ${work.label}`);
  return true;
}

/** One file of a candidate, as a whole: created, deleted, renamed or edited. */
export async function takeFile(parts: Parts, argument?: unknown): Promise<boolean> {
  const { path } = given(argument);
  if (path === undefined) {
    return takeCandidate(parts, argument);
  }
  const { folder, work } = await candidateOf(parts, argument, "Take a file");
  const conflicts = await agreed(work.label, work.conflicts.flatMap((conflict) => (conflict.path === path ? [path] : [])));
  await takeChoices(parts, folder, [{ candidate: work.id, path, conflicts }], `Take ${path} of ${work.label}`);
  return true;
}

/** Whether the candidate's lines are wanted where the target changed them too. */
async function agreed(label: string, paths: readonly string[]): Promise<boolean> {
  if (paths.length === 0) {
    return false;
  }
  const files = paths.map((path) => plain(path, 60)).join(", ");
  const question = `${message(label, 60)} and your branch changed the same lines in ${message(files)}.`;
  const yes = "Take Its Lines";
  const detail = "Your branch's lines there are replaced. One undo takes it back.";
  if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) !== yes) {
    throw new vscode.CancellationError();
  }
  return true;
}

/** What the row of the view stands for that has the keyboard's focus. */
export async function takeSelected(parts: Parts): Promise<boolean> {
  const node = await parts.view.focused();
  if (node?.kind === "file") {
    return takeFile(parts, node);
  }
  if (node?.kind === "candidate" || node?.kind === "group") {
    return takeCandidate(parts, node);
  }
  throw new Halt("choose a candidate, a group or a file in the view first");
}

/** What a revision makes of one document. */
async function takeRevision(parts: Parts, argument: unknown): Promise<boolean> {
  const { uri, id } = await revisionOf(parts, argument, "Take a candidate");
  await writable(uri);
  const review = await reviewed(parts, uri);
  const params = { uri: uri.toString(), id, version: review.version, state: review.state };
  const { applied, reason } = await unlessBroken((anyway) =>
    parts.supervisor.request("excise/applyRevision", { ...params, anyway }),
  );
  if (!applied) {
    throw new Halt(`not taken: ${reason === "" ? "the editor refused the edit" : reason}`);
  }
  vscode.window.setStatusBarMessage(`$(check) Excise: took ${message(id, 60)}`, 4000);
  return true;
}

/** Take the variant that a link names, or let the user choose one: of a lens, of the view, or under the cursor. */
export async function takeVariant(parts: Parts, argument?: unknown): Promise<boolean> {
  const uri = documentOf(parts, argument);
  const review = await reviewed(parts, uri);
  const index = hunkAt(review, uri, argument);
  const hunk = review.hunks[index];
  if (hunk === undefined) {
    throw new Halt("no candidate changes the lines at the cursor");
  }
  const named = namedVariant(argument, review.state);
  const chosen = named === undefined ? await variantOf(hunk, parts, uri) : named;
  await decide(parts, uri, review, index, chosen);
  return true;
}

/** The variant of a link; null is the origin, undefined: it names none. */
function namedVariant(argument: unknown, now: number): number | null | undefined {
  const { variant, state } = (argument ?? {}) as { variant?: unknown; state?: unknown };
  if (variant !== null && typeof variant !== "number") {
    return undefined;
  }
  if (state !== now) {
    throw new Halt("the candidates have changed meanwhile; look at the hunk again");
  }
  return variant;
}

async function variantOf(hunk: ReviewHunk, parts: Parts, uri: vscode.Uri): Promise<number | null> {
  const names = await parts.reviews.names(uri);
  const items = [
    ...hunk.variants.map(({ ids, text }, variant) => ({
      variant,
      label: message(ids.map((id) => names.get(id) ?? id).join(", "), 120),
      description: `${variantWords(hunk, variant)}${hunk.variant === variant ? " · as it is now" : ""}`,
      detail: text === "" ? "(deletes these lines)" : message(text.trim(), 160),
    })),
    { variant: null, label: "Keep the origin", description: hunk.decision === "origin" ? "as it is now" : "", detail: message(hunk.text.trim(), 160) },
  ].filter(({ variant }) => variant === null || hunk.variants[variant]?.text !== hunk.text);
  const title = `${hunkWords(hunk)}: choose what to take`;
  const chosen = await vscode.window.showQuickPick(items, { title, matchOnDetail: true });
  if (chosen === undefined) {
    throw new vscode.CancellationError();
  }
  return chosen.variant;
}
