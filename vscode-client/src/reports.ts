// The newest report of each document: asked for once, kept until the server says it has changed.
import * as vscode from "vscode";
import type { Servers } from "./connection";
import { DID_CHANGE_REPORT, type DidChangeReportParams, type ReportResult, type SourcesResult } from "./protocol";
import { reason } from "./text";

/** A report, or why there is none. */
export interface Reported {
  readonly uri: vscode.Uri;
  readonly report: ReportResult | undefined;
  readonly problem: string;
}

export class Reports implements vscode.Disposable {
  private readonly known = new Map<string, Promise<Reported>>();
  private readonly sourcesKnown = new Map<string, Promise<SourcesResult | undefined>>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly listening: vscode.Disposable;
  /** A connection has one listener for a notification: this hands it on. */
  private readonly told = new vscode.EventEmitter<DidChangeReportParams>();
  readonly onDidChange = this.changed.event;
  readonly onDidHear = this.told.event;

  constructor(private readonly supervisor: Servers) {
    this.listening = vscode.Disposable.from(
      supervisor.onDidOpen((connection) => {
        connection.onNotification(DID_CHANGE_REPORT, (params) => {
          const told = params as DidChangeReportParams;
          this.told.fire(told);
          this.forget(vscode.Uri.parse(told.uri));
        });
        // Another origin may have the same text: then the scores stay, and what stands beside does not.
        connection.onTold(() => this.forgetAll());
        this.forgetAll();
      }),
      supervisor.onDidChangeState(() => this.forgetAll()),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) {
          // The server will say when it has a newer one; until then this one is of another text.
          this.known.delete(document.uri.toString());
        }
      }),
      this.changed,
      this.told,
    );
  }

  /** The report of a document; never starts a server. */
  get(uri: vscode.Uri): Promise<Reported> {
    const key = uri.toString();
    const known = this.known.get(key);
    if (known !== undefined) {
      return known;
    }
    const asked = this.ask(uri);
    this.known.set(key, asked);
    return asked;
  }

  /** What the sources of a document found and refused, as of its report; never starts a server. */
  sources(uri: vscode.Uri): Promise<SourcesResult | undefined> {
    const key = uri.toString();
    const known = this.sourcesKnown.get(key);
    if (known !== undefined) {
      return known;
    }
    const { connection } = this.supervisor;
    const asked =
      connection?.request("excise/sources", { uri: key }).catch(() => undefined) ??
      Promise.resolve(undefined);
    this.sourcesKnown.set(key, asked);
    return asked;
  }

  /** The report, asked for anew of a server that is started if need be. */
  async fresh(uri: vscode.Uri): Promise<Reported> {
    await this.supervisor.ensure();
    this.known.delete(uri.toString());
    return this.get(uri);
  }

  /** Ask again, and tell those who show it. */
  forget(uri: vscode.Uri): void {
    this.known.delete(uri.toString());
    this.sourcesKnown.delete(uri.toString());
    this.changed.fire(uri);
  }

  dispose(): void {
    this.listening.dispose();
  }

  private forgetAll(): void {
    const uris = [...this.known.keys()];
    this.known.clear();
    this.sourcesKnown.clear();
    uris.forEach((uri) => this.changed.fire(vscode.Uri.parse(uri)));
  }

  private async ask(uri: vscode.Uri): Promise<Reported> {
    const nothing = { uri, report: undefined };
    const connection = this.supervisor.connection;
    if (connection === undefined) {
      return { ...nothing, problem: "" };
    }
    const params = { uri: uri.toString() };
    try {
      const report = await connection.request("excise/report", params);
      return { uri, report, problem: "" };
    } catch (error) {
      // A document that the server does not know has no revisions; that is not a problem.
      const unknown = typeof error === "object" && error !== null && "code" in error && error.code === -32602;
      return { ...nothing, problem: unknown ? "" : reason(error) };
    }
  }
}
