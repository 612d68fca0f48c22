// Taking: the files that the server composes become one edit of the workspace, undone in one step, or documents to compare.
import * as vscode from "vscode";
import type { TextEdit } from "vscode-languageclient";
import { confirmed } from "./commands/choose";
import { opened, rangeOf } from "./documents";
import type { Parts } from "./parts";
import type { ContentEntry, TakeChoice, TakenDocument } from "./protocol";
import type { Supervisor } from "./supervisor";
import { Halt, count, message, plain, reason } from "./text";

/** A changed file: its bytes before and after, and what the server adds for an editor (docs/lsp-extensions.md). */
export interface Content extends ContentEntry {
  readonly uri: string;
  readonly old_uri: string;
  readonly edits: readonly TextEdit[] | null;
  readonly version: number | null;
  readonly problem: string;
}

interface Taken extends TakenDocument {
  readonly contents: readonly Content[];
}

/** What is written of an answer: the files, and what to know of them. */
export type Written = Pick<Taken, "contents" | "notes">;

const EXECUTABLE = "100755";

/** Put the chosen parts of a folder's candidates together, without changing anything; to be looked at, also a broken mix. */
export async function putTogether(supervisor: Supervisor, folder: vscode.Uri, choices: readonly TakeChoice[], anyway = true): Promise<Taken> {
  return (await supervisor.request("excise/take", { uri: folder.toString(), choices, anyway })) as Taken;
}

/** Do what the server refuses where the parts cannot work together, if the user wants it all the same. */
export async function unlessBroken<T>(take: (anyway: boolean) => Promise<T>): Promise<T> {
  try {
    return await take(false);
  } catch (error) {
    const { data, message: why } = error as { data?: { kind?: unknown }; message: string };
    if (data?.kind !== "brokenMix") {
      throw error;
    }
    const detail = "One undo takes it back.";
    await confirmed(message(why, 400), detail, "Take It Anyway");
    return take(true);
  }
}

/** Take the chosen parts; `name` is the label on the undo stack. */
export async function takeChoices(parts: Parts, folder: vscode.Uri, choices: readonly TakeChoice[], name: string): Promise<void> {
  let agreed = false;
  const first = await unlessBroken((anyway) => {
    agreed = anyway;
    return putTogether(parts.supervisor, folder, choices, anyway);
  });
  const written = await write(first, () => putTogether(parts.supervisor, folder, choices, agreed), name);
  // Who takes a whole candidate has decided what it leaves alone as well.
  for (const { candidate } of choices.filter(({ hunk }) => (hunk ?? null) === null)) {
    const among = parts.candidates.shown?.result?.tasks.find(({ members }) => members.includes(candidate))?.members ?? null;
    await Promise.all(written.map(({ uri }) => decideRest(parts, vscode.Uri.parse(uri), candidate, among)));
  }
  parts.candidates.later();
}

/** The hunks of an open document that a candidate leaves alone are decided, if only those `among` which it was chosen change them. */
export async function decideRest({ supervisor, reviews, log }: Parts, uri: vscode.Uri, candidate: string, among: readonly string[] | null): Promise<void> {
  const document = opened(uri);
  if (document !== undefined) {
    const params = { uri: uri.toString(), version: document.version, candidate, among };
    await supervisor.request("excise/decide", params).catch((error: unknown) => log.debug(reason(error)));
    reviews.forget(uri);
  }
}

/** Make one edit of what the server put together, asked again for files that it had not open. */
export async function write(first: Written, again: () => Promise<Written>, name: string): Promise<readonly Content[]> {
  // Open files whose text will change, so that the edits are of the editor's text.
  const edited = first.contents.filter(({ edits }) => edits !== null);
  await Promise.all(edited.map(({ old_uri }) => vscode.workspace.openTextDocument(vscode.Uri.parse(old_uri))));
  // The edits of a file that the server had not open are of the disk: now they are of the editor's text.
  const unknown = edited.some(({ version }) => version === null);
  const { contents, notes } = unknown ? await again() : first;
  const problem = contents.find((content) => content.problem !== "");
  if (problem !== undefined) {
    throw new Halt(`nothing was taken: ${plain(problem.path, 100)}: ${problem.problem}`);
  }
  if (contents.length === 0) {
    throw new Halt("there is nothing to take: the files are so already");
  }
  const edit = new vscode.WorkspaceEdit();
  contents.forEach((content) => enter(edit, content, { label: message(name, 60), needsConfirmation: false }));
  if (!(await vscode.workspace.applyEdit(edit))) {
    throw new Halt("nothing was taken: the editor refused the edit");
  }
  // What the edit could not do, and other notes on the result. Nothing else interrupts.
  const modes = contents
    .filter(({ mode, old_mode, status }) => (status === "created" ? mode === EXECUTABLE : mode !== null && mode !== old_mode))
    .map(({ path, mode }) => `the editor cannot set the mode of ${path}: chmod ${mode === EXECUTABLE ? "+x" : "-x"}`);
  if (notes.length + modes.length > 0) {
    void vscode.window.showWarningMessage(`Excise: ${[...notes, ...modes].map((note) => message(note)).join("; ")}`);
  }
  const done = `$(check) Excise: ${message(name, 60)}: ${count(contents.length, "file")}, not saved yet`;
  vscode.window.setStatusBarMessage(done, 6000);
  return contents;
}

