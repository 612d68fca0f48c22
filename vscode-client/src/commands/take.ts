// Taking a candidate, a file of it, or one variant of a hunk. One undo takes each of them back.
import * as vscode from "vscode";
import { documentOf } from "../documents";
import { applied, decide, hunkAt, reviewed, writable } from "../hunks/review";
import { hunkWords, variantWords } from "../hunks/words";
import { namesOf } from "../names";
import type { Parts } from "../parts";
import type { ReviewHunk } from "../protocol";
import { takeChoices } from "../take/apply";
import { Halt, message, plain } from "../text";
import { candidateOf, choice, confirmed, given, revisionOf } from "./choose";

/** All that a candidate changes; of one that is known for a document only, what it makes of that. */
export async function takeCandidate(parts: Parts, argument?: unknown): Promise<boolean> {
  if (typeof given(argument).uri === "string") {
    return takeRevision(parts, argument);
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
  await confirmed(question, "Your branch's lines there are replaced. One undo takes it back.", "Take Its Lines");
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
  await applied((anyway) => parts.supervisor.request("excise/applyRevision", { ...params, anyway }));
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
  // A link names the variant, and null is the origin.
  const { variant, state } = (argument ?? {}) as { variant?: unknown; state?: unknown };
  const named = variant === null || typeof variant === "number";
  if (named && state !== review.state) {
    throw new Halt("the candidates have changed meanwhile; look at the hunk again");
  }
  await decide(parts, uri, review, index, named ? variant : await variantOf(hunk, parts, uri));
  return true;
}

async function variantOf(hunk: ReviewHunk, parts: Parts, uri: vscode.Uri): Promise<number | null> {
  const names = await namesOf(parts, uri);
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
  return (await choice(items, title)).variant;
}
