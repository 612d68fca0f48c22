// What is done about candidates beside taking them: looking anew, setting aside, bases, folders.
import * as vscode from "vscode";
import { message, plain } from "../text";
import { candidateOf, found, given, selected } from "./candidate";
import { Halt, type Parts } from "./context";

/** The entry: show the view, and look at the repository. */
export async function reviewCandidates(parts: Parts): Promise<void> {
  parts.candidates.look();
  await vscode.commands.executeCommand("excise.candidates.focus");
  await parts.supervisor.ensure();
  parts.candidates.now();
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

async function idsOf(parts: Parts, argument: unknown, selection: unknown, title: string): Promise<string[]> {
  const ids = selected(argument, selection);
  return ids.length > 0 ? ids : [(await candidateOf(parts, undefined, title)).work.id];
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
