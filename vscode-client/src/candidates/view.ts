// The view "Candidates": those of the repository, followed by those of the document alone. And how many change a file, in the explorer.
import * as vscode from "vscode";
import { isSource, nameOf } from "../documents";
import type { Answer } from "../newest";
import type { Parts } from "../parts";
import type { State as ServerState } from "../supervisor";
import { count, plain } from "../text";
import { type Node, documentGroups, joined, roots } from "./tree";

/** Files of the view have a scheme of their own, so that their letters are not the explorer's. */
const FILE_SCHEME = "excise-file";

/** Above so many candidates a group is opened by whoever wants to see it. */
const MANY = 12;

export class CandidatesView implements vscode.TreeDataProvider<Node>, vscode.FileDecorationProvider {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly decorationsChanged = new vscode.EventEmitter<undefined>();
  private readonly tree: vscode.TreeView<Node>;
  private reported: Answer<"excise/report"> | undefined;
  private nodes: Node[] = [];
  /** The nodes as text, to be compared. */
  private written = "";
  private total = 0;
  /** How many candidates change a file, by its address. */
  private touching = new Map<string, number>();
  readonly onDidChangeTreeData = this.changed.event;
  readonly onDidChangeFileDecorations = this.decorationsChanged.event;

  constructor(private readonly parts: Parts) {
    const options = { treeDataProvider: this, showCollapseAll: true, canSelectMany: true };
    this.tree = vscode.window.createTreeView("excise.candidates", options);
    const refresh = (): void => void this.refresh();
    const { current, candidates, supervisor } = parts;
    parts.subscriptions.push(
      this.tree,
      this.changed,
      this.decorationsChanged,
      vscode.window.registerFileDecorationProvider(this),
      current.onDidChange(refresh),
      candidates.onDidChange(() => {
        refresh();
        if (!candidates.searching) {
          this.countTouching();
        }
      }),
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
    const { Expanded, Collapsed, None } = vscode.TreeItemCollapsibleState;
    const opened = node.kind === "task" || (node.kind === "group" && this.total <= MANY);
    const item = new vscode.TreeItem(node.label, node.children.length === 0 ? None : opened ? Expanded : Collapsed);
    item.id = `${this.parts.candidates.folder?.toString() ?? ""} ${node.id}`;
    item.description = node.description;
    // Lines of plain text, without Markdown, links or icons.
    item.tooltip = new vscode.MarkdownString("", false);
    for (const [at, line] of node.tooltip.entries()) {
      item.tooltip.appendMarkdown(at > 0 ? "\n\n" : "").appendText(line);
    }
    item.accessibilityInformation = { label: `${node.label}, ${node.description}` };
    item.contextValue = [node.kind, ...(node.abilities ?? [])].join(" ");
    if (node.icon !== undefined) {
      const [icon, colour] = node.icon;
      item.iconPath = new vscode.ThemeIcon(icon, colour === undefined ? undefined : new vscode.ThemeColor(colour));
    }
    if (node.kind === "candidate" || node.kind === "group" || node.kind === "since") {
      item.command = { command: "excise.showCandidate", title: "Show", arguments: [node] };
    } else if (node.kind === "file") {
      item.resourceUri = vscode.Uri.file(node.file ?? "").with({ scheme: FILE_SCHEME, query: node.status ?? "" });
      item.iconPath = vscode.ThemeIcon.File;
      item.command = { command: "excise.showCandidate", title: "Open", arguments: [node] };
    }
    return item;
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (uri.scheme === FILE_SCHEME) {
      const status = uri.query === "created" ? "added" : uri.query;
      return new vscode.FileDecoration(status.charAt(0).toUpperCase(), uri.query, new vscode.ThemeColor(`gitDecoration.${status}ResourceForeground`));
    }
    const number = uri.scheme === "file" ? this.touching.get(uri.toString()) : undefined;
    if (number === undefined) {
      return undefined;
    }
    const tooltip = `${count(number, "candidate")} ${number === 1 ? "changes" : "change"} this file`;
    return new vscode.FileDecoration(number > 99 ? "∞" : `${number}`, tooltip);
  }

  /** The row with the keyboard's focus, which toggles. Extensions are only notified of selections. */
  async focused(): Promise<Node | undefined> {
    const before = this.tree.selection;
    await vscode.commands.executeCommand("list.toggleSelection");
    const after = this.tree.selection;
    await vscode.commands.executeCommand("list.toggleSelection");
    return after.find((node) => !before.includes(node)) ?? before.find((node) => !after.includes(node));
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
    const knownIds = new Set([...(result?.candidates.map(({ id }) => id) ?? []), ...(result?.set_aside.map(({ id }) => id) ?? [])]);
    // While the repository is read, the candidates of the document alone would appear and disappear.
    const waiting = result === undefined && this.parts.candidates.searching;
    const uri = reported?.uri.toString() ?? "";
    const beside = report === undefined || waiting ? [] : documentGroups(uri, report, knownIds);
    const rootNodes = result === undefined ? [] : roots(result, Date.now() / 1000);
    if (rootNodes.length === 0 || beside.length === 0) {
      return [...rootNodes, ...beside];
    }
    const document: Node = {
      kind: "task",
      id: `document ${uri}`,
      label: `Only for ${reported === undefined ? "" : plain(nameOf(reported.uri), 60)}`,
      description: count(candidatesIn(beside), "candidate"),
      tooltip: ["Found beside this file, or added by hand: they say nothing of other files."],
      children: beside,
    };
    return [...rootNodes, document];
  }

  /** Update the texts around the tree, and the context keys of menus and welcome texts. */
  private tell(): void {
    const { candidates, current, supervisor } = this.parts;
    const { uri } = current;
    const source = uri !== undefined && isSource(uri);
    const notebook = vscode.window.activeNotebookEditor !== undefined;
    const state = viewState({
      server: supervisor.state,
      trusted: vscode.workspace.isTrusted,
      folders: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.scheme),
      document: notebook ? "notebook" : source ? "source" : vscode.window.activeTextEditor === undefined ? "none" : "other",
      searching: candidates.searching,
      indexing: source && this.reported === undefined,
      refusal: candidates.shown?.refusal ?? "",
      count: this.total,
    });
    const words = count(this.total, "candidate");
    this.tree.badge = this.total === 0 ? undefined : { value: this.total, tooltip: words };
    const decided = Object.values(candidates.shown?.result?.decided ?? {});
    const taken = decided.filter((state) => state !== "passed over").length;
    this.tree.description = this.total === 0 ? "" : joined(words, taken === 0 ? "" : `${taken} taken`);
    this.tree.message = state === "shown" ? plain(this.reported?.problem ?? "", 300) : "";
    const context = (name: string, value: unknown): void => void vscode.commands.executeCommand("setContext", `excise.${name}`, value);
    context("hasCandidates", this.total > 0);
    context("hasTaken", taken > 0);
    context("hasSetAside", (candidates.shown?.result?.set_aside.length ?? 0) > 0);
    context("state", state);
  }

