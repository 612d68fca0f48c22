// The candidates of the repository that is looked at: asked for when somebody looks, and anew when they may have changed.
import * as vscode from "vscode";
import type { Parts } from "../parts";
import type { CandidatesDocument, DidChangeReportParams } from "../protocol";
import { CANCELLED, codeOf, reason } from "../text";

/** A little longer than the server calls a candidate "still being written" after its last change (its WRITTEN_SECONDS). */
const WRITTEN_MS = 6000;

/** How long news are gathered before the repository is looked at again. */
const PAUSE_MS = 250;

export interface Found {
  readonly folder: vscode.Uri;
  readonly result: CandidatesDocument | undefined;
  /** Why there is no result. */
  readonly refusal: string;
}

export class Candidates {
  private found: Found | undefined;
  private answered: Promise<void> = Promise.resolve();
  private asking: vscode.CancellationTokenSource | undefined;
  private timer: NodeJS.Timeout | undefined;
  private settling: NodeJS.Timeout | undefined;
  /** Somebody looks: only then a repository is read. */
  private wanted = false;
  private stale = true;
  private readonly versions = new Map<string, number | null>();
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly parts: Parts) {
    const { supervisor, current } = parts;
    parts.subscriptions.push(
      this.changed,
      {
        dispose: () => {
          clearTimeout(this.timer);
          clearTimeout(this.settling);
          this.asking?.cancel();
        },
      },
      supervisor.onDidChangeState((state) => {
        if (state === "missing" || state === "failed") {
          this.found = undefined;
        }
        this.changed.fire(undefined);
      }),
      current.onDidChange(() => {
        if (this.found?.folder.toString() !== this.folder?.toString()) {
          this.now();
        }
      }),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused) {
          this.later();
        }
      }),
      vscode.workspace.onDidSaveTextDocument(() => this.later()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        // What git or others wrote to its file, or an undo.
        if (!document.isDirty && document.uri.scheme === "file") {
          this.later();
        }
      }),
    );
  }

  get shown(): Found | undefined {
    return this.found?.folder.toString() === this.folder?.toString() ? this.found : undefined;
  }

  get searching(): boolean {
    return this.asking !== undefined;
  }

  /** The folder whose repository is meant: that of the document, else the first of the workspace. */
  get folder(): vscode.Uri | undefined {
    const { uri } = this.parts.current;
    const ownFolder = uri === undefined ? undefined : vscode.workspace.getWorkspaceFolder(uri);
    return (ownFolder ?? vscode.workspace.workspaceFolders?.find((folder) => folder.uri.scheme === "file"))?.uri;
  }

  /** Tell that somebody looks, and ask for news from then on. */
  look(): void {
    this.wanted = true;
    if (this.stale) {
      this.now();
    }
  }

  /** Look again, soon: several news are one, and no news postpones or stops a look, as an agent may never pause. */
  later(): void {
    this.stale = true;
    if (!this.searching) {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        this.now();
      }, PAUSE_MS);
    }
  }

  now(): void {
    this.stale = true;
    if (this.wanted) {
      this.answered = this.ask();
    }
  }

  /** The candidates as they are now, for a command. */
  async fresh(): Promise<Found | undefined> {
    this.wanted = true;
    await this.parts.supervisor.ensure();
    if (this.stale || (this.shown === undefined && !this.searching)) {
      this.answered = this.ask();
    }
    // Whoever asks later takes the place of this question: its answer is the one to wait for.
    while (this.searching) {
      await this.answered;
    }
    return this.shown;
  }

  /** A change that was not typed is news of a candidate. */
  hear({ uri, version }: DidChangeReportParams): void {
    const before = this.versions.get(uri);
    this.versions.set(uri, version);
    if (before === version || before === undefined) {
      this.later();
    }
  }

  private async ask(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.asking?.cancel();
    this.asking = undefined;
    const { folder } = this;
    const { connection } = this.parts.supervisor;
    if (folder === undefined || connection === undefined || !vscode.workspace.isTrusted) {
      this.found = undefined;
      this.changed.fire(undefined);
      return;
    }
    const asking = new vscode.CancellationTokenSource();
    this.asking = asking;
    this.stale = false;
    this.changed.fire(undefined);
    const answer = await connection.request("excise/candidates", { uri: folder.toString() }, asking.token).then(
      (result) => ({ folder, result, refusal: "" }),
      (error: unknown) => (codeOf(error) === CANCELLED ? this.found : { folder, result: undefined, refusal: reason(error) }),
    );
    asking.dispose();
    if (this.asking === asking) {
      this.asking = undefined;
      this.take(answer);
    }
  }

  private take(answer: Found | undefined): void {
    this.found = answer;
    if (answer !== undefined && answer.refusal !== "") {
      this.parts.log.info(`no candidates: ${answer.refusal}`);
    }
    this.changed.fire(undefined);
    clearTimeout(this.settling);
    if (this.stale) {
      this.later();
    } else if (answer?.result?.candidates.some((work) => work.being_written) === true) {
      // Nothing tells that somebody has stopped writing.
      this.settling = setTimeout(() => this.later(), WRITTEN_MS);
    }
  }
}
