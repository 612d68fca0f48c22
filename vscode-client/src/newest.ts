// The newest answer to one question about each document: asked for once, kept until it is of another text.
import * as vscode from "vscode";
import type { Parts } from "./parts";
import type { Methods } from "./protocol";
import { INVALID_PARAMS, codeOf, reason } from "./text";

type Asked = "excise/report" | "excise/review";

/** An answer, or why there is none; both are missing where there is nothing to ask about. */
export interface Answer<M extends Asked> {
  readonly uri: vscode.Uri;
  readonly result: Methods[M][1] | undefined;
  readonly problem: string;
}

export class Newest<M extends Asked> {
  private readonly known = new Map<string, Promise<Answer<M>>>();
  /** Documents of which more is asked for than every surface shows: the tokens in which a variant of a review differs. */
  private readonly detailed = new Set<string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  /** `cause` has answers whose changes change these as well. */
  constructor(
    private readonly parts: Parts,
    private readonly method: M,
    cause?: { readonly onDidChange: vscode.Event<vscode.Uri> },
  ) {
    parts.subscriptions.push(
      this.changed,
      parts.supervisor.onDidChangeState(() => this.forgetAll()),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) {
          // The server will say when it has a newer one. Until then, this one is for another text.
          this.known.delete(document.uri.toString());
        }
      }),
      ...(cause === undefined ? [] : [cause.onDidChange((uri) => this.forget(uri))]),
    );
  }

  /** The answer for a document, without starting a server. */
  get(uri: vscode.Uri): Promise<Answer<M>> {
    const key = uri.toString();
    const answer = this.known.get(key) ?? this.ask(uri, this.detailed.has(key));
    this.known.set(key, answer);
    return answer;
  }

  /** Ask for the details of a document as well, until this is disposed of. */
  inDetail(uri: vscode.Uri): vscode.Disposable {
    const key = uri.toString();
    this.detailed.add(key);
    this.known.delete(key);
    return new vscode.Disposable(() => this.detailed.delete(key));
  }

  /** A new answer, from a server that is started if necessary. */
  async fresh(uri: vscode.Uri): Promise<Answer<M>> {
    await this.parts.supervisor.ensure();
    this.known.delete(uri.toString());
    return this.get(uri);
  }

  /** Ask again, and tell those who show it. */
  forget(uri: vscode.Uri): void {
    this.known.delete(uri.toString());
    this.changed.fire(uri);
  }

  forgetAll(): void {
    const uris = [...this.known.keys()].map((key) => vscode.Uri.parse(key));
    this.known.clear();
    uris.forEach((uri) => this.changed.fire(uri));
  }

  private async ask(uri: vscode.Uri, marks: boolean): Promise<Answer<M>> {
    const { connection } = this.parts.supervisor;
    const params = { uri: uri.toString(), ...(marks ? { marks } : {}) } as Methods[M][0];
    try {
      return { uri, result: await connection?.request(this.method, params), problem: "" };
    } catch (error) {
      // A document that the server does not know has no revisions, which is not a problem.
      return { uri, result: undefined, problem: codeOf(error) === INVALID_PARAMS ? "" : reason(error) };
    }
  }
}
