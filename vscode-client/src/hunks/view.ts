// The view "Hunks": those of the file in view, undecided first, then the other files of the review.
import * as path from "node:path";
import * as vscode from "vscode";
import { type ReviewFile, fileTooltip, fileWords, isReviewed, joined, reviewFiles } from "../candidates/tree";
import { nameOf, opened } from "../documents";
import type { Answer } from "../newest";
import type { Parts } from "../parts";
import type { ReviewHunk } from "../protocol";
import { plain } from "../text";
import { hunkKey, progress, warnings } from "./page";

interface HunkNode {
  readonly kind: "hunk";
  readonly uri: string;
  readonly key: string;
  readonly review: ReviewHunk;
  /** What the decisions break, and this hunk brings. */
  readonly warnings: readonly string[];
}

/** A file of the review. */
interface FileNode {
  readonly kind: "file";
  readonly uri: string;
  /** Null if no candidate of the repository changes it, but only files found beside it. */
  readonly file: ReviewFile | null;
  readonly current: boolean;
}

type Node = HunkNode | FileNode;
type Reviewed = Answer<"excise/review">;

export class HunksView implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly tree: vscode.TreeView<Node>;
  private files: FileNode[] = [];
  /** The reviews of the files whose hunks somebody has looked at: they stay when the editor closes a hidden document. */
  private readonly known = new Map<string, Reviewed>();
  private written = "";
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly parts: Parts) {
    this.tree = vscode.window.createTreeView("excise.hunks", { treeDataProvider: this });
    const { current, candidates, reviews } = parts;
    const refresh = (): void => void this.refresh();
    parts.subscriptions.push(
      this.tree,
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

  async getChildren(node?: Node): Promise<Node[]> {
    if (node?.kind === "hunk") {
      return [];
    }
    const [only, ...others] = this.files;
    // A review of one file needs no row for it.
    const file = node ?? (only?.current === true && others.length === 0 ? only : undefined);
    return file === undefined ? this.files : this.hunks(file);
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return node.kind === "hunk" ? hunkItem(node) : this.fileItem(node);
  }

  private async hunks(file: FileNode): Promise<HunkNode[]> {
    const uri = vscode.Uri.parse(file.uri);
    const before = this.known.get(file.uri)?.result;
    // The server has reviews of documents that are open, not of all files.
    if (before === undefined && !(await Promise.resolve(vscode.workspace.openTextDocument(uri)).then(Boolean, () => false))) {
      return [];
    }
    if (opened(uri) !== undefined) {
      this.known.set(file.uri, await this.parts.reviews.get(uri));
    }
    if (before === undefined && !this.parts.current.is(uri)) {
      void this.refresh(); // the row of the file says how much is decided
    }
    const { hunks, problems } = this.known.get(file.uri)?.result ?? { hunks: [], problems: [] };
    const nodes = hunks.map((review, at): HunkNode => ({ kind: "hunk", uri: file.uri, key: hunkKey(review), review, warnings: warnings({ problems }, at) }));
    return [...nodes.filter(({ review }) => !review.decided), ...nodes.filter(({ review }) => review.decided)];
  }

  private fileItem({ uri: text, file, current }: FileNode): vscode.TreeItem {
    const { Expanded, Collapsed, None } = vscode.TreeItemCollapsibleState;
    const uri = vscode.Uri.parse(text);
    const has = file === null || isReviewed(file);
    const label = plain(nameOf(uri), 120);
    const item = new vscode.TreeItem(label, has ? (current ? Expanded : Collapsed) : None);
    const review = this.known.get(text)?.result;
    item.id = `${text} ${current ? "in view" : "beside"}`;
    item.resourceUri = uri;
    item.iconPath = vscode.ThemeIcon.File;
    item.description = joined(review === undefined ? "" : progress(review), file === null ? "" : fileWords(file));
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

  private async refresh(): Promise<void> {
    const { uri } = this.parts.current;
    const shown = uri === undefined ? undefined : await this.parts.reviews.get(uri);
    if (!this.parts.current.is(uri)) {
      return;
    }
    const open = [...this.known.values()].filter((reviewed) => opened(reviewed.uri) !== undefined);
    const now = await Promise.all(open.map((reviewed) => this.parts.reviews.get(reviewed.uri)));
    [...now, ...(shown === undefined ? [] : [shown])].forEach((reviewed) => this.known.set(reviewed.uri.toString(), reviewed));
    this.files = this.listed(shown);
    const all = [...this.known.values()].flatMap(({ result }) => result ?? []);
    const hunks = all.flatMap((review) => review.hunks);
    const decided = hunks.filter((hunk) => hunk.decided).length;
    this.tree.description = hunks.length === 0 ? "" : progress({ decided, undecided: hunks.length - decided });
    void vscode.commands.executeCommand("setContext", "excise.hasHunks", (shown?.result?.hunks.length ?? 0) > 0);
    const written = JSON.stringify([this.files, all.map((review) => [review.state, review.hunks, review.problems])]);
    // A change event redraws the tree, and users who walk through it by keys are at its start again.
    if (written !== this.written) {
      this.written = written;
      this.changed.fire(undefined);
    }
  }

  /** The files, starting with the one in view if candidates change it. */
  private listed(shown: Reviewed | undefined): FileNode[] {
    const result = this.parts.candidates.shown?.result;
    const inView = shown?.uri.toString() ?? "";
    const files = (result === undefined ? [] : reviewFiles(result)).map((file): FileNode => {
      const uri = vscode.Uri.file(path.posix.join(result?.repository ?? "", file.path)).toString();
      return { kind: "file", uri, file, current: uri === inView };
    });
    if ((shown?.result?.hunks.length ?? 0) > 0 && !files.some(({ current }) => current)) {
      files.push({ kind: "file", uri: inView, file: null, current: true });
    }
    return files.sort((a, b) => Number(b.current) - Number(a.current));
  }
}

function hunkItem({ uri, key, review: hunk, warnings: brought, ...node }: HunkNode): vscode.TreeItem {
  const item = new vscode.TreeItem(`${hunk.where.charAt(0).toUpperCase()}${hunk.where.slice(1)}`);
  const [outcome, all] = [plain(hunk.outcome, 160), plain(hunk.words, 160)];
  item.id = `${uri} ${key}`;
  item.description = joined(outcome === "" ? all : outcome, ...brought);
  item.tooltip = [outcome === "" ? all : `${all}; ${outcome}`, ...brought].join("\n");
  item.iconPath = new vscode.ThemeIcon(brought.length > 0 ? "warning" : hunk.decided ? "pass-filled" : "circle-large-outline");
  item.contextValue = node.kind;
  item.accessibilityInformation = { label: `${hunk.where}, ${item.description}, ${hunk.decided ? "decided" : "not decided"}` };
  item.command = { command: "excise.openHunks", title: "Open", arguments: [{ uri, key }] };
  return item;
}
