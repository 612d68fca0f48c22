// Taking: the files that the server composes become one edit of the workspace, undone in one step.
import * as vscode from "vscode";
import { Halt, type Parts } from "../commands/context";
import type { Servers } from "../connection";
import type { TakeChoice } from "../protocol";
import { opened } from "../documents";
import { count, message, plain } from "../text";
import type { BrokenMix, Content, TakeResult } from "./document";

const EXECUTABLE = "100755";

/** Put the chosen parts of a folder's candidates together, without changing anything; to be looked at, also a broken mix. */
export async function putTogether(
  supervisor: Servers,
  folder: vscode.Uri,
  choices: readonly TakeChoice[],
  anyway = true,
): Promise<TakeResult> {
  return supervisor.request("excise/take", { uri: folder.toString(), choices, anyway });
}

/** Do what the server refuses where the parts cannot work together, if the user wants it all the same. */
export async function unlessBroken<T>(take: (anyway: boolean) => Promise<T>): Promise<T> {
  try {
    return await take(false);
  } catch (error) {
    const { data, message: why } = error as { data?: Partial<BrokenMix>; message: string };
    if (data?.kind !== "brokenMix") {
      throw error;
    }
    const yes = "Take It Anyway";
    const detail = "Take the missing parts as well, or take it as it is. One undo takes it back.";
    if ((await vscode.window.showWarningMessage(message(why, 400), { modal: true, detail }, yes)) !== yes) {
      throw new vscode.CancellationError();
    }
    return take(true);
  }
}

/** Take the chosen parts; `name` is the label on the undo stack. */
export async function takeChoices(
  { supervisor }: Parts,
  folder: vscode.Uri,
  choices: readonly TakeChoice[],
  name: string,
): Promise<void> {
  let agreed = false;
  const first = await unlessBroken((anyway) => {
    agreed = anyway;
    return putTogether(supervisor, folder, choices, anyway);
  });
  await Promise.all(first.contents.map(held));
  // The edits of a file that the server had not open are of the disk: now they are of the editor's text.
  const unknown = first.contents.some(({ edits, version }) => edits !== null && version === null);
  const taken = unknown ? await putTogether(supervisor, folder, choices, agreed) : first;
  const problem = taken.contents.find((content) => content.problem !== "");
  if (problem !== undefined) {
    throw new Halt(`nothing was taken: ${plain(problem.path, 100)}: ${problem.problem}`);
  }
  if (taken.contents.length === 0) {
    throw new Halt("there is nothing to take: the files are so already");
  }
  const edit = new vscode.WorkspaceEdit();
  taken.contents.forEach((content) => enter(edit, content, { label: message(name, 60), needsConfirmation: false }));
  if (!(await vscode.workspace.applyEdit(edit))) {
    throw new Halt("nothing was taken: the editor refused the edit");
  }
  say(taken, name);
}

/** Open a file whose text will change, so that the edits are of the editor's text. */
async function held({ edits, old_uri }: Content): Promise<void> {
  if (edits !== null) {
    await vscode.workspace.openTextDocument(vscode.Uri.parse(old_uri));
  }
}

function enter(edit: vscode.WorkspaceEdit, content: Content, note: vscode.WorkspaceEditEntryMetadata): void {
  const uri = vscode.Uri.parse(content.uri);
  const old = vscode.Uri.parse(content.old_uri);
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
  content.edits.forEach(({ range: { start, end }, newText }) => {
    edit.replace(uri, new vscode.Range(start.line, start.character, end.line, end.character), newText, note);
  });
}

/** Tell the user what the edit could not do, and other notes on the result. Nothing else interrupts. */
function say(taken: TakeResult, name: string): void {
  const modes = taken.contents.filter(({ mode, old_mode, status }) =>
    status === "created" ? mode === EXECUTABLE : mode !== null && mode !== old_mode,
  );
  const notes = [
    ...taken.notes,
    ...modes.map(({ path, mode }) => `the editor cannot set the mode of ${path}: chmod ${mode === EXECUTABLE ? "+x" : "-x"}`),
  ];
  if (notes.length > 0) {
    void vscode.window.showWarningMessage(`Excise: ${notes.map((note) => message(note)).join("; ")}`);
  }
  const done = `$(check) Excise: ${message(name, 60)}: ${count(taken.contents.length, "file")}, not saved yet`;
  vscode.window.setStatusBarMessage(done, 6000);
}
