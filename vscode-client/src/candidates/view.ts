// The view "Candidates": those of the repository, followed by those of the document alone.
import * as path from "node:path";
import * as vscode from "vscode";
import type { Servers } from "../connection";
import { type CurrentDocument, isSource } from "../documents";
import type { Reported, Reports } from "../reports";
import { count, plain } from "../text";
import { documentGroups } from "./document";
import { fileUri } from "./decorations";
import type { CandidateNode, Mark, Node } from "./nodes";
import { type ViewState, viewState } from "./state";
import type { Candidates } from "./store";
import { roots } from "./tree";

const ICONS: Readonly<Record<Mark, readonly [string, string?]>> = {
  failed: ["error", "list.errorForeground"],
  broken: ["warning", "list.warningForeground"],
  conflict: ["git-merge", "list.warningForeground"],
  written: ["sync"],
  nothing: ["circle-slash", "disabledForeground"],
  passed: ["pass", "testing.iconPassed"],
  none: ["git-commit"],
};

const EXPANDED = vscode.TreeItemCollapsibleState.Expanded;
const COLLAPSED = vscode.TreeItemCollapsibleState.Collapsed;
const LEAF = vscode.TreeItemCollapsibleState.None;

/** Above so many candidates a group is opened by whoever wants to see it. */
const MANY = 12;

export class CandidatesView implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly tree: vscode.TreeView<Node>;
  private readonly listening: vscode.Disposable;
  private reported: Reported | undefined;
  private nodes: Node[] = [];
  /** The nodes as text, to be compared. */
  private written = "";
  private total = 0;
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly current: CurrentDocument,
    private readonly reports: Reports,
    private readonly supervisor: Servers,
    private readonly candidates: Candidates,
  ) {
    this.tree = vscode.window.createTreeView("excise.candidates", {
      treeDataProvider: this,
      showCollapseAll: true,
      canSelectMany: true,
    });
    const refresh = (): void => void this.refresh();
    this.listening = vscode.Disposable.from(
      this.tree,
      this.changed,
      current.onDidChange(refresh),
      candidates.onDidChange(refresh),
      supervisor.onDidChangeState(refresh),
      vscode.window.onDidChangeActiveNotebookEditor(refresh),
      vscode.window.onDidChangeActiveTextEditor(refresh),
      vscode.workspace.onDidGrantWorkspaceTrust(refresh),
      reports.onDidChange((uri) => {
        if (uri.toString() === current.uri?.toString()) {
          refresh();
        }
      }),
      this.tree.onDidChangeVisibility(({ visible }) => {
        if (!visible) {
          return;
        }
        candidates.look();
        if (supervisor.state === "idle") {
          supervisor.ensure().catch(() => undefined);
        }
      }),
    );
    refresh();
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) {
      return this.nodes;
    }
    return "children" in node ? [...node.children] : [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const item = new vscode.TreeItem(node.label, this.collapsed(node));
    item.id = `${this.candidates.folder?.toString() ?? ""} ${node.id}`;
    item.description = node.description;
    item.tooltip = tooltip(node.tooltip);
    item.accessibilityInformation = { label: `${node.label}, ${node.description}` };
    item.contextValue = node.kind;
    decorate(item, node);
    return item;
  }

  /** The row with the keyboard's focus, which toggles. Extensions are only notified of selections. */
  async focused(): Promise<Node | undefined> {
    const before = this.tree.selection;
    await vscode.commands.executeCommand("list.toggleSelection");
    const after = this.tree.selection;
    await vscode.commands.executeCommand("list.toggleSelection");
    return after.find((node) => !before.includes(node)) ?? before.find((node) => !after.includes(node));
  }

  dispose(): void {
    this.listening.dispose();
  }

  private collapsed(node: Node): vscode.TreeItemCollapsibleState {
    if (!("children" in node) || node.children.length === 0) {
      return LEAF;
    }
    return node.kind === "batch" || (node.kind === "group" && this.total <= MANY) ? EXPANDED : COLLAPSED;
  }

  private async refresh(): Promise<void> {
    const { uri } = this.current;
    this.reported = uri === undefined ? undefined : await this.reports.get(uri);
    if (uri?.toString() !== this.current.uri?.toString()) {
      return;
    }
    const nodes = this.made();
    const written = JSON.stringify([this.candidates.folder, nodes]);
    // A change event redraws the tree, and users who walk through it by keys are at its start again.
    const same = written === this.written;
    this.nodes = same ? this.nodes : nodes;
    this.written = written;
    this.total = nodes.reduce((sum, node) => sum + candidatesIn(node), 0);
    this.tell();
    if (!same) {
      this.changed.fire(undefined);
    }
  }

  private made(): Node[] {
    const result = this.candidates.shown?.result;
    const { reported } = this;
    const report = reported?.report;
    const knownIds = new Set([...(result?.candidates ?? []), ...(result?.set_aside.map(({ id }) => id) ?? [])]);
    // While the repository is read, the candidates of the document alone would appear and disappear.
    const waiting = result === undefined && this.candidates.searching;
    const uri = reported?.uri.toString() ?? "";
    const beside = report === undefined || waiting ? [] : documentGroups(uri, report, knownIds);
    const rootNodes = result === undefined ? [] : roots(result, Date.now() / 1000);
    if (rootNodes.length === 0 || beside.length === 0) {
      return [...rootNodes, ...beside];
    }
    const name = plain(path.posix.basename(reported?.uri.path ?? ""), 60);
    return [
      ...rootNodes,
      {
        kind: "batch",
        id: `document ${uri}`,
        label: `Only for ${name}`,
        description: count(beside.reduce((sum, node) => sum + candidatesIn(node), 0), "candidate"),
        tooltip: ["Found beside this file, or added by hand: they say nothing of other files."],
        children: beside,
      },
    ];
  }

  /** Update the texts around the tree, and the context keys of menus and welcome texts. */
  private tell(): void {
    const { reported } = this;
    const number = reported?.report?.revisions.length ?? 0;
    const state = this.state();
    this.tree.badge = this.total === 0 ? undefined : { value: this.total, tooltip: count(this.total, "candidate") };
    this.tree.description = this.total === 0 ? "" : count(this.total, "candidate");
    this.tree.message = state === "shown" ? plain(reported?.problem ?? "", 300) : "";
    const context = (name: string, value: unknown): void =>
      void vscode.commands.executeCommand("setContext", `excise.${name}`, value);
    context("hasRevisions", number > 0);
    context("hasCandidates", this.total > 0);
    context("hasSetAside", (this.candidates.shown?.result?.set_aside.length ?? 0) > 0);
    context("state", state);
  }

  private state(): ViewState {
    const editor = vscode.window.activeTextEditor;
    const notebook = vscode.window.activeNotebookEditor !== undefined;
    const { uri } = this.current;
    const source = uri !== undefined && isSource(uri);
    return viewState({
      server: this.supervisor.state,
      trusted: vscode.workspace.isTrusted,
      folders: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.scheme),
      document: notebook ? "notebook" : source ? "source" : editor === undefined ? "none" : "other",
      searching: this.candidates.searching,
      indexing: source && this.reported === undefined,
      refusal: this.candidates.shown?.refusal ?? "",
      count: this.total,
    });
  }
}