  private countTouching(): void {
    const result = this.parts.candidates.shown?.result;
    this.touching = new Map<string, number>();
    for (const { path } of result?.candidates.flatMap(({ files }) => files) ?? []) {
      const key = vscode.Uri.joinPath(vscode.Uri.file(result?.repository ?? ""), path).toString();
      this.touching.set(key, (this.touching.get(key) ?? 0) + 1);
    }
    this.decorationsChanged.fire(undefined);
  }
}

function candidatesIn(nodes: readonly Node[]): number {
  return nodes.reduce((sum, { kind, children }) => sum + (kind === "candidate" ? 1 : candidatesIn(children)), 0);
}

export interface Circumstances {
  readonly server: ServerState;
  readonly trusted: boolean;
  /** Schemes of the workspace folders, or none if no folder is open. */
  readonly folders: readonly string[];
  /** What is in view: a document that can be compared, a notebook, something else or nothing. */
  readonly document: "source" | "notebook" | "other" | "none";
  /** The repository is being looked at; the document is being read and compared. */
  readonly searching: boolean;
  readonly indexing: boolean;
  /** Why the candidates of the repository are not known, or empty if they are or nobody asked. */
  readonly refusal: string;
  /** How many candidates there are to show. */
  readonly count: number;
}

/** The state of a view; each that has nothing to show has its own text and remedy in package.json. */
export function viewState({ server, folders, document, ...now }: Circumstances): string {
  const virtual = folders.length > 0 && folders.every((scheme) => scheme !== "file");
  const states: readonly (readonly [string, boolean])[] = [
    // Also where there is no server.
    ["untrusted", !now.trusted && !virtual && now.count === 0 && (server === "missing" || server === "idle")],
    [server, server === "missing" || server === "failed"],
    ["shown", now.count > 0],
    ["virtual", virtual],
    [server, server === "starting" || server === "idle"],
    ["searching", now.searching],
    ["indexing", now.indexing],
    ["notebook", document === "notebook"],
    ["empty", folders.length === 0 && document === "none"],
    ["untrusted", !now.trusted],
    ["refused", now.refusal !== ""],
  ];
  return states.find(([, applies]) => applies)?.[0] ?? "nothing";
}
