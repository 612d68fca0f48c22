// The view "Hunks": those of the file in view, undecided first.
import * as vscode from "vscode";
import type { CurrentDocument } from "../documents";
import type { ReviewHunk } from "../protocol";
import type { Reviewed, Reviews } from "../reviews";
import { plain } from "../text";
import { hunkKey } from "./page";
import { decision, hunkWords, progress, summary } from "./words";

export interface HunkNode {
  readonly kind: "hunk";
  readonly uri: string;
  readonly key: string;
  readonly review: ReviewHunk;
}

export class HunksView implements vscode.TreeDataProvider<HunkNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly tree: vscode.TreeView<HunkNode>;
  private readonly listening: vscode.Disposable;
  private shown: Reviewed | undefined;
  private names = new Map<string, string>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly current: CurrentDocument,
    private readonly reviews: Reviews,
  ) {
    this.tree = vscode.window.createTreeView("excise.hunks", { treeDataProvider: this });
    const refresh = (): void => void this.refresh();
    this.listening = vscode.Disposable.from(
      this.tree,
      this.changed,
      current.onDidChange(refresh),
      reviews.onDidChange((uri) => {
        if (uri.toString() === current.uri?.toString()) {
          refresh();
        }
      }),
    );
    refresh();
  }

  getChildren(node?: HunkNode): HunkNode[] {
    const { shown } = this;
    if (node !== undefined || shown?.review === undefined) {
      return [];
    }
    const nodes = shown.review.hunks.map(
      (review): HunkNode => ({ kind: "hunk", uri: shown.uri.toString(), key: hunkKey(review), review }),
    );
    return [...nodes.filter(({ review }) => !review.decided), ...nodes.filter(({ review }) => review.decided)];
  }

  getTreeItem(node: HunkNode): vscode.TreeItem {
    const { review: hunk } = node;
    const where = hunkWords(hunk);
    const item = new vscode.TreeItem(`${where.charAt(0).toUpperCase()}${where.slice(1)}`);
    const name = (id: string): string => this.names.get(id) ?? plain(id, 60);
    const said = decision(hunk, name);
    const all = summary(hunk, name);
    item.id = `${node.uri} ${node.key}`;
    item.description = said === "" ? all : said;
    item.tooltip = said === "" ? all : `${all}; ${said}`;
    item.iconPath = new vscode.ThemeIcon(hunk.decided ? "pass-filled" : "circle-large-outline");
    item.contextValue = hunk.decided ? "hunk decided" : "hunk";
    item.accessibilityInformation = { label: `${where}, ${item.description}, ${hunk.decided ? "decided" : "not decided"}` };
    item.command = { command: "excise.openHunks", title: "Open", arguments: [node] };
    return item;
  }

  dispose(): void {
    this.listening.dispose();
  }

  private async refresh(): Promise<void> {
    const { uri } = this.current;
    const shown = uri === undefined ? undefined : await this.reviews.get(uri);
    const names = uri === undefined ? new Map<string, string>() : await this.reviews.names(uri);
    if (uri?.toString() !== this.current.uri?.toString()) {
      return;
    }
    this.shown = shown;
    this.names = names;
    const review = shown?.review;
    const number = review?.hunks.length ?? 0;
    this.tree.description = review === undefined || number === 0 ? "" : progress(review);
    void vscode.commands.executeCommand("setContext", "excise.hasHunks", number > 0);
    this.changed.fire(undefined);
  }
}
