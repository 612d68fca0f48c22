// The view "Hunks": the files of the review, and the hunks of each in the order of its lines.
import * as vscode from "vscode";
import { fileTooltip, fileWords, joined } from "../candidates/tree";
import { nameOf } from "../documents";
import type { Parts } from "../parts";
import type { ReviewHunk } from "../protocol";
import { plain } from "../text";
import { type ListedFile, hasHunks } from "./list";
import { hunkKey, hunkTitle, progress, warnings } from "./page";

interface HunkNode {
  readonly uri: vscode.Uri;
  readonly hunk: ReviewHunk;
  /** What the decisions break, and this hunk brings. */
  readonly warnings: readonly string[];
}

type Node = HunkNode | ListedFile;

export class HunksView implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly tree: vscode.TreeView<Node>;
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly parts: Parts) {
    this.tree = vscode.window.createTreeView("excise.hunks", { treeDataProvider: this });
    const redraw = (): void => {
      const reviews = parts.hunks.all.flatMap(({ uri }) => parts.hunks.review(uri) ?? []);
      this.tree.description = reviews.some(({ hunks }) => hunks.length > 0) ? progress(reviews) : "";
      this.changed.fire(undefined);
    };
    parts.subscriptions.push(this.tree, this.changed, parts.hunks.onDidChange(redraw));
  }

  async getChildren(node?: Node): Promise<Node[]> {
    const { all } = this.parts.hunks;
    const [only, ...others] = all;
    // A review of one file needs no row for it.
    const file = node ?? (only !== undefined && others.length === 0 && this.parts.current.is(only.uri) ? only : undefined);
    if (file === undefined || "hunk" in file) {
      return file === undefined ? [...all] : [];
    }
    const { result } = await this.parts.hunks.load(file.uri);
    return result?.hunks.map((hunk, at): HunkNode => ({ uri: file.uri, hunk, warnings: warnings(result, at) })) ?? [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return "hunk" in node ? hunkItem(node) : this.fileItem(node);
  }

  private fileItem(listed: ListedFile): vscode.TreeItem {
    const { Expanded, Collapsed, None } = vscode.TreeItemCollapsibleState;
    const { uri, file } = listed;
    const isCurrent = this.parts.current.is(uri);
    const has = hasHunks(listed);
    const label = plain(nameOf(uri), 120);
    const item = new vscode.TreeItem(label, has ? (isCurrent ? Expanded : Collapsed) : None);
    const review = this.parts.hunks.review(uri);
    item.id = `${uri.toString()} ${isCurrent ? "in view" : "beside"}`;
    item.resourceUri = uri;
    item.iconPath = vscode.ThemeIcon.File;
    item.description = joined(review === undefined || review.hunks.length === 0 ? "" : progress([review]), file === null ? "" : fileWords(file));
    item.tooltip = file === null ? plain(uri.path, 300) : fileTooltip(file).join("\n");
    item.contextValue = "file";
    item.accessibilityInformation = { label: `${label}, ${item.description}` };
    const [first] = file?.candidates ?? [];
    if (!has && first !== undefined) {
      const argument = { candidate: first.id, path: first.path, status: first.status };
      item.command = { command: "excise.showCandidate", title: "Open", arguments: [argument] };
    }
    return item;
  }
}

function hunkItem({ uri, hunk, warnings: brought }: HunkNode): vscode.TreeItem {
  // The view is narrow, and its file is above: of "Auth.header" it has the end.
  const item = new vscode.TreeItem(hunkTitle({ ...hunk, function: hunk.function.split(".").at(-1) ?? "" }));
  const [outcome, all] = [plain(hunk.outcome, 160), plain(hunk.words, 160)];
  const argument = { uri: uri.toString(), key: hunkKey(hunk) };
  item.id = `${argument.uri} ${argument.key}`;
  item.description = joined(outcome === "" ? all : outcome, ...brought);
  item.tooltip = [outcome === "" ? all : `${all}; ${outcome}`, ...brought].join("\n");
  item.iconPath = new vscode.ThemeIcon(brought.length > 0 ? "warning" : hunk.decided ? "pass-filled" : "circle-large-outline");
  item.contextValue = "hunk";
  item.accessibilityInformation = { label: `${hunk.where}, ${item.description}, ${hunk.decided ? "decided" : "not decided"}` };
  item.command = { command: "excise.openHunks", title: "Open", arguments: [argument] };
  return item;
}
