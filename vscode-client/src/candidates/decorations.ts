// Letters of status in the view, and in the explorer how many candidates change a file.
import * as vscode from "vscode";
import type { Parts } from "../parts";
import type { CandidatesDocument } from "../protocol";
import { count } from "../text";
import { type Status, WORDS } from "./words";

/** Files of the view have a scheme of their own, so that their letters are not the explorer's. */
const SCHEME = "excise-file";

export function fileUri(path: string, status: Status): vscode.Uri {
  return vscode.Uri.file(path).with({ scheme: SCHEME, query: status });
}

export class Decorations implements vscode.FileDecorationProvider {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private touching = new Map<string, number>();
  readonly onDidChangeFileDecorations = this.changed.event;

  constructor({ candidates, subscriptions }: Parts) {
    subscriptions.push(
      vscode.window.registerFileDecorationProvider(this),
      candidates.onDidChange(() => {
        if (!candidates.searching) {
          this.count(candidates.shown?.result);
        }
      }),
      this.changed,
    );
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (uri.scheme === SCHEME) {
      const status = uri.query as Status;
      const colour = new vscode.ThemeColor(`gitDecoration.${status === "A" ? "added" : WORDS[status]}ResourceForeground`);
      return new vscode.FileDecoration(status, WORDS[status], colour);
    }
    const number = uri.scheme === "file" ? this.touching.get(uri.toString()) : undefined;
    if (number === undefined) {
      return undefined;
    }
    const tooltip = `${count(number, "candidate")} ${number === 1 ? "changes" : "change"} this file`;
    return new vscode.FileDecoration(number > 99 ? "∞" : `${number}`, tooltip);
  }

  private count(result: CandidatesDocument | undefined): void {
    this.touching = new Map<string, number>();
    for (const { path } of result?.ranking.flatMap(({ files }) => files) ?? []) {
      const key = vscode.Uri.joinPath(vscode.Uri.file(result?.repository ?? ""), path).toString();
      this.touching.set(key, (this.touching.get(key) ?? 0) + 1);
    }
    this.changed.fire(undefined);
  }
}
