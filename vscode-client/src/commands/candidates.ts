// What is done about whole candidates: looking, comparing, taking (one undo takes it back), hiding, bases.
import * as vscode from "vscode";
import type { Node } from "../candidates/tree";
import { applied, reviewed, writable } from "../hunks/review";
import type { Parts } from "../parts";
import { type Content, decideRest, putTogether, takeChoices } from "../take";
import { Halt, message, plain } from "../text";
import { candidateOf, confirmed, found, given, pick, revisionOf, selected } from "./choose";
import { openHunks } from "./hunks";

type Resource = [vscode.Uri, vscode.Uri | undefined, vscode.Uri | undefined];

/** The entry: show the view, and look at the repository again. */
export async function reviewCandidates(parts: Parts): Promise<void> {
  parts.candidates.look();
  await vscode.commands.executeCommand("excise.candidates.focus");
  await parts.supervisor.ensure();
  parts.candidates.look();
  parts.candidates.now();
}

/**
 * Leave candidates out of everything, or show them again: those of the repository until they are shown again, one of a document alone
 * until it is found or added again. Without a row, the user picks those that are shown.
 */
export async function hideCandidate(parts: Parts, argument?: unknown, selection?: unknown): Promise<void> {
  const { uri: document, kind, candidate } = given(argument);
  if (typeof document === "string") {
    const { uri, id } = await revisionOf(parts, argument, "Hide a candidate");
    await parts.revisions.remove(uri, [id]);
    parts.reports.forget(uri);
    return;
  }
  const ids = selected(argument, selection);
  if (candidate !== undefined && (kind === "hidden" || kind === "rejected")) {
    await setAside(parts, [], [candidate]);
  } else if (ids.length > 0) {
    await setAside(parts, ids, []);
  } else {
    const { result } = await found(parts);
    const every = [...result.candidates.map((work) => ({ ...work, state: "" })), ...result.set_aside];
    const items = every.map(({ id, label, state }) => ({ id, label: message(label, 60), description: state, picked: state === "" }));
    const shown = await vscode.window.showQuickPick(items, { title: "Candidates to show", canPickMany: true });
    if (shown !== undefined) {
      const picked = ({ id }: { id: string }): boolean => shown.some((item) => item.id === id);
      await setAside(parts, items.filter((item) => item.picked && !picked(item)).map(({ id }) => id), items.filter((item) => !item.picked && picked(item)).map(({ id }) => id));
    }
  }
  parts.candidates.now();
}

/** Hide candidates, and show others again that were hidden, or rejected by another client. */
async function setAside({ supervisor }: Parts, hidden: readonly string[], shown: readonly string[]): Promise<void> {
  if (hidden.length > 0) {
    await supervisor.request("excise/setCandidates", { ids: hidden, state: "hidden" });
  }
  if (shown.length > 0) {
    await supervisor.request("excise/setCandidates", { ids: shown, state: "shown" });
  }
}

/** Say which commit a candidate started from, where what was found out is wrong. */
export async function setCandidateBase(parts: Parts, argument?: unknown): Promise<void> {
  const { folder, result, work } = await candidateOf(parts, argument, "Set the base of a candidate");
  const base = await vscode.window.showInputBox({
    title: `What did ${plain(work.label, 60)} start from?`,
    prompt: "A branch, tag or commit; empty: what Excise finds out",
    value: result.bases[work.id] ?? "",
  });
  if (base === undefined) {
    return;
  }
  await parts.supervisor.request("excise/setCandidates", { uri: folder.toString(), ids: [work.id], base: base.trim() });
  parts.candidates.now();
}

/** Every file of a candidate beside the origin's, in one editor; of a row that is one file or document, that. */
export async function showCandidate(parts: Parts, argument?: unknown): Promise<void> {
  if (given(argument).kind === "since") {
    const { folder, work } = await candidateOf(parts, argument, "What changed since you looked");
    const { page } = await parts.supervisor.request("excise/since", { uri: folder.toString(), new: work.id });
    await parts.contents.show(`Since you looked at ${plain(work.label, 60).replaceAll("/", "-")}`, page, "diff");
    return;
  }
  if (given(argument).path !== undefined) {
    await showFile(parts, given(argument));
    return;
  }
  if (typeof given(argument).uri === "string") {
    const { uri, id } = await revisionOf(parts, argument, "Compare with the origin");
    const { result: review } = await parts.reviews.fresh(uri);
    const own = review?.candidates.find((candidate) => candidate.id === id);
    if (review === undefined || own === undefined) {
      throw new Halt("this candidate is gone");
    }
    const [original, modified] = [vscode.Uri.parse(review.originUri), vscode.Uri.parse(own.uri)];
    await vscode.commands.executeCommand("vscode.diff", original, modified, `origin ↔ ${plain(own.name, 100)}`);
    return;
  }
  const { folder, work } = await candidateOf(parts, argument, "Show a whole candidate");
  const contents = await contentsOf(parts, folder, work.id);
  if (contents.length === 0) {
    throw new Halt(`${message(work.label, 60)} changes nothing that the target lacks`);
  }
  const side = sides(parts, folder, work.id);
  const resources = contents.map((content): Resource => [vscode.Uri.parse(content.uri), side(content, "old"), side(content, "new")]);
  await vscode.commands.executeCommand("vscode.changes", `${plain(work.label, 80)}: what it changes`, resources);
}

