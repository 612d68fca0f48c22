// The newest review of each document: its hunks, decided and undecided.
import * as vscode from "vscode";
import type { Candidates } from "./candidates/store";
import type { Servers } from "./connection";
import { nameOf, shortNames } from "./names";
import { Newest } from "./newest";
import type { ReviewResult } from "./protocol";
import type { Reports } from "./reports";
import { plain } from "./text";

export interface Reviewed {
  readonly uri: vscode.Uri;
  readonly review: ReviewResult | undefined;
  /** Why there is no review, or empty if there is nothing to review. */
  readonly problem: string;
}

export class Reviews extends Newest<Reviewed> {
  private readonly listening: vscode.Disposable;

  constructor(
    supervisor: Servers,
    private readonly candidates: Candidates,
    reports: Reports,
  ) {
    super(supervisor);
    this.listening = vscode.Disposable.from(
      reports.onDidChange((uri) => this.forget(uri)),
      supervisor.onDidChangeState(() => this.dropAll()),
    );
  }

  /** The names of the candidates of a document, by id: as in the view, or else the shortest unique ones. */
  async names(uri: vscode.Uri): Promise<Map<string, string>> {
    const { review } = await this.get(uri);
    const ids = review?.candidates.map(({ id }) => id) ?? [];
    const names = shortNames(ids, uri.path);
    const labels = new Map(this.candidates.shown?.result?.ranking.map(({ id, label }) => [id, plain(label, 60)]));
    return new Map(ids.map((id) => [id, labels.get(id) ?? names.get(id) ?? nameOf(id)]));
  }

  override dispose(): void {
    this.listening.dispose();
    super.dispose();
  }

  /** In detail: with the tokens in which a variant differs. */
  protected override async ask(uri: vscode.Uri, marks: boolean): Promise<Reviewed> {
    const { result, problem } = await this.answer("excise/review", { uri: uri.toString(), marks });
    return { uri, review: result, problem };
  }
}