function enter(edit: vscode.WorkspaceEdit, content: Content, note: vscode.WorkspaceEditEntryMetadata): void {
  const [uri, old] = [vscode.Uri.parse(content.uri), vscode.Uri.parse(content.old_uri)];
  if (content.new === null) {
    edit.deleteFile(old, {}, note);
    return;
  }
  const contents = Buffer.from(content.new, "base64");
  if (content.old === null) {
    edit.createFile(uri, { contents }, note);
    return;
  }
  if (uri.toString() !== old.toString()) {
    // First: edits under the former name are lost if no tab shows the file.
    edit.renameFile(old, uri, {}, note);
  }
  if (content.edits === null) {
    if (content.old !== content.new) {
      edit.createFile(uri, { contents, overwrite: true }, note);
    }
    return;
  }
  if (opened(old)?.version !== content.version) {
    throw new Halt(`nothing was taken: ${plain(content.old_path, 100)} has changed meanwhile; try again`);
  }
  content.edits.forEach(({ range, newText }) => edit.replace(uri, rangeOf(range), newText, note));
}

/** Files of candidates are read-only documents of this scheme, which say in their query what they show. */
const SCHEME = "excise-candidate";

interface Address {
  readonly folder: string;
  readonly candidate: string;
  readonly path: string;
  readonly side: "old" | "new";
}

export class Contents implements vscode.TextDocumentContentProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly known = new Map<string, string>();
  readonly onDidChange = this.changed.event;

  constructor(private readonly parts: Parts) {
    parts.subscriptions.push(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.known.delete(uri.toString())),
      this.changed,
    );
  }

  /** The document of a file of a candidate, or of the origin that it changes. */
  put(folder: vscode.Uri, candidate: string, content: Content, side: "old" | "new"): vscode.Uri {
    const address: Address = { folder: folder.toString(), candidate, path: content.path, side };
    const there = vscode.Uri.parse(side === "old" ? content.old_uri : content.uri);
    const uri = there.with({ scheme: SCHEME, query: JSON.stringify(address) });
    this.known.set(uri.toString(), textOf(content, side));
    this.changed.fire(uri);
    return uri;
  }

  /** Show a page that the server made, as plain text. */
  async show(name: string, text: string, language: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}` });
    this.known.set(uri.toString(), text);
    this.changed.fire(uri);
    const document = await vscode.languages.setTextDocumentLanguage(await vscode.workspace.openTextDocument(uri), language);
    // Where there is room for its lines, not in the column of the hunk editor.
    await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
  }

  /** The server is asked for documents that were not put here, as after a window was reloaded. */
  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const text = this.known.get(uri.toString());
    if (text !== undefined || uri.query === "") {
      return text ?? "Ask for this page again.\n";
    }
    const { folder, candidate, path, side } = JSON.parse(uri.query) as Address;
    const choices = [{ candidate, path, conflicts: true }];
    const { contents } = await putTogether(this.parts.supervisor, vscode.Uri.parse(folder), choices);
    const content = contents.find((entry) => entry.path === path);
    return content === undefined ? "" : textOf(content, side);
  }
}

function textOf(content: Content, side: "old" | "new"): string {
  const data = content[side];
  const bytes = Buffer.from(data ?? "", "base64");
  return data === null || content.is_text ? bytes.toString("utf8").replace(/^\ufeff/, "") : `(${bytes.length} bytes that are not text)\n`;
}
