// The newest answer to one question about each document: asked for once, kept until it is of another text.
import * as vscode from "vscode";
import type { Servers } from "./connection";
import type { Methods } from "./protocol";
import { reason } from "./text";

/** The server does not know the document: it has no revisions, which is not a problem. */
const INVALID_PARAMS = -32602;

export abstract class Newest<A> implements vscode.Disposable {
  private readonly known = new Map<string, Promise<A>>();
  /** Documents of which more is asked for than every surface shows. */
  private readonly detailed = new Set<string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly editing: vscode.Disposable;
  readonly onDidChange = this.changed.event;

  constructor(protected readonly supervisor: Servers) {
    this.editing = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (contentChanges.length > 0) {
        // The server will say when it has a newer one. Until then, this one is for another text.
        this.known.delete(document.uri.toString());
      }
    });
  }

  /** The answer for a document, without starting a server. */
  get(uri: vscode.Uri): Promise<A> {
    const key = uri.toString();
    const pending = this.known.get(key);
    if (pending !== undefined) {
      return pending;
    }
    const answer = this.ask(uri, this.detailed.has(key));
    this.known.set(key, answer);
    return answer;
  }

  /** Ask for the details of a document as well, until this is disposed of. */
  inDetail(uri: vscode.Uri): vscode.Disposable {
    const key = uri.toString();
    this.detailed.add(key);
    this.drop(uri);
    return new vscode.Disposable(() => this.detailed.delete(key));
  }

  /** A new answer, from a server that is started if necessary. */
  async fresh(uri: vscode.Uri): Promise<A> {
    await this.supervisor.ensure();
    this.drop(uri);
    return this.get(uri);
  }

  /** Ask again, and tell those who show it. */
  forget(uri: vscode.Uri): void {
    this.drop(uri);
    this.changed.fire(uri);
  }

  dispose(): void {
    this.editing.dispose();
    this.changed.dispose();
  }

  protected abstract ask(uri: vscode.Uri, detail: boolean): Promise<A>;

  /** The answer of the running server, or the reason for having none. */
  protected async answer<M extends keyof Methods>(
    method: M,
    params: Methods[M][0],
  ): Promise<{ result: Methods[M][1] | undefined; problem: string }> {
    const { connection } = this.supervisor;
    if (connection === undefined) {
      return { result: undefined, problem: "" };
    }
    try {
      return { result: await connection.request(method, params), problem: "" };
    } catch (error) {
      const unknown = typeof error === "object" && error !== null && "code" in error && error.code === INVALID_PARAMS;
      return { result: undefined, problem: unknown ? "" : reason(error) };
    }
  }

  /** Ask again at the next need. */
  protected drop(uri: vscode.Uri): void {
    this.known.delete(uri.toString());
  }

  /** Drop all answers, and return the documents that had one. */
  protected dropAll(): vscode.Uri[] {
    const uris = [...this.known.keys()].map((key) => vscode.Uri.parse(key));
    this.known.clear();
    return uris;
  }
}
