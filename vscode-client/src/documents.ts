// Which document a command or the view is about.
import * as vscode from "vscode";

/** The documents that are sent to the server. */
export const DOCUMENTS = [{ scheme: "file" }, { scheme: "untitled" }];

/** Whether a document can have revisions: a file or an unsaved one. */
export function isSource(uri: vscode.Uri): boolean {
  return DOCUMENTS.some(({ scheme }) => scheme === uri.scheme);
}

/** The document in view, or, in a comparison, the one that was in view before. */
export class CurrentDocument implements vscode.Disposable {
  private shown: vscode.Uri | undefined;
  private readonly changed = new vscode.EventEmitter<vscode.Uri | undefined>();
  private readonly listening: vscode.Disposable;
  readonly onDidChange = this.changed.event;

  constructor() {
    this.listening = vscode.Disposable.from(
      vscode.window.onDidChangeActiveTextEditor((editor) => this.look(editor)),
      vscode.workspace.onDidCloseTextDocument((document) => this.closed(document)),
      this.changed,
    );
    this.look(vscode.window.activeTextEditor);
  }

  get uri(): vscode.Uri | undefined {
    return this.shown;
  }

  /** Show another document, which need not be open. */
  show(uri: vscode.Uri | undefined): void {
    if (this.shown?.toString() !== uri?.toString()) {
      this.shown = uri;
      this.changed.fire(uri);
    }
  }

  dispose(): void {
    this.listening.dispose();
  }

  private look(editor: vscode.TextEditor | undefined): void {
    if (editor !== undefined && isSource(editor.document.uri)) {
      this.show(editor.document.uri);
    }
  }

  private closed(document: vscode.TextDocument): void {
    const visible = vscode.window.visibleTextEditors.some((editor) => isSource(editor.document.uri));
    if (document.uri.toString() === this.shown?.toString() && !visible) {
      this.show(undefined);
    }
  }
}

/** An open document of a URI, as the editor holds it now. */
export function opened(uri: vscode.Uri): vscode.TextDocument | undefined {
  const wanted = uri.toString();
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === wanted);
}

/** The argument of a command from a menu: a URI, a resource of source control, an editor, or nothing. */
export function uriOf(argument: unknown): vscode.Uri | undefined {
  if (argument instanceof vscode.Uri) {
    return argument;
  }
  if (typeof argument !== "object" || argument === null) {
    return undefined;
  }
  const { uri, resourceUri } = argument as { uri?: unknown; resourceUri?: unknown };
  if (typeof uri === "string") {
    return vscode.Uri.parse(uri, true);
  }
  return [uri, resourceUri].find((item): item is vscode.Uri => item instanceof vscode.Uri);
}
