// What the commands and views work with, each made once.
import * as vscode from "vscode";
import { Bootstrap } from "./bootstrap";
import { Candidates } from "./candidates/store";
import { CandidatesView } from "./candidates/view";
import { CurrentDocument } from "./documents";
import { HunkEditors } from "./hunks/editors";
import { HunkList } from "./hunks/list";
import { Newest } from "./newest";
import { Revisions } from "./revisions";
import { Supervisor, Unavailable } from "./supervisor";
import { Contents } from "./take";
import { CANCELLED, codeOf, message, reason } from "./text";

export class Parts {
  /** What ends with the extension. */
  readonly subscriptions: { dispose(): unknown }[] = [];
  readonly log = vscode.window.createOutputChannel("Excise", { log: true });
  readonly bootstrap = new Bootstrap(this);
  readonly supervisor = new Supervisor(this.bootstrap);
  readonly current = new CurrentDocument(this);
  readonly reports = new Newest(this, "excise/report");
  readonly reviews = new Newest(this, "excise/review", this.reports);
  readonly revisions = new Revisions(this.supervisor);
  readonly candidates = new Candidates(this);
  readonly view = new CandidatesView(this);
  readonly contents = new Contents(this);
  readonly hunks = new HunkList(this);
  readonly hunkEditors = new HunkEditors(this);

  constructor(readonly context: vscode.ExtensionContext) {
    this.subscriptions.push(
      this.log,
      this.supervisor,
      this.supervisor.onDidOpen((connection) => {
        connection.onReport((told) => {
          this.candidates.hear(told);
          this.reports.forget(vscode.Uri.parse(told.uri));
        });
        // Another origin may have the same text: the scores stay then, but other facts change.
        connection.onTold(() => {
          this.reports.forgetAll();
          this.candidates.later();
        });
        this.reports.forgetAll();
        this.candidates.now();
      }),
    );
  }
}

export type Command = (parts: Parts, ...args: unknown[]) => Promise<unknown>;

/** Register a command whose failures become one message each. */
export function register(parts: Parts, name: string, command: Command): vscode.Disposable {
  return vscode.commands.registerCommand(name, async (...args: unknown[]) => {
    try {
      return await command(parts, ...args);
    } catch (error) {
      if (!(error instanceof Unavailable || error instanceof vscode.CancellationError || codeOf(error) === CANCELLED)) {
        parts.log.warn(`${name}: ${reason(error)}`);
        void vscode.window.showWarningMessage(`Excise: ${message(reason(error))}`);
      }
      return undefined;
    }
  });
}
