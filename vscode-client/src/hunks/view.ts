// The view "Hunks": those of the file in view, undecided first, then the other files of the review.
import * as path from "node:path";
import * as vscode from "vscode";
import type { Candidates } from "../candidates/store";
import { joined } from "../candidates/words";
import type { CurrentDocument } from "../documents";
import { opened } from "../documents";
import type { ReviewHunk } from "../protocol";
import type { Reviewed, Reviews } from "../reviews";
import { plain } from "../text";
import { type ReviewFile, fileTooltip, fileWords, isReviewed, reviewFiles } from "./files";
import { hunkKey } from "./page";
import { decision, hunkWords, progress, summary } from "./words";

export interface HunkNode {
  readonly kind: "hunk";
  readonly uri: string;
  readonly key: string;
  readonly review: ReviewHunk;
  readonly names: ReadonlyMap<string, string>;
}

/** A file of the review. */
export interface FileNode {
  readonly kind: "file";
  readonly uri: string;
  /** Null if no candidate of the repository changes it, but only files found beside it. */
  readonly file: ReviewFile | null;
  readonly current: boolean;
}

type Node = HunkNode | FileNode;

export class HunksView implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<Node | undefined>();
  private readonly tree: vscode.TreeView<Node>;
  private readonly listening: vscode.Disposable;
  private files: FileNode[] = [];
  /** The reviews of the files whose hunks somebody has looked at. */
  private readonly known = new Map<string, Reviewed>();
  private written = "";
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly current: CurrentDocument,
    private readonly candidates: Candidates,
    private readonly reviews: Reviews,
  ) {
    this.tree = vscode.window.createTreeView("excise.hunks", { treeDataProvider: this });
    const refresh = (): void => void this.refresh();
    this.listening = vscode.Disposable.from(
      this.tree,
      this.changed,
      current.onDidChange(refresh),
      candidates.onDidChange(() => {
        if (!candidates.searching) {
          refresh();
        }
      }),
      reviews.onDidChange((uri) => {
        if (uri.toString() === current.uri?.toString() || this.known.has(uri.toString())) {
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

  dispose(): void {
    this.listening.dispose();
  }

  private async hunks(file: FileNode): Promise<HunkNode[]> {
    const uri = vscode.Uri.parse(file.uri);
    const before = this.known.get(file.uri)?.review;
    const reviewed = before === undefined || opened(uri) !== undefined ? await this.asked(uri) : this.known.get(file.uri);
    const names = await this.reviews.names(uri);
    const nodes = (reviewed?.review?.hunks ?? []).map(
      (review): HunkNode => ({ kind: "hunk", uri: file.uri, key: hunkKey(review), review, names }),
    );
    return [...nodes.filter(({ review }) => !review.decided), ...nodes.filter(({ review }) => review.decided)];
  }

  /** The review of a file that somebody looks at. The server has one of documents that are open, not of all files. */
  private async asked(uri: vscode.Uri): Promise<Reviewed | undefined> {
    if (opened(uri) === undefined && !(await isOpened(uri))) {
      return undefined;
    }
    const reviewed = await this.reviews.get(uri);
    const key = uri.toString();
    const first = this.known.get(key)?.review === undefined;
    this.known.set(key, reviewed);
    if (first && key !== this.current.uri?.toString()) {
      void this.refresh(); // the row of the file says how much is decided
    }
    return reviewed;
  }

  private fileItem({ uri: text, file, current }: FileNode): vscode.TreeItem {
    const { Expanded, Collapsed, None } = vscode.TreeItemCollapsibleState;
    const uri = vscode.Uri.parse(text);
    const has = file === null || isReviewed(file);
    const item = new vscode.TreeItem(plain(path.posix.basename(uri.path), 120), has ? (current ? Expanded : Collapsed) : None);
    const review = this.known.get(text)?.review;
    item.id = `${text} ${current ? "in view" : "beside"}`;
    item.resourceUri = uri;
    item.iconPath = vscode.ThemeIcon.File;
    item.description = joined(review === undefined ? "" : progress(review), file === null ? "" : fileWords(file));
    item.tooltip = file === null ? plain(uri.path, 300) : fileTooltip(file).join("\n");
    item.contextValue = "file";
    item.accessibilityInformation = { label: `${plain(path.posix.basename(uri.path), 120)}, ${item.description}` };
    const [first] = file?.candidates ?? [];
    if (!has && first !== undefined) {
      const argument = { candidate: first.id, path: first.path, status: first.status };
      item.command = { command: "excise.openFile", title: "Open", arguments: [argument] };
    }
    return item;
  }

  private async refresh(): Promise<void> {
    const { uri } = this.current;
    const shown = uri === undefined ? undefined : await this.reviews.get(uri);
    if (uri?.toString() !== this.current.uri?.toString()) {
      return;
    }
    // The editor closes hidden documents after a while. The review of such a file stays.
    const open = [...this.known.values()].filter((reviewed) => opened(reviewed.uri) !== undefined);
    const now = await Promise.all(open.map((reviewed) => this.reviews.get(reviewed.uri)));
    [...now, ...(shown === undefined ? [] : [shown])].forEach((reviewed) => this.known.set(reviewed.uri.toString(), reviewed));
    this.files = this.listed(shown);
    const all = [...this.known.values()].flatMap(({ review }) => (review === undefined ? [] : [review]));
    const sum = {
      decided: all.reduce((total, { decided }) => total + decided, 0),
      undecided: all.reduce((total, { undecided }) => total + undecided, 0),
    };
    this.tree.description = sum.decided + sum.undecided === 0 ? "" : progress(sum);
    void vscode.commands.executeCommand("setContext", "excise.hasHunks", (shown?.review?.hunks.length ?? 0) > 0);
    const written = JSON.stringify([this.files, all.map(({ state, hunks }) => [state, hunks])]);
    // A change event redraws the tree, and users who walk through it by keys are at its start again.
    if (written !== this.written) {
      this.written = written;
      this.changed.fire(undefined);
    }
  }

  /** The files, starting with the one in view if candidates change it. */
  private listed(shown: Reviewed | undefined): FileNode[] {
    const result = this.candidates.shown?.result;
    const inView = shown?.uri.toString();
    const nodes = (result === undefined ? [] : reviewFiles(result)).map((file): FileNode => {
      const uri = vscode.Uri.file(path.posix.join(result?.repository ?? "", file.path)).toString();
      return { kind: "file", uri, file, current: uri === inView };
    });
    const inViewNode = nodes.find(({ current }) => current);
    if (inViewNode === undefined && inView !== undefined && (shown?.review?.hunks.length ?? 0) > 0) {
      return [{ kind: "file", uri: inView, file: null, current: true }, ...nodes];
    }
    return [...(inViewNode === undefined ? [] : [inViewNode]), ...nodes.filter((node) => node !== inViewNode)];
  }
}

/** Open a file that no tab shows, so that the server knows it. */
async function isOpened(uri: vscode.Uri): Promise<boolean> {
  return vscode.workspace.openTextDocument(uri).then(
    () => true,
    () => false,
  );
}

function hunkItem(node: HunkNode): vscode.TreeItem {
  const { review: hunk, names } = node;
  const where = hunkWords(hunk);
  const item = new vscode.TreeItem(`${where.charAt(0).toUpperCase()}${where.slice(1)}`);
  const name = (id: string): string => names.get(id) ?? plain(id, 60);
  const outcome = decision(hunk, name);
  const all = summary(hunk, name);
  item.id = `${node.uri} ${node.key}`;
  item.description = outcome === "" ? all : outcome;
  item.tooltip = outcome === "" ? all : `${all}; ${outcome}`;
  item.iconPath = new vscode.ThemeIcon(hunk.decided ? "pass-filled" : "circle-large-outline");
  item.contextValue = "hunk";
  item.accessibilityInformation = { label: `${where}, ${item.description}, ${hunk.decided ? "decided" : "not decided"}` };
  item.command = { command: "excise.openHunks", title: "Open", arguments: [node] };
  return item;
}
