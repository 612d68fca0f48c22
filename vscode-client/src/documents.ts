// Which document a command or the view is about.
import * as vscode from "vscode";
import type { Range } from "vscode-languageclient";
import type { Parts } from "./parts";
import { Halt } from "./text";

/** The documents that are sent to the server. */
export const DOCUMENTS = [{ scheme: "file" }, { scheme: "untitled" }];

/** Whether a document can have revisions: a file or an unsaved one. */
export function isSource(uri: vscode.Uri): boolean {
  return DOCUMENTS.some(({ scheme }) => scheme === uri.scheme);
}

/** The document in view, or, in a comparison, the one that was in view before. */
export class CurrentDocument {
  private shown: vscode.Uri | undefined;
  private readonly changed = new vscode.EventEmitter<vscode.Uri | undefined>();
  readonly onDidChange = this.changed.event;

  constructor({ subscriptions }: Parts) {
    const look = (editor: vscode.TextEditor | undefined): void => {
      if (editor !== undefined && isSource(editor.document.uri)) {
        this.show(editor.document.uri);
      }
    };
    // No text editor is active beside a page, or after a reload where one was: what is visible is looked at.
    const lookAround = (): void => {
      if (this.shown === undefined) {
        look(vscode.window.visibleTextEditors.find(({ document }) => isSource(document.uri)));
      }
    };
    subscriptions.push(
      this.changed,
      vscode.window.onDidChangeActiveTextEditor(look),
      vscode.window.onDidChangeVisibleTextEditors(lookAround),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        const visible = vscode.window.visibleTextEditors.some((editor) => isSource(editor.document.uri));
        if (this.is(uri) && !visible) {
          this.show(undefined);
        }
      }),
    );
    look(vscode.window.activeTextEditor);
    lookAround();
  }

  get uri(): vscode.Uri | undefined {
    return this.shown;
  }

  is(uri: vscode.Uri | undefined): boolean {
    return this.shown?.toString() === uri?.toString();
  }

  /** Show another document, which need not be open. */
  show(uri: vscode.Uri | undefined): void {
    if (!this.is(uri)) {
      this.shown = uri;
      this.changed.fire(uri);
    }
  }
}

/** An open document of a URI, as the editor holds it now. */
export function opened(uri: vscode.Uri): vscode.TextDocument | undefined {
  const wanted = uri.toString();
  return vscode.workspace.textDocuments.find((document) => document.uri.toString() === wanted);
}

/** Show a document, so that the server knows it and the user sees what happens. */
export async function show(uri: vscode.Uri): Promise<vscode.TextEditor> {
  const open = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
  return vscode.window.showTextDocument(uri, open?.viewColumn === undefined ? {} : { viewColumn: open.viewColumn });
}

/** Put the cursor where a range begins, and show it. */
export function reveal(editor: vscode.TextEditor, range: vscode.Range): void {
  editor.selection = new vscode.Selection(range.start, range.start);
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** The name of a document's file. */
export function nameOf({ path }: vscode.Uri): string {
  return path.split("/").at(-1) ?? "";
}

/** A range of the protocol, as the editor has them. */
export function rangeOf({ start, end }: Range): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

/** The document of a command: what the menu handed over, else what the user looks at. */
export function documentOf(parts: Parts, argument?: unknown): vscode.Uri {
  const uri = given(argument) ?? parts.current.uri;
  if (uri === undefined) {
    throw new Halt("open the file whose candidates you want to see first");
  }
  if (!isSource(uri)) {
    throw new Halt(`candidates of ${uri.scheme}: documents are not supported, only of files on disk and unsaved ones`);
  }
  return uri;
}

/** The argument of a command from a menu: a URI, a resource of source control, an editor, or nothing. */
function given(argument: unknown): vscode.Uri | undefined {
  if (argument instanceof vscode.Uri) {
    return argument;
  }
  const { uri, resourceUri } = (argument ?? {}) as { uri?: unknown; resourceUri?: unknown };
  if (typeof uri === "string") {
    return vscode.Uri.parse(uri, true);
  }
  return [uri, resourceUri].find((item): item is vscode.Uri => item instanceof vscode.Uri);
}