function candidatesIn(node: Node): number {
  if (node.kind === "candidate") {
    return 1;
  }
  return node.kind === "batch" || node.kind === "group"
    ? (node.children as readonly Node[]).reduce((sum, child) => sum + candidatesIn(child), 0)
    : 0;
}

function decorate(item: vscode.TreeItem, node: Node): void {
  if (node.kind === "candidate") {
    const [icon, colour] = ICONS[node.mark];
    item.iconPath = new vscode.ThemeIcon(icon, colour === undefined ? undefined : new vscode.ThemeColor(colour));
    item.contextValue = context(node);
    item.command = { command: "excise.showCandidate", title: "Show Whole Candidate", arguments: [node] };
  } else if (node.kind === "group") {
    item.iconPath = new vscode.ThemeIcon("organization");
    item.command = { command: "excise.showCandidate", title: "Show Whole Candidate", arguments: [node] };
  } else if (node.kind === "file") {
    item.resourceUri = fileUri(node.file, node.status);
    item.iconPath = vscode.ThemeIcon.File;
    item.contextValue = `file ${node.status}`;
    item.command = { command: "excise.openFile", title: "Open", arguments: [node] };
  } else if (node.kind === "hidden" || node.kind === "rejected") {
    item.iconPath = new vscode.ThemeIcon(node.kind === "hidden" ? "eye-closed" : "close", DIM);
  }
}

const DIM = new vscode.ThemeColor("disabledForeground");

function context(node: CandidateNode): string {
  return ["candidate", ...node.abilities].join(" ");
}

/** Lines of plain text, without Markdown, links or icons. */
function tooltip(lines: readonly string[]): vscode.MarkdownString {
  const text = new vscode.MarkdownString("", false);
  lines.forEach((line, at) => {
    if (at > 0) {
      text.appendMarkdown("\n\n");
    }
    text.appendText(line);
  });
  return text;
}
