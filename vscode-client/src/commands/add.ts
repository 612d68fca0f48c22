// Adding candidates of a document by hand: from the clipboard, files, patches, branches.
import * as path from "node:path";
import * as vscode from "vscode";
import { settings } from "../config";
import { documentOf, nameOf } from "../documents";
import type { Parts } from "../parts";
import { MOST_BYTES, type Readable, type Unread, tooLarge } from "../revisions";
import { Halt, count, message } from "../text";
import { PATCHES } from "../triggers";
import { choice, pickSome } from "./choose";

/** The built-in Git extension, as far as it is asked. */
interface Git {
  readonly enabled: boolean;
  getAPI(version: 1): {
    getRepository(uri: vscode.Uri): Repository | null;
    openRepository?(root: vscode.Uri): Promise<Repository | null>;
  };
}

interface Repository {
  getRefs(query: { sort?: "committerdate" }): Promise<{ readonly name?: string; readonly commit?: string }[]>;
  show(ref: string, path: string): Promise<string>;
}

const WAYS = {
  clipboard: ["$(clippy) From the Clipboard", "a whole file, alone or in a fence, or a patch"],
  files: ["$(file-add) From Files or Patches...", "files like this one, or patches of it"],
  branches: ["$(git-branch) From Branches or Tags...", "this file as it is there"],
} as const;

/** Add candidates of the document in view: files selected in the explorer, or in a way that the user picks or an argument names. */
export async function addCandidate(parts: Parts, argument?: unknown, selection?: unknown): Promise<void> {
  if (Array.isArray(selection)) {
    return addSelected(parts, selection as unknown[]);
  }
  const uri = documentOf(parts, argument);
  const { way } = (argument ?? {}) as { way?: unknown };
  const items = (Object.keys(WAYS) as (keyof typeof WAYS)[])
    .filter((name) => name !== "branches" || vscode.workspace.isTrusted)
    .map((name) => ({ name, label: WAYS[name][0], detail: WAYS[name][1] }));
  const { name } = items.find((item) => item.name === way) ?? (await choice(items, `Add a candidate for ${message(nameOf(uri), 60)}`));
  await { clipboard: fromClipboard, files: fromFiles, branches: fromBranches }[name](parts, uri);
}

/** Files and patches that the user picks, beside the document at first. */
async function fromFiles(parts: Parts, uri: vscode.Uri): Promise<void> {
  const beside = uri.scheme === "file" ? { defaultUri: vscode.Uri.joinPath(uri, "..") } : {};
  const options = { canSelectMany: true, title: `Candidates for ${nameOf(uri)}, or patches`, openLabel: "Add", ...beside };
  const files = (await vscode.window.showOpenDialog(options)) ?? [];
  await add(parts, uri, files.map((file) => fileRevision(parts, file, uri)));
}

/** Files selected in the explorer, for the document in view. */
async function addSelected(parts: Parts, selection: readonly unknown[]): Promise<void> {
  const uri = documentOf(parts);
  const files = selection.filter((item): item is vscode.Uri => item instanceof vscode.Uri);
  const others = files.filter((file) => file.toString() !== uri.toString());
  if (others.length === 0) {
    throw new Halt(`${nameOf(uri)} is the document itself; select its candidates`);
  }
  await add(parts, uri, others.map((file) => fileRevision(parts, file, uri)));
}

/** The file at branches that the user picks. */
async function fromBranches(parts: Parts, uri: vscode.Uri): Promise<void> {
  const repository = await repositoryOf(uri);
  const refs = await repository.getRefs({ sort: "committerdate" });
  const items = refs.flatMap(({ name, commit }) =>
    name === undefined ? [] : [{ name, label: message(name), description: commit?.slice(0, 10) ?? "" }],
  );
  const chosen = await pickSome(items, `Branches and tags that have ${message(nameOf(uri))}`);
  const read = async (name: string): Promise<Readable> => {
    const text = await repository.show(name, uri.fsPath).catch(() => {
      throw new Halt("it does not have this file");
    });
    return { text, label: name };
  };
  await add(parts, uri, chosen.map(({ name }) => ({ id: `branch:${name}`, read: () => read(name) })));
}

async function repositoryOf(uri: vscode.Uri): Promise<Repository> {
  if (!vscode.workspace.isTrusted) {
    throw new Halt("branches are read with git, which is not used in a workspace that is not trusted");
  }
  const extension = vscode.extensions.getExtension<Git>("vscode.git");
  if (extension === undefined) {
    throw new Halt("the built-in Git extension is disabled");
  }
  const git = await extension.activate();
  if (!git.enabled) {
    throw new Halt("the built-in Git extension is switched off (git.enabled)");
  }
  const api = git.getAPI(1);
  const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri;
  const repository = api.getRepository(uri) ?? (folder && (await api.openRepository?.(folder)));
  if (repository === undefined || repository === null) {
    throw new Halt(`${nameOf(uri)} is in no repository that the Git extension knows`);
  }
  return repository;
}

/** The copied text: a whole file, alone or in a fence, or a patch. The server refuses anything else. */
async function fromClipboard(parts: Parts, uri: vscode.Uri): Promise<void> {
  const copied = await vscode.env.clipboard.readText();
  if (copied.trim() === "") {
    throw new Halt("the clipboard holds no text");
  }
  const large = tooLarge(copied);
  if (large !== "") {
    throw new Halt(`not added: ${large}`);
  }
  const { id, notes } = await parts.revisions.paste(uri, copied);
  added(parts, uri, message(id, 60), notes);
}

/** A file of the user's choice as a candidate, with the editor's own way to decode it; of a patch, its result on the saved text. */
function fileRevision(parts: Parts, file: vscode.Uri, of: vscode.Uri): Unread {
  if (PATCHES.test(file.path) && !PATCHES.test(of.path)) {
    return { id: `patch:${nameOf(file)}`, read: async () => parts.revisions.patched(of, await textOf(file)) };
  }
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
  added(parts, uri, words, [], first === undefined);
  if (first !== undefined) {
    const more = rejected.length > 1 ? ` (and ${rejected.length - 1} more, in the log)` : "";
    throw new Halt(`${words} added; ${first.id} was not: ${first.reason}${more}`);
  }
}

/** Show the document that has more revisions now, with notes, or if the user wants to be told of what went well. */
function added(parts: Parts, uri: vscode.Uri, what: string, notes: readonly string[], well = true): void {
  parts.current.show(uri);
  parts.reports.forget(uri);
  const remarks = notes.map((note) => message(note)).join("; ");
  if (remarks !== "" || (well && settings().showNotifications === "always")) {
    const text = `Excise: ${what} of ${message(nameOf(uri))} added${remarks === "" ? "" : `: ${remarks}`}.`;
    void vscode.window.showInformationMessage(text);
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
