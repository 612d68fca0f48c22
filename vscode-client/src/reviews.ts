// The newest review of each document: what is to decide in it, and what has been.
import * as vscode from "vscode";
import type { Candidates } from "./candidates/store";
import type { Servers } from "./connection";
import { nameOf, shortNames } from "./names";
import type { ReviewResult } from "./protocol";
import type { Reports } from "./reports";
import { plain, reason } from "./text";

export interface Reviewed {
  readonly uri: vscode.Uri;
  readonly review: ReviewResult | undefined;
  /** Why there is none; empty where there is nothing to review. */
  readonly problem: string;
}

const INVALID_PARAMS = -32602;

export class Reviews implements vscode.Disposable {
  private readonly known = new Map<string, Promise<Reviewed>>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly listening: vscode.Disposable;
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly supervisor: Servers,
    private readonly candidates: Candidates,
    reports: Reports,
  ) {
    this.listening = vscode.Disposable.from(
      reports.onDidChange((uri) => this.forget(uri)),
      supervisor.onDidChangeState(() => this.known.clear()),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) {
          this.known.delete(document.uri.toString());
        }
      }),
      this.changed,
    );
  }

  /** The review of a document; never starts a server. */
  get(uri: vscode.Uri): Promise<Reviewed> {
    const key = uri.toString();
    const known = this.known.get(key);
    if (known !== undefined) {
      return known;
    }
    const asked = this.ask(uri);
    this.known.set(key, asked);
    return asked;
  }

  /** The review, asked for anew of a server that is started if need be. */
  async fresh(uri: vscode.Uri): Promise<Reviewed> {
    await this.supervisor.ensure();
    this.known.delete(uri.toString());
    return this.get(uri);
  }

  /** Ask again, and tell those who show it. */
  forget(uri: vscode.Uri): void {
    this.known.delete(uri.toString());
    this.changed.fire(uri);
  }

  /** What people call the candidates of a document, by id: as in the view, else as short as they are told apart. */
  async names(uri: vscode.Uri): Promise<Map<string, string>> {
    const { review } = await this.get(uri);
    const ids = review?.candidates.map(({ id }) => id) ?? [];
    const names = shortNames(ids, uri.path);
    const labels = new Map(this.candidates.shown?.result?.ranking.map(({ id, label }) => [id, plain(label, 60)]));
    return new Map(ids.map((id) => [id, labels.get(id) ?? names.get(id) ?? nameOf(id)]));
  }

  dispose(): void {
    this.listening.dispose();
  }

  private async ask(uri: vscode.Uri): Promise<Reviewed> {
    const { connection } = this.supervisor;
    if (connection === undefined) {
      return { uri, review: undefined, problem: "" };
    }
    try {
      const review = await connection.request("excise/review", { uri: uri.toString(), marks: true });
      return { uri, review, problem: "" };
    } catch (error) {
      const unknown = typeof error === "object" && error !== null && "code" in error && error.code === INVALID_PARAMS;
      return { uri, review: undefined, problem: unknown ? "" : reason(error) };
    }
  }
}
