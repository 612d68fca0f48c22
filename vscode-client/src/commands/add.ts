// Adding candidates by hand: from files, folders, git.
import * as path from "node:path";
import * as vscode from "vscode";
import { settings } from "../config";
import { documentOf, nameOf } from "../documents";
import type { Parts } from "../parts";
import { MOST_BYTES, type Unread } from "../revisions";
import { Halt, count, message } from "../text";
import { asked, choice, chosen, folderOf } from "./choose";

const WAYS = {
  files: ["$(file-add) From Files...", "files like this one"],
  folder: ["$(folder) From a Folder...", "one that began as a copy of this: its files that differ"],
  git: ["$(git-branch) From a Branch, Request or Commit...", "origin/topic, #12, v1..v2: all that it changes"],
} as const;

/** Folders of a copy that are no candidate's, how many files of one may differ, and how many there may be. */
const LEFT_OUT = /^(\.git|node_modules|\.venv|__pycache__)$/;
const MOST_FILES = 300;
const MOST_READ = 20_000;

/** What a command may name: the way, and the folder or the name in git that the user would be asked for. */
interface Argument {
  readonly way?: unknown;
  readonly from?: unknown;
}

/** Add candidates, of the document in view or of the repository: files selected in the explorer, or in a way that the user picks or an argument names. */
export async function addCandidate(parts: Parts, argument?: unknown, selection?: unknown): Promise<void> {
  if (Array.isArray(selection)) {
    return addSelected(parts, selection as unknown[]);
  }
  const { way } = (argument ?? {}) as Argument;
  const items = (Object.keys(WAYS) as (keyof typeof WAYS)[])
    .filter((name) => name !== "git" || vscode.workspace.isTrusted)
    .map((name) => ({ name, label: WAYS[name][0], detail: WAYS[name][1] }));
  const { name } = items.find((item) => item.name === way) ?? (await choice(items, "Add a candidate"));
  await { files: fromFiles, folder: fromFolder, git: fromGit }[name](parts, argument);
}

/** Files that the user picks, beside the document at first. */
async function fromFiles(parts: Parts, argument: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  const beside = uri.scheme === "file" ? { defaultUri: vscode.Uri.joinPath(uri, "..") } : {};
  const options = { canSelectMany: true, title: `Candidates for ${nameOf(uri)}`, openLabel: "Add", ...beside };
  const files = (await vscode.window.showOpenDialog(options)) ?? [];
  await add(parts, uri, files.map((file) => fileRevision(file, uri)));
}

/** Files selected in the explorer, for the document in view. */
async function addSelected(parts: Parts, selection: readonly unknown[]): Promise<void> {
  const uri = documentOf(parts);
  const files = selection.filter((item): item is vscode.Uri => item instanceof vscode.Uri);
  const others = files.filter((file) => file.toString() !== uri.toString());
  if (others.length === 0) {
    throw new Halt(`${nameOf(uri)} is the document itself; select its candidates`);
  }
  await add(parts, uri, others.map((file) => fileRevision(file, uri)));
}

/** What git has under a name: from now on a candidate of this workspace. */
async function fromGit(parts: Parts, argument: unknown): Promise<void> {
  const { from } = (argument ?? {}) as Argument;
  const uri = folderOf(parts).toString();
  const options = { title: "Add what git has under a name", prompt: "Nothing is fetched", placeHolder: "origin/topic, #12, v1.2, main..topic" };
  const name = typeof from === "string" ? from : await asked(options);
  const { rejected } = await parts.supervisor.request("excise/candidates", { uri, git: [name] });
  const refused = rejected.find(({ id }) => id === "git");
  if (refused !== undefined) {
    throw new Halt(refused.reason);
  }
  await parts.bootstrap.addToGit(name);
  await parts.supervisor.connection?.settingsChanged();
  parts.candidates.look();
}

