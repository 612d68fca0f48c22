// The newest report of each document, until the server says that it has changed.
import * as vscode from "vscode";
import type { Servers } from "./connection";
import { Newest } from "./newest";
import { DID_CHANGE_REPORT, type DidChangeReportParams, type ReportResult, type SourcesResult } from "./protocol";

/** A report, or why there is none. */
export interface Reported {
  readonly uri: vscode.Uri;
  readonly report: ReportResult | undefined;
  readonly problem: string;
}

export class Reports extends Newest<Reported> {
  private readonly sourcesKnown = new Map<string, Promise<SourcesResult | undefined>>();
  private readonly listening: vscode.Disposable;
  /** A connection has one listener for a notification: this hands it on. */
  private readonly told = new vscode.EventEmitter<DidChangeReportParams>();
  readonly onDidHear = this.told.event;

  constructor(supervisor: Servers) {
    super(supervisor);
    this.listening = vscode.Disposable.from(
      supervisor.onDidOpen((connection) => {
        connection.onNotification(DID_CHANGE_REPORT, (params) => {
          const change = params as DidChangeReportParams;
          this.told.fire(change);
          this.forget(vscode.Uri.parse(change.uri));
        });
        // Another origin may have the same text: the scores stay then, but other facts change.
        connection.onTold(() => this.forgetAll());
        this.forgetAll();
      }),
      supervisor.onDidChangeState(() => this.forgetAll()),
      this.told,
    );
  }

  /** The revisions that the sources of a document found or refused, without starting a server. */
  sources(uri: vscode.Uri): Promise<SourcesResult | undefined> {
    const key = uri.toString();
    const pending = this.sourcesKnown.get(key);
    if (pending !== undefined) {
      return pending;
    }
    const answer = this.answer("excise/sources", { uri: key }).then(({ result }) => result);
    this.sourcesKnown.set(key, answer);
    return answer;
  }

  override forget(uri: vscode.Uri): void {
    this.sourcesKnown.delete(uri.toString());
    super.forget(uri);
  }

  override dispose(): void {
    this.listening.dispose();
    super.dispose();
  }

  protected override async ask(uri: vscode.Uri): Promise<Reported> {
    const { result, problem } = await this.answer("excise/report", { uri: uri.toString() });
    return { uri, report: result, problem };
  }

  private forgetAll(): void {
    this.sourcesKnown.clear();
    this.dropAll().forEach((uri) => this.forget(uri));
  }
}