/** The files of two candidates beside each other: what one changes and the other does not, too. */
export async function compareCandidates(parts: Parts, argument?: unknown, selection?: unknown): Promise<void> {
  const { folder, result } = await found(parts);
  const ids = selected(argument, selection);
  const chosen = result.candidates.filter(({ id }) => ids.includes(id)).slice(0, 2);
  const first = chosen[0] ?? (await pick(result.candidates, "Compare two candidates: the first"));
  const others = result.candidates.filter(({ id }) => id !== first.id);
  const second = chosen[1] ?? (await pick(others, `Compare ${plain(first.label, 60)} with`));
  const [firstSide, secondSide] = [sides(parts, folder, first.id), sides(parts, folder, second.id)];
  const both = new Map<string, [Content | undefined, Content | undefined]>();
  for (const content of await contentsOf(parts, folder, first.id)) {
    both.set(content.old_path, [content, undefined]);
  }
  for (const content of await contentsOf(parts, folder, second.id)) {
    both.set(content.old_path, [both.get(content.old_path)?.[0], content]);
  }
  const resources = [...both].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, [one, other]]): Resource[] => {
    const content = one ?? other;
    if (content === undefined || (one !== undefined && one.new === other?.new)) {
      return [];
    }
    // What a candidate does not change is the origin's, of which the other candidate tells.
    const shown = one === undefined ? secondSide(content, "old") : firstSide(one, "new");
    const beside = other === undefined ? firstSide(content, "old") : secondSide(other, "new");
    return [[vscode.Uri.parse(content.uri), shown, beside]];
  });
  if (resources.length === 0) {
    throw new Halt(`${message(first.label, 60)} and ${message(second.label, 60)} make the same of every file`);
  }
  await vscode.commands.executeCommand("vscode.changes", `${plain(first.label, 60)} ↔ ${plain(second.label, 60)}`, resources);
}

/** A file of a candidate: where it is reviewed by hunks, those; else as it is before and after. */
async function showFile(parts: Parts, { path, candidate, status, file }: Partial<Node>): Promise<void> {
  if (status === "modified" && file !== undefined) {
    await openHunks(parts, vscode.Uri.file(file));
    return;
  }
  const { folder, work } = await candidateOf(parts, { candidate }, "Open a file of a candidate");
  const [content] = await contentsOf(parts, folder, work.id, path);
  if (content === undefined) {
    throw new Halt("the target has this file so already");
  }
  const label = `${plain(work.label, 60)}: ${plain(content.path, 80)}`;
  const [before, after] = (["old", "new"] as const).map((side) => parts.contents.put(folder, work.id, content, side));
  await vscode.commands.executeCommand("vscode.diff", before, after, label);
}

/**
 * Take what a row of the view stands for: a candidate or its share of a document, or one file of it, created, deleted, renamed or
 * edited. "focused" is the row that has the keyboard's focus; without an argument the user picks a candidate.
 */
export async function takeCandidate(parts: Parts, argument?: unknown): Promise<boolean> {
  const node = argument === "focused" ? await parts.view.focused() : given(argument);
  if (argument === "focused" && !(node?.kind === "file" || node?.kind === "candidate" || node?.kind === "group")) {
    throw new Halt("choose a candidate, a group or a file in the view first");
  }
  return typeof node?.uri === "string" ? takeRevision(parts, node) : takeFiles(parts, node, node?.path);
}

async function takeFiles(parts: Parts, argument: unknown, path?: string): Promise<boolean> {
  const { folder, work } = await candidateOf(parts, argument, "Take a whole candidate");
  const conflicts = work.conflicts.map((conflict) => conflict.path).filter((file) => path === undefined || file === path);
  if (conflicts.length > 0) {
    const question = `${message(work.label, 60)} and your branch changed the same lines in ${message(conflicts.map((file) => plain(file, 60)).join(", "))}.`;
    await confirmed(question, "The file gets git's conflict markers there, between which you choose. One undo takes it back.", "Take with Conflict Markers");
  }
  const choices = [{ candidate: work.id, path: path ?? null, conflicts: conflicts.length > 0 }];
  await takeChoices(parts, folder, choices, `Take ${path === undefined ? "" : `${path} of `}${work.label}`);
  return true;
}

/** What a revision makes of one document. */
async function takeRevision(parts: Parts, argument: unknown): Promise<boolean> {
  const { uri, id } = await revisionOf(parts, argument, "Take a candidate");
  await writable(uri);
  const { version, state } = await reviewed(parts, uri);
  await applied((anyway) => parts.supervisor.request("excise/apply", { uri: uri.toString(), id, version, state, anyway }));
  await decideRest(parts, uri, id, null);
  vscode.window.setStatusBarMessage(`$(check) Excise: took ${message(id, 60)}`, 4000);
  return true;
}

async function contentsOf(parts: Parts, folder: vscode.Uri, candidate: string, path?: string): Promise<readonly Content[]> {
  const choice = { candidate, conflicts: true, path: path ?? null };
  return (await putTogether(parts.supervisor, folder, [choice])).contents;
}

/** How to show a file of a candidate before or after its change, or nothing where it is not there. */
function sides(parts: Parts, folder: vscode.Uri, id: string): (content: Content, side: "old" | "new") => vscode.Uri | undefined {
  return (content, side) => (content[side] === null ? undefined : parts.contents.put(folder, id, content, side));
}
