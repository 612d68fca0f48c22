// The files that candidates change, and the review of each: the one list that the view "Hunks" and the hunk editor show.
import * as path from "node:path";
import * as vscode from "vscode";
import { type ReviewFile, isReviewed, reviewFiles } from "../candidates/tree";
import { opened } from "../documents";
import type { Answer } from "../newest";
import type { Parts } from "../parts";
import type { CandidatesDocument, ReviewResult } from "../protocol";

/** A file of the review; `file` is null if no candidate of the repository changes it, but only files found beside it. */
export interface ListedFile {
  readonly uri: vscode.Uri;
  readonly file: ReviewFile | null;
}

export class HunkList {
  private readonly changed = new vscode.EventEmitter<undefined>();
  /** The reviews of files that somebody has looked at: they stay when the editor closes a hidden document. */
  private readonly known = new Map<string, Answer<"excise/review">>();
  private written = "";
  private files: readonly ListedFile[] = [];
  readonly onDidChange = this.changed.event;

  constructor(private readonly parts: Parts) {
    const { current, candidates, reviews } = parts;
    const refresh = (): void => void this.refresh();
    parts.subscriptions.push(
      this.changed,
      current.onDidChange(refresh),
      candidates.onDidChange(() => {
        if (!candidates.searching) {
          refresh();
        }
      }),
      reviews.onDidChange((uri) => {
        if (current.is(uri) || this.known.has(uri.toString())) {
          refresh();
        }
      }),
    );
    refresh();
  }

  get all(): readonly ListedFile[] {
    return this.files;
  }

  /** The files of the tasks of which a file is one, that file among them. */
  ofTask(uri: vscode.Uri): readonly ListedFile[] {
    const { result } = this.parts.candidates.shown ?? {};
    const changing = this.files.find((listed) => same(listed.uri, uri))?.file?.candidates.map(({ id }) => id) ?? [];
    const members = result?.tasks.filter((task) => task.members.some((id) => changing.includes(id))).flatMap((task) => task.members) ?? [];
    const own = result === undefined ? [] : listedOf(result, new Set(members));
    return own.some((listed) => same(listed.uri, uri)) ? own : [{ uri, file: null }];
  }

  /** The review of a file, as it is known. */
  review(uri: vscode.Uri): ReviewResult | undefined {
    return this.known.get(uri.toString())?.result;
  }

  /** The review of a file, which is opened for it, as the server has none of other files. */
  async load(uri: vscode.Uri): Promise<Answer<"excise/review">> {
    const before = this.known.get(uri.toString());
    if (opened(uri) === undefined && before === undefined) {
      await Promise.resolve(vscode.workspace.openTextDocument(uri)).catch(() => undefined);
    }
    const answer = opened(uri) === undefined && before !== undefined ? before : await this.parts.reviews.get(uri);
    this.known.set(uri.toString(), answer);
    if (before === undefined) {
      void this.refresh();
    }
    return answer;
  }

  private async refresh(): Promise<void> {
    const { current, reviews, candidates } = this.parts;
    const { uri } = current;
    const shown = uri === undefined ? undefined : await reviews.get(uri);
    const open = [...this.known.values()].filter((reviewed) => opened(reviewed.uri) !== undefined);
    const now = await Promise.all(open.map((reviewed) => reviews.get(reviewed.uri)));
    if (!current.is(uri)) {
      return;
    }
    [...now, ...(shown === undefined ? [] : [shown])].forEach((reviewed) => this.known.set(reviewed.uri.toString(), reviewed));
    const { result } = candidates.shown ?? {};
    const files = result === undefined ? [] : listedOf(result);
    const alone = shown !== undefined && (shown.result?.hunks.length ?? 0) > 0 && !files.some((listed) => same(listed.uri, shown.uri));
    this.files = alone ? [...files, { uri: shown.uri, file: null }] : files;
    void vscode.commands.executeCommand("setContext", "excise.hasHunks", (shown?.result?.hunks.length ?? 0) > 0);
    const reviewed = [...this.known].map(([key, answer]) => [key, answer.result?.state, answer.result?.hunks, answer.result?.problems, answer.problem]);
    const written = JSON.stringify([uri, this.files, reviewed]);
    // A change event redraws the tree, and users who walk through it by keys are at its start again.
    if (written !== this.written) {
      this.written = written;
      this.changed.fire(undefined);
    }
  }
}

/** Whether the hunks of a file can be decided. */
export function hasHunks({ file }: ListedFile): boolean {
  return file === null || isReviewed(file);
}

function listedOf(result: CandidatesDocument, members?: ReadonlySet<string>): ListedFile[] {
  const files = reviewFiles(result).filter(({ candidates }) => members === undefined || candidates.some(({ id }) => members.has(id)));
  return files.map((file) => ({ uri: vscode.Uri.file(path.posix.join(result.repository, file.path)), file }));
}

function same(a: vscode.Uri, b: vscode.Uri): boolean {
  return a.toString() === b.toString();
}