/** Every file of a folder that differs here, as one candidate. */
async function fromFolder(parts: Parts, argument: unknown): Promise<void> {
  const { from } = (argument ?? {}) as Argument;
  const base = folderOf(parts);
  const options = { canSelectFolders: true, canSelectFiles: false, title: `A folder that began as a copy of ${nameOf(base)}`, openLabel: "Add" };
  const folder = from instanceof vscode.Uri ? from : chosen((await vscode.window.showOpenDialog(options))?.[0]);
  const changed: [vscode.Uri, Unread][] = [];
  let created = 0;
  for (const file of await filesBelow(folder)) {
    const own = vscode.Uri.joinPath(base, path.posix.relative(folder.path, file.path));
    const [before, text] = await Promise.all([own, file].map((one) => textOf(one).catch(() => undefined)));
    if (text === undefined || text === before || (await vscode.workspace.fs.readFile(file)).includes(0)) {
      continue;
    }
    if (before === undefined) {
      created += 1; // nothing to compare it with
    } else {
      changed.push([own, { id: `folder:${nameOf(folder)}`, read: () => Promise.resolve({ text, label: nameOf(folder) }) }]);
    }
    if (changed.length > MOST_FILES) {
      throw new Halt(`over ${MOST_FILES} files of ${nameOf(folder)} are not as they are here`);
    }
  }
  if (created > 0) {
    void vscode.window.showInformationMessage(`Excise: ${count(created, "new file")} of ${message(nameOf(folder))} not compared: not here before.`);
  }
  if (changed.length === 0) {
    throw new Halt(`${nameOf(folder)} has no other text of a file that is here`);
  }
  for (const [own, revision] of changed) {
    await add(parts, own, [revision]);
  }
  parts.candidates.now();
}

/** The files of a folder and of those in it; no link is followed. */
async function filesBelow(folder: vscode.Uri): Promise<vscode.Uri[]> {
  const files: vscode.Uri[] = [];
  const folders = [folder];
  for (const each of folders) {
    for (const [name, type] of await vscode.workspace.fs.readDirectory(each)) {
      if (type === vscode.FileType.Directory && !LEFT_OUT.test(name)) {
        folders.push(vscode.Uri.joinPath(each, name));
      } else if (type === vscode.FileType.File) {
        files.push(vscode.Uri.joinPath(each, name));
      }
    }
    if (folders.length + files.length > MOST_READ) {
      throw new Halt(`${nameOf(folder)} has over ${MOST_READ} files`);
    }
  }
  return files;
}

/** A file of the user's choice as a candidate, with the editor's own way to decode it. */
function fileRevision(file: vscode.Uri, of: vscode.Uri): Unread {
  const id = `file:${path.posix.relative(path.posix.dirname(of.path), file.path)}`;
  const label = nameOf(file).replace(`${nameOf(of)}.`, "");
  return { id, read: async () => ({ text: await textOf(file), label }) };
}

/** Add what was chosen; say what was refused. */
async function add(parts: Parts, uri: vscode.Uri, revisions: readonly Unread[]): Promise<void> {
  if (revisions.length === 0) {
    return;
  }
  const { accepted, rejected } = await parts.revisions.add(uri, revisions);
  rejected.forEach((item) => parts.log.warn(`${item.id}: ${item.reason}`));
  const [first] = rejected;
  const words = count(accepted.length, "candidate");
  added(parts, uri, words, first === undefined);
  if (first !== undefined) {
    const more = rejected.length > 1 ? ` (and ${rejected.length - 1} more, in the log)` : "";
    throw new Halt(`${words} added; ${first.id} was not: ${first.reason}${more}`);
  }
}

/** Show the document that has more revisions now, and say so if the user wants to be told of what went well. */
function added(parts: Parts, uri: vscode.Uri, what: string, well: boolean): void {
  parts.current.show(uri);
  parts.reports.forget(uri);
  if (well && settings().showNotifications === "always") {
    void vscode.window.showInformationMessage(`Excise: ${what} of ${message(nameOf(uri))} added.`);
  }
}

async function textOf(file: vscode.Uri): Promise<string> {
  const { size, type } = await vscode.workspace.fs.stat(file);
  if ((type & vscode.FileType.File) === 0) {
    throw new Halt("it is not a file");
  }
  // Twice the limit for UTF-16; the text itself is measured when it is sent.
  if (size > 2 * MOST_BYTES) {
    throw new Halt(`skipped: ${Math.round(size / 1e6)} MB, limit ${MOST_BYTES / 1e6} MB`);
  }
  return vscode.workspace.decode(await vscode.workspace.fs.readFile(file), { uri: file });
}
