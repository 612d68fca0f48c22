// Which candidate or revision a command is about: that of the view, or one that the user picks.
import * as vscode from "vscode";
import { type Node, joined, namesOf, revisionWords, sizeAndState } from "../candidates/tree";
import { documentOf, nameOf } from "../documents";
import type { Parts } from "../parts";
import type { CandidateEntry, CandidatesDocument } from "../protocol";
import { Halt, message } from "../text";

/** A candidate of a repository. */
export interface Chosen {
  readonly folder: vscode.Uri;
  readonly result: CandidatesDocument;
  readonly work: CandidateEntry;
}

/** What the view handed over: a candidate by its id, maybe of one document only, maybe one file of it. */
export function given(argument: unknown): Partial<Node> {
  return typeof argument === "object" && argument !== null && !(argument instanceof vscode.Uri) ? argument : {};
}

/** The ids of the candidates that the view handed over: all that are selected in it, or the one that was pointed at. */
export function selected(argument: unknown, selection: unknown): string[] {
  const nodes: unknown[] = Array.isArray(selection) && selection.length > 0 ? selection : [argument];
  return nodes.map(given).flatMap(({ candidate, kind }) => (candidate !== undefined && kind === "candidate" ? [candidate] : []));
}

/** The folder whose repository is meant. */
export function folderOf({ candidates }: Parts): vscode.Uri {
  if (candidates.folder === undefined) {
    throw new Halt("open the folder of a repository first");
  }
  return candidates.folder;
}

/** The candidates of the repository, or the reason why there are none. */
export async function found(parts: Parts): Promise<Omit<Chosen, "work">> {
  if (!vscode.workspace.isTrusted) {
    throw new Halt("whole candidates are read with git, which is not used in a workspace that is not trusted");
  }
  const shown = await parts.candidates.fresh();
  if (shown?.result === undefined) {
    throw new Halt(shown === undefined || shown.refusal === "" ? "open the folder of a repository first" : shown.refusal);
  }
  return { folder: shown.folder, result: shown.result };
}

export async function candidateOf(parts: Parts, argument: unknown, title: string): Promise<Chosen> {
  const { folder, result } = await found(parts);
  const wanted = given(argument).candidate;
  const work = wanted === undefined ? await pick(result.candidates, title) : result.candidates.find(({ id }) => id === wanted);
  if (work === undefined) {
    throw new Halt(`${message(wanted ?? "", 60)} is not there any more`);
  }
  return { folder, result, work };
}

export async function pick(works: readonly CandidateEntry[], title: string): Promise<CandidateEntry> {
  if (works.length === 0) {
    throw new Halt("no candidate changes anything");
  }
  const items = works.map((work) => ({
    work,
    label: message(work.label, 60),
    description: sizeAndState(work),
    detail: work.branch === null ? "" : message(work.branch, 80),
  }));
  return (await choice(items, title)).work;
}

/** The revision of a document that a command is about: that of the view, or one that the user picks. */
export async function revisionOf(parts: Parts, argument: unknown, title: string): Promise<{ uri: vscode.Uri; id: string }> {
  const uri = documentOf(parts, argument);
  const { candidate } = given(argument);
  if (typeof candidate === "string") {
    return { uri, id: candidate };
  }
  const { result, problem } = await parts.reports.fresh(uri);
  if (result === undefined || result.revisions.length === 0) {
    throw new Halt(problem === "" ? `${nameOf(uri)} has no candidates yet` : problem);
  }
  const names = await namesOf(parts, uri);
  const items = [...result.revisions]
    .sort((a, b) => a.rank - b.rank)
    .map((revision) => ({
      id: revision.id,
      label: message(names.get(revision.id) ?? revision.id, 60),
      description: revisionWords(revision),
      detail: joined(message(revision.label, 80), ...revision.notes.map((note) => message(note, 80))),
    }));
  return { uri, id: (await choice(items, title)).id };
}

/** Have the user pick one: whoever picks none has cancelled the command. */
export async function choice<T extends vscode.QuickPickItem>(items: readonly T[], title: string): Promise<T> {
  return chosen(await vscode.window.showQuickPick(items, { title, matchOnDetail: true }));
}

/** Have the user pick some, or none. */
export async function pickSome<T extends vscode.QuickPickItem>(items: readonly T[], title: string): Promise<readonly T[]> {
  return chosen(await vscode.window.showQuickPick(items, { title, canPickMany: true }));
}

/** Ask before lines are replaced or broken. */
export async function confirmed(question: string, detail: string, yes: string): Promise<void> {
  chosen(await vscode.window.showWarningMessage(question, { modal: true, detail }, yes));
}

/** Have the user type a line. */
export async function asked(options: vscode.InputBoxOptions): Promise<string> {
  return chosen(await vscode.window.showInputBox({ ...options, ignoreFocusOut: true }));
}

/** What the user chose: whoever chose nothing has cancelled the command. */
export function chosen<T>(answer: T | undefined): T {
  if (answer === undefined) {
    throw new vscode.CancellationError();
  }
  return answer;
}
