// The view "Candidates": those of the repository, followed by those of the document alone.
import * as vscode from "vscode";
import { isSource, nameOf } from "../documents";
import type { Answer } from "../newest";
import type { Parts } from "../parts";
import { count, plain } from "../text";
import { documentGroups } from "./document";
import { fileUri } from "./decorations";
import { viewState } from "./state";
import { type Mark, type Node, roots } from "./tree";

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

export class CandidatesView implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly tree: vscode.TreeView<Node>;
  private reported: Answer<"excise/report"> | undefined;
  private nodes: Node[] = [];
  /** The nodes as text, to be compared. */
  private written = "";
  private total = 0;
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly parts: Parts) {
    const options = { treeDataProvider: this, showCollapseAll: true, canSelectMany: true };
    this.tree = vscode.window.createTreeView("excise.candidates", options);
    const refresh = (): void => void this.refresh();
    const { current, candidates, supervisor } = parts;
    parts.subscriptions.push(
      this.tree,
      this.changed,
      current.onDidChange(refresh),
      candidates.onDidChange(refresh),
      supervisor.onDidChangeState(refresh),
      vscode.window.onDidChangeActiveNotebookEditor(refresh),
      vscode.window.onDidChangeActiveTextEditor(refresh),
      vscode.workspace.onDidGrantWorkspaceTrust(refresh),
      parts.reports.onDidChange((uri) => {
        if (current.is(uri)) {
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
    return [...(node?.children ?? this.nodes)];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const item = new vscode.TreeItem(node.label, this.collapsed(node));
    item.id = `${this.parts.candidates.folder?.toString() ?? ""} ${node.id}`;
    item.description = node.description;
    item.tooltip = tooltip(node.tooltip);
    item.accessibilityInformation = { label: `${node.label}, ${node.description}` };
    item.contextValue = [node.kind, ...(node.abilities ?? []), ...(node.status === undefined ? [] : [node.status])].join(" ");
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

  private collapsed(node: Node): vscode.TreeItemCollapsibleState {
    if (node.children.length === 0) {
      return LEAF;
    }
    return node.kind === "batch" || (node.kind === "group" && this.total <= MANY) ? EXPANDED : COLLAPSED;
  }

  private async refresh(): Promise<void> {
    const { current, reports } = this.parts;
    const { uri } = current;
    this.reported = uri === undefined ? undefined : await reports.get(uri);
    if (!current.is(uri)) {
      return;
    }
    const nodes = this.made();
    const written = JSON.stringify([this.parts.candidates.folder, nodes]);
    // A change event redraws the tree, and users who walk through it by keys are at its start again.
    const same = written === this.written;
    this.nodes = same ? this.nodes : nodes;
    this.written = written;
    this.total = candidatesIn(nodes);
    this.tell();
    if (!same) {
      this.changed.fire(undefined);
    }
  }

  private made(): Node[] {
    const result = this.parts.candidates.shown?.result;
    const { reported } = this;
    const report = reported?.result;
    const knownIds = new Set([...(result?.candidates ?? []), ...(result?.set_aside.map(({ id }) => id) ?? [])]);
    // While the repository is read, the candidates of the document alone would appear and disappear.
    const waiting = result === undefined && this.parts.candidates.searching;
    const uri = reported?.uri.toString() ?? "";
    const beside = report === undefined || waiting ? [] : documentGroups(uri, report, knownIds);
    const rootNodes = result === undefined ? [] : roots(result, Date.now() / 1000);
    if (rootNodes.length === 0 || beside.length === 0) {
      return [...rootNodes, ...beside];
    }
    return [
      ...rootNodes,
      {
        kind: "batch",
        id: `document ${uri}`,
        label: `Only for ${reported === undefined ? "" : plain(nameOf(reported.uri), 60)}`,
        description: count(candidatesIn(beside), "candidate"),
        tooltip: ["Found beside this file, or added by hand: they say nothing of other files."],
        children: beside,
      },
    ];
  }

  /** Update the texts around the tree, and the context keys of menus and welcome texts. */
  private tell(): void {
    const { reported } = this;
    const number = reported?.result?.revisions.length ?? 0;
    const state = this.state();
    this.tree.badge = this.total === 0 ? undefined : { value: this.total, tooltip: count(this.total, "candidate") };
    this.tree.description = this.total === 0 ? "" : count(this.total, "candidate");
    this.tree.message = state === "shown" ? plain(reported?.problem ?? "", 300) : "";
    const context = (name: string, value: unknown): void =>
      void vscode.commands.executeCommand("setContext", `excise.${name}`, value);
    context("hasRevisions", number > 0);
    context("hasCandidates", this.total > 0);
    context("hasSetAside", (this.parts.candidates.shown?.result?.set_aside.length ?? 0) > 0);
    context("state", state);
  }

  private state(): string {
    const editor = vscode.window.activeTextEditor;
    const notebook = vscode.window.activeNotebookEditor !== undefined;
    const { uri } = this.parts.current;
    const source = uri !== undefined && isSource(uri);
    return viewState({
      server: this.parts.supervisor.state,
      trusted: vscode.workspace.isTrusted,
      folders: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.scheme),
      document: notebook ? "notebook" : source ? "source" : editor === undefined ? "none" : "other",
      searching: this.parts.candidates.searching,
      indexing: source && this.reported === undefined,
      refusal: this.parts.candidates.shown?.refusal ?? "",
      count: this.total,
    });
  }
}

function candidatesIn(nodes: readonly Node[]): number {
  return nodes.reduce((sum, { kind, children }) => sum + (kind === "candidate" ? 1 : candidatesIn(children)), 0);
}

function decorate(item: vscode.TreeItem, node: Node): void {
  const open = (command: string, title: string): vscode.Command => ({ command, title, arguments: [node] });
  if (node.kind === "candidate") {
    const [icon, colour] = ICONS[node.mark ?? "none"];
    item.iconPath = new vscode.ThemeIcon(icon, colour === undefined ? undefined : new vscode.ThemeColor(colour));
    item.command = open("excise.showCandidate", "Show Whole Candidate");
  } else if (node.kind === "group") {
    item.iconPath = new vscode.ThemeIcon("organization");
    item.command = open("excise.showCandidate", "Show Whole Candidate");
  } else if (node.kind === "file") {
    item.resourceUri = fileUri(node.file ?? "", node.status ?? "M");
    item.iconPath = vscode.ThemeIcon.File;
    item.command = open("excise.openFile", "Open");
  } else if (node.kind === "hidden" || node.kind === "rejected") {
    const dim = new vscode.ThemeColor("disabledForeground");
    item.iconPath = new vscode.ThemeIcon(node.kind === "hidden" ? "eye-closed" : "close", dim);
  }
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
