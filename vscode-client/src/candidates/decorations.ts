// Letters of status in the view, and in the explorer how many candidates change a file.
import * as vscode from "vscode";
import { count } from "../text";
import { COLOURS, type Status, WORDS } from "./status";
import type { Candidates } from "./store";

/** Files of the view have a scheme of their own, so that their letters are not the explorer's. */
const SCHEME = "excise-file";

export function fileUri(path: string, status: Status): vscode.Uri {
  return vscode.Uri.file(path).with({ scheme: SCHEME, query: status });
}

export class Decorations implements vscode.FileDecorationProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly listening: vscode.Disposable;
  private touching = new Map<string, number>();
  readonly onDidChangeFileDecorations = this.changed.event;

  constructor(private readonly candidates: Candidates) {
    this.listening = vscode.Disposable.from(
      vscode.window.registerFileDecorationProvider(this),
      candidates.onDidChange(() => this.count()),
      this.changed,
    );
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (uri.scheme === SCHEME) {
      const status = uri.query as Status;
      return new vscode.FileDecoration(status, WORDS[status], new vscode.ThemeColor(COLOURS[status]));
    }
    const number = uri.scheme === "file" ? this.touching.get(uri.toString()) : undefined;
    if (number === undefined) {
      return undefined;
    }
    const tooltip = `${count(number, "candidate")} ${number === 1 ? "changes" : "change"} this file`;
    return new vscode.FileDecoration(number > 99 ? "∞" : `${number}`, tooltip);
  }

  dispose(): void {
    this.listening.dispose();
  }

  private count(): void {
    if (this.candidates.searching) {
      return;
    }
    const touching = new Map<string, number>();
    const result = this.candidates.shown?.result;
    for (const { path } of result?.ranking.flatMap(({ files }) => files) ?? []) {
      const key = vscode.Uri.joinPath(vscode.Uri.file(result?.repository ?? ""), path).toString();
      touching.set(key, (touching.get(key) ?? 0) + 1);
    }
    this.touching = touching;
    this.changed.fire(undefined);
  }
}
