// Which candidate a command is about: that of the view, or one that the user picks.
import * as vscode from "vscode";
import type { Node } from "../candidates/nodes";
import { conflicts, joined, size, verdict } from "../candidates/words";
import { message } from "../text";
import type { CandidatesResult, Work } from "../worktrees";
import { Halt, type Parts } from "./context";

/** A candidate of a repository. */
export interface Chosen {
  readonly folder: vscode.Uri;
  readonly result: CandidatesResult;
  readonly work: Work;
}

/** What the view handed over: a candidate by its id, maybe of one document only, maybe one file of it. */
export interface Given {
  readonly candidate?: string;
  readonly uri?: string | null;
  readonly path?: string;
  readonly kind?: Node["kind"];
}

export function given(argument: unknown): Given {
  return typeof argument === "object" && argument !== null && !(argument instanceof vscode.Uri) ? argument : {};
}

/** The ids of the candidates that the view handed over: all that are selected in it, or the one that was pointed at. */
export function selected(argument: unknown, selection: unknown): string[] {
  const nodes: unknown[] = Array.isArray(selection) && selection.length > 0 ? selection : [argument];
  return nodes.map(given).flatMap(({ candidate, kind }) => (candidate !== undefined && kind === "candidate" ? [candidate] : []));
}

/** The candidates of the repository, or the reason why there are none. */
export async function found(parts: Parts): Promise<{ folder: vscode.Uri; result: CandidatesResult }> {
  if (!vscode.workspace.isTrusted) {
    throw new Halt("whole candidates are read with git, which is not used in a workspace that is not trusted");
  }
  const shown = await parts.candidates.fresh();
  if (shown?.result === undefined) {
    const none = "open the folder of a repository first";
    throw new Halt(shown === undefined || shown.refusal === "" ? none : shown.refusal);
  }
  return { folder: shown.folder, result: shown.result };
}

export async function candidateOf(parts: Parts, argument: unknown, title: string): Promise<Chosen> {
  const { folder, result } = await found(parts);
  const wanted = given(argument).candidate;
  if (wanted !== undefined) {
    const work = result.ranking.find(({ id }) => id === wanted);
    if (work === undefined) {
      throw new Halt(`${message(wanted, 60)} is not there any more`);
    }
    return { folder, result, work };
  }
  return { folder, result, work: await pick(result.ranking, title) };
}

export async function pick(works: readonly Work[], title: string): Promise<Work> {
  if (works.length === 0) {
    throw new Halt("no candidate changes anything");
  }
  const items = works.map((work) => ({
    work,
    label: message(work.label, 60),
    description: joined(verdict(work.verdict), ...size(work), conflicts(work)),
    detail: work.branch === null ? "" : message(work.branch, 80),
  }));
  const chosen = await vscode.window.showQuickPick(items, { title, matchOnDetail: true });
  if (chosen === undefined) {
    throw new vscode.CancellationError();
  }
  return chosen.work;
}
