// What is done about whole candidates beside taking them: looking, comparing, setting aside, bases, folders.
import * as vscode from "vscode";
import type { Parts } from "../parts";
import { type Content, putTogether } from "../take/apply";
import { Halt, message, plain } from "../text";
import { candidateOf, found, given, pick, revisionOf, selected } from "./choose";
import { openHunks } from "./hunks";

type Resource = [vscode.Uri, vscode.Uri | undefined, vscode.Uri | undefined];

/** The entry: show the view, and look at the repository. */
export async function reviewCandidates(parts: Parts): Promise<void> {
  parts.candidates.look();
  await vscode.commands.executeCommand("excise.candidates.focus");
  await refreshCandidates(parts);
}

export async function refreshCandidates(parts: Parts): Promise<void> {
  await parts.supervisor.ensure();
  parts.candidates.look();
  parts.candidates.now();
}

export async function hideCandidate(parts: Parts, argument?: unknown, selection?: unknown): Promise<void> {
  const ids = await idsOf(parts, argument, selection, "Hide a candidate");
  await parts.supervisor.request("excise/hide", { ids });
  parts.candidates.now();
}

export async function rejectCandidate(parts: Parts, argument?: unknown, selection?: unknown): Promise<void> {
  const ids = await idsOf(parts, argument, selection, "Reject a candidate");
  await parts.supervisor.request("excise/reject", { ids });
  parts.candidates.now();
}

async function idsOf(parts: Parts, argument: unknown, selection: unknown, title: string): Promise<string[]> {
  const ids = selected(argument, selection);
  return ids.length > 0 ? ids : [(await candidateOf(parts, undefined, title)).work.id];
}

/** Show again what was hidden or rejected. */
export async function restoreCandidate(parts: Parts, argument?: unknown): Promise<void> {
  const { candidate } = given(argument);
  const ids = candidate === undefined ? await pickAside(parts) : [candidate];
  await parts.supervisor.request("excise/hide", { ids, hidden: false });
  await parts.supervisor.request("excise/reject", { ids, rejected: false });
  parts.candidates.now();
}

async function pickAside(parts: Parts): Promise<string[]> {
  const { result } = await found(parts);
  if (result.set_aside.length === 0) {
    throw new Halt("no candidate was set aside");
  }
  const items = result.set_aside.map(({ id, label, state }) => ({ id, label: message(label, 60), description: state }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Show candidates again", canPickMany: true });
  return (chosen ?? []).map(({ id }) => id);
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
  const params = { uri: folder.toString(), id: work.id, base: base.trim() === "" ? null : base.trim() };
  await parts.supervisor.request("excise/setBase", params);
  parts.candidates.now();
}

/** Open the folder of a worktree in a window of its own. */
export async function openFolder(parts: Parts, argument?: unknown): Promise<void> {
  const { work } = await candidateOf(parts, argument, "Open the folder of a candidate");
  if (work.folder === null) {
    throw new Halt(`${message(work.label, 60)} has no folder: it is a ${message(work.kind, 20)}`);
  }
  const base = parts.current.uri ?? parts.candidates.folder;
  const uri = (base ?? vscode.Uri.file("/")).with({ path: vscode.Uri.file(work.folder).path, query: "", fragment: "" });
  await vscode.commands.executeCommand("vscode.openFolder", uri, { forceNewWindow: true });
}

/** Every file of a candidate beside the origin's, in one editor; of a revision, its document. */
export async function showCandidate(parts: Parts, argument?: unknown): Promise<void> {
  if (typeof given(argument).uri === "string") {
    const { uri, id } = await revisionOf(parts, argument, "Compare with the origin");
    const { changes } = await parts.supervisor.request("excise/compare", { uri: uri.toString(), ids: [id] });
    const [change] = changes;
    if (change === undefined) {
      throw new Halt("this revision is gone");
    }
    const [original, modified] = [vscode.Uri.parse(change.original), vscode.Uri.parse(change.modified)];
    await vscode.commands.executeCommand("vscode.diff", original, modified, plain(change.label, 120));
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
  const chosen = result.ranking.filter(({ id }) => ids.includes(id)).slice(0, 2);
  const first = chosen[0] ?? (await pick(result.ranking, "Compare two candidates: the first"));
  const others = result.ranking.filter(({ id }) => id !== first.id);
  const second = chosen[1] ?? (await pick(others, `Compare ${plain(first.label, 60)} with`));
  const [a = [], b = []] = await Promise.all([first, second].map(({ id }) => contentsOf(parts, folder, id)));
  const [left, right] = [a, b].map((contents) => new Map(contents.map((content) => [content.old_path, content])));
  const [leftSide, rightSide] = [sides(parts, folder, first.id), sides(parts, folder, second.id)];
  const paths = [...new Set([...a, ...b].map(({ old_path }) => old_path))].sort();
  const resources = paths.flatMap((path): Resource[] => {
    const [one, other] = [left?.get(path), right?.get(path)];
    const content = one ?? other;
    if (content === undefined || (one !== undefined && one.new === other?.new)) {
      return [];
    }
    // What a candidate does not change is the origin's, of which the other candidate tells.
    const shown = one === undefined ? rightSide(content, "old") : leftSide(one, "new");
    const beside = other === undefined ? leftSide(content, "old") : rightSide(other, "new");
    return [[vscode.Uri.parse(content.uri), shown, beside]];
  });
  if (resources.length === 0) {
    throw new Halt(`${message(first.label, 60)} and ${message(second.label, 60)} make the same of every file`);
  }
  const title = `${plain(first.label, 60)} ↔ ${plain(second.label, 60)}`;
  await vscode.commands.executeCommand("vscode.changes", title, resources);
}

/** Open a file of a candidate: where it is reviewed by hunks, those; else as it is before and after. */
export async function openFile(parts: Parts, argument?: unknown): Promise<void> {
  const { path, candidate, status, file } = given(argument);
  if (status === "M" && file !== undefined) {
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

async function contentsOf(parts: Parts, folder: vscode.Uri, candidate: string, path?: string): Promise<readonly Content[]> {
  const choice = { candidate, conflicts: true, path: path ?? null };
  return (await putTogether(parts.supervisor, folder, [choice])).contents;
}

/** How to show a file of a candidate before or after its change, or nothing where it is not there. */
function sides(parts: Parts, folder: vscode.Uri, id: string): (content: Content, side: "old" | "new") => vscode.Uri | undefined {
  return (content, side) => (content[side] === null ? undefined : parts.contents.put(folder, id, content, side));
}
