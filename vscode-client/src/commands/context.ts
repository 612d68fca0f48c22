// What commands work with.
import * as vscode from "vscode";
import type { Bootstrap } from "../bootstrap";
import type { Candidates } from "../candidates/store";
import type { CandidatesView } from "../candidates/view";
import type { Servers } from "../connection";
import { type CurrentDocument, isSource, uriOf } from "../documents";
import type { HunkEditors } from "../hunks/editors";
import type { Reported, Reports } from "../reports";
import type { Reviews } from "../reviews";
import type { Revisions } from "../revisions";
import type { Contents } from "../take/contents";
import { Unavailable } from "../supervisor";
import { message, reason } from "../text";

export interface Parts {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly bootstrap: Bootstrap;
  readonly supervisor: Servers;
  readonly current: CurrentDocument;
  readonly reports: Reports;
  readonly revisions: Revisions;
  readonly reviews: Reviews;
  readonly candidates: Candidates;
  readonly view: CandidatesView;
  readonly contents: Contents;
  readonly hunkEditors: HunkEditors;
}

/** A command cannot go on, for a reason that the user is told. */
export class Halt extends Error {}

export type Command = (parts: Parts, ...args: unknown[]) => Promise<unknown>;

/** Register a command whose failures become one message each. */
export function register(parts: Parts, name: string, command: Command): vscode.Disposable {
  return vscode.commands.registerCommand(name, async (...args: unknown[]) => {
    try {
      return await command(parts, ...args);
    } catch (error) {
      if (error instanceof Unavailable || error instanceof vscode.CancellationError) {
        return undefined;
      }
      parts.log.warn(`${name}: ${reason(error)}`);
      const shown = `Excise: ${message(reason(error))}`;
      void vscode.window.showWarningMessage(shown);
      return undefined;
    }
  });
}

/** The document of a command: what the menu handed over, else what the user looks at. */
export function documentOf(parts: Parts, argument?: unknown): vscode.Uri {
  const uri = uriOf(argument) ?? parts.current.uri;
  if (uri === undefined) {
    throw new Halt("open the file whose revisions you want to see first");
  }
  if (!isSource(uri)) {
    throw new Halt(`revisions of ${uri.scheme}: documents are not supported, only of files on disk and unsaved ones`);
  }
  return uri;
}

/** The report of a document that has revisions. */
export async function reportOf(
  parts: Parts,
  uri: vscode.Uri,
): Promise<Reported & { report: NonNullable<Reported["report"]> }> {
  const reported = await parts.reports.fresh(uri);
  const { report, problem } = reported;
  if (report === undefined || report.revisions.length === 0) {
    const name = uri.path.split("/").at(-1) ?? "";
    throw new Halt(problem === "" ? `${name} has no revisions yet` : problem);
  }
  return { ...reported, report };
}

/** Show a document, so that the server knows it and the user sees what happens. */
export async function show(uri: vscode.Uri): Promise<vscode.TextEditor> {
  const open = vscode.window.visibleTextEditors.find(
    ({ document }) => document.uri.toString() === uri.toString(),
  );
  const options = open?.viewColumn === undefined ? {} : { viewColumn: open.viewColumn };
  return vscode.window.showTextDocument(uri, options);
}
