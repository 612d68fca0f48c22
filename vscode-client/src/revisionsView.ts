// The view "Revisions": the current document's clusters, revisions and hunks.
import * as vscode from "vscode";
import type { Servers } from "./connection";
import { type CurrentDocument, opened } from "./documents";
import type { ReportResult, SourcesResult } from "./protocol";
import { type Mark, type Node, type TextAt, clusters, hunks } from "./model";
import type { Reported, Reports } from "./reports";
import { count, plain } from "./text";

const ICONS: Record<Mark, [string, string?]> = {
  syntaxErrors: ["warning", "list.warningForeground"],
  noOp: ["circle-slash", "disabledForeground"],
  representative: ["star-full", "charts.yellow"],
  lone: ["git-commit"],
  none: ["git-commit"],
};

export class RevisionsView implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly tree: vscode.TreeView<Node>;
  private readonly listening: vscode.Disposable;
  private shown: Reported | undefined;
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly current: CurrentDocument,
    private readonly reports: Reports,
    private readonly supervisor: Servers,
  ) {
    this.tree = vscode.window.createTreeView("excise.revisions", {
      treeDataProvider: this,
      showCollapseAll: true,
    });
    this.listening = vscode.Disposable.from(
      this.tree,
      current.onDidChange(() => this.refresh()),
      reports.onDidChange((uri) => {
        if (uri.toString() === current.uri?.toString()) {
          this.refresh();
        }
      }),
      supervisor.onDidChangeState(() => this.refresh()),
      this.tree.onDidChangeVisibility(({ visible }) => {
        if (visible && supervisor.state === "idle") {
          supervisor.ensure().catch(() => undefined);
        }
      }),
      this.changed,
    );
    void this.update();
  }

  /** What is shown now. */
  get reported(): Reported | undefined {
    return this.shown;
  }

  refresh(): void {
    this.changed.fire(undefined);
    // The tree asks for its roots only while it is seen; badge and menus are seen always.
    void this.update();
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node === undefined) {
      return this.roots();
    }
    if (node.kind === "cluster") {
      return [...node.revisions];
    }
    const report = this.shown?.report;
    return node.kind === "revision" && report !== undefined
      ? hunks(node.uri, report, node.revision, textOf(vscode.Uri.parse(node.uri), report))
      : [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const item = new vscode.TreeItem(node.label, COLLAPSED[node.kind]);
    item.id = `${this.shown?.uri.toString() ?? ""} ${node.id}`;
    item.description = node.description;
    item.tooltip = tooltip(node.tooltip);
    item.contextValue = node.kind === "revision" ? `revision ${node.mark}` : node.kind;
    item.accessibilityInformation = { label: `${node.label}, ${node.description}` };
    if (node.kind === "revision") {
      const [icon, color] = ICONS[node.mark];
      item.iconPath = new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
    } else if (node.kind === "hunk") {
      item.command = { command: "excise.revealHunk", title: "Show", arguments: [node] };
    }
    return item;
  }

  dispose(): void {
    this.listening.dispose();
  }

  private async roots(): Promise<Node[]> {
    const reported = await this.update();
    return reported?.report === undefined ? [] : clusters(reported.uri.toString(), reported.report);
  }

  /** The newest report of the document that is looked at when it is there. */
  private async update(): Promise<Reported | undefined> {
    const uri = this.current.uri;
    const reported = uri === undefined ? undefined : await this.reports.get(uri);
    if (uri?.toString() !== this.current.uri?.toString()) {
      return this.update();
    }
    if (this.shown !== reported || reported === undefined) {
      this.shown = reported;
      this.tell(reported);
    }
    return reported;
  }

  /** What stands around the tree, and what menus go by. */
  private tell(reported: Reported | undefined): void {
    const number = reported?.report?.revisions.length ?? 0;
    const file = reported?.uri.path.split("/").at(-1) ?? "";
    this.tree.description = number === 0 ? "" : plain(file, 60);
    this.tree.badge = number === 0 ? undefined : { value: number, tooltip: count(number, "revision") };
    this.tree.message = plain(reported?.problem ?? "", 300);
    void vscode.commands.executeCommand("setContext", "excise.hasRevisions", number > 0);
    void vscode.commands.executeCommand("setContext", "excise.state", this.supervisor.state);
    if (reported !== undefined && number > 0) {
      void this.reports.sources(reported.uri).then((sources) => {
        if (this.shown === reported) {
          this.tree.message = refusals(sources);
        }
      });
    }
  }
}

const COLLAPSED = {
  cluster: vscode.TreeItemCollapsibleState.Expanded,
  revision: vscode.TreeItemCollapsibleState.Collapsed,
  hunk: vscode.TreeItemCollapsibleState.None,
};

/** What sources found and did not take, in a line. */
function refusals(sources: SourcesResult | undefined): string {
  const all = sources?.sources.flatMap(({ refused }) => refused) ?? [];
  const first = all[0];
  if (first === undefined) {
    return "";
  }
  const more = all.length > 1 ? ` (and ${all.length - 1} more: Excise: Print Debug Information)` : "";
  return `Not taken: ${plain(first.id, 40)}: ${plain(first.reason, 120)}${more}`;
}

/** Lines of text: nothing in them is Markdown, a link or an icon. */
function tooltip(lines: readonly string[]): vscode.MarkdownString {
  const text = new vscode.MarkdownString("", false);
  lines.forEach((line, at) => {
    if (at > 0) {
      text.appendMarkdown("\n\n");
    }
    if (line.includes("\n")) {
      text.appendCodeblock(line);
    } else {
      text.appendText(line);
    }
  });
  return text;
}

/** Reads the document that a report's ranges are in, with line ends as reports have them. */
function textOf(uri: vscode.Uri, report: ReportResult): TextAt {
  const document = opened(uri);
  return ({ start, end }) => {
    if (document?.version !== report.version) {
      return undefined;
    }
    const range = new vscode.Range(start.line, start.character, end.line, end.character);
    return document.getText(range).replace(/\r\n?/g, "\n");
  };
}
