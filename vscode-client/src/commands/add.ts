// Adding revisions of a document by hand, from files, branches, worktrees, patches, the clipboard; and removing one.
import * as path from "node:path";
import * as vscode from "vscode";
import { joined, size } from "../candidates/words";
import { settings } from "../config";
import { documentOf, nameOf } from "../documents";
import { MOST_BYTES, tooLarge } from "../incoming";
import type { Parts } from "../parts";
import type { Rejection, RevisionText, WorktreesDocument } from "../protocol";
import { Halt, count, message, reason } from "../text";
import { revisionOf } from "./choose";

type Found = RevisionText | Rejection;

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

/** Files that the user picks. */
export async function addFromFile(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  const files = await pickFiles(uri, `Revisions of ${nameOf(uri)}`);
  await add(parts, uri, files.map((file) => read(file, uri)));
}

/** Files selected in the explorer, as revisions of the document in view. */
export async function addSelected(parts: Parts, first?: unknown, all?: unknown): Promise<void> {
  const uri = documentOf(parts);
  const selected = Array.isArray(all) && all.length > 0 ? (all as unknown[]) : [first];
  const files = selected.filter((item): item is vscode.Uri => item instanceof vscode.Uri);
  const others = files.filter((file) => file.toString() !== uri.toString());
  if (others.length === 0) {
    throw new Halt(`${nameOf(uri)} is the document itself; select its revisions`);
  }
  await add(parts, uri, others.map((file) => read(file, uri)));
}

/** The file at branches that the user picks. */
export async function addFromBranch(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  const repository = await repositoryOf(uri);
  const refs = await repository.getRefs({ sort: "committerdate" });
  const items = refs.flatMap(({ name, commit }) =>
    name === undefined ? [] : [{ name, label: message(name), description: commit?.slice(0, 10) ?? "" }],
  );
  const title = `Branches and tags with a revision of ${message(nameOf(uri))}`;
  const chosen = await vscode.window.showQuickPick(items, { title, canPickMany: true });
  const texts = (chosen ?? []).map(async ({ name }): Promise<Found> => {
    const id = `branch:${name}`;
    return repository.show(name, uri.fsPath).then(
      (text) => ({ id, text, label: name }),
      () => ({ id, reason: "it does not have this file" }),
    );
  });
  await add(parts, uri, texts);
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

/** The current document as it lies in worktrees that the user picks. */
export async function addFromWorktree(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  if (uri.scheme !== "file") {
    throw new Halt("only a file on disk can lie in another worktree");
  }
  const result = await scored(parts, vscode.Uri.joinPath(uri, ".."));
  const inside = path.relative(result.repository, uri.fsPath);
  const folders = result.ranking.filter(({ folder }) => folder !== null && folder !== result.repository);
  if (inside.startsWith("..") || folders.length === 0) {
    throw new Halt("no other worktree of this repository has changed anything");
  }
  const items = folders.map((work) => ({
    work,
    label: message(work.label, 60),
    description: joined(...size(work)),
    detail: joined(...work.notes.map((note) => message(note, 80))),
  }));
  const title = `Worktrees with a revision of ${message(path.basename(inside))}`;
  const chosen = await vscode.window.showQuickPick(items, { title, canPickMany: true });
  const files = (chosen ?? []).map(async ({ work }) => {
    const file = vscode.Uri.file(path.join(work.folder ?? "", inside));
    // The same id as in the server's own search, whose result the user's choice replaces.
    return { ...(await read(file, uri)), id: work.id };
  });
  await add(parts, uri, files);
}

async function scored(parts: Parts, folder: vscode.Uri): Promise<WorktreesDocument> {
  if (!vscode.workspace.isTrusted) {
    throw new Halt("worktrees are read with git, which is not used in a workspace that is not trusted");
  }
  const options = { location: vscode.ProgressLocation.Notification, title: "Excise: reading worktrees", cancellable: true };
  return vscode.window.withProgress(options, async (_progress, token) => {
    try {
      return await parts.supervisor.request("excise/worktrees", { uri: folder.toString() }, token);
    } catch (error) {
      throw token.isCancellationRequested ? new vscode.CancellationError() : error;
    }
  });
}

/** The result of a patch on the document's saved text. */
export async function addFromPatch(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  const filters = { Patches: ["patch", "diff", "eml", "mbox"], "All files": ["*"] };
  const files = await pickFiles(uri, `Patches of ${nameOf(uri)}`, { filters });
  const patched = files.map(async (file): Promise<Found> => {
    const id = `patch:${nameOf(file)}`;
    try {
      const { text, notes } = await parts.revisions.patched(uri, await textOf(file));
      return { id, text, label: notes };
    } catch (error) {
      return { id, reason: reason(error) };
    }
  });
  await add(parts, uri, patched);
}

/** The copied text: a whole file, alone or in a fence, or a patch. The server refuses anything else. */
export async function addFromClipboard(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  const copied = await vscode.env.clipboard.readText();
  if (copied.trim() === "") {
    throw new Halt("the clipboard holds no text");
  }
  const large = tooLarge(copied);
  if (large !== "") {
    throw new Halt(`not added: ${large}`);
  }
  const { id, notes } = await parts.revisions.paste(uri, copied);
  parts.current.show(uri);
  parts.reports.forget(uri);
  const remarks = notes.map((note) => message(note)).join("; ");
  if (remarks !== "" || settings().showNotifications === "always") {
    const name = `${message(id, 60)} of ${message(nameOf(uri))}`;
    void vscode.window.showInformationMessage(`Excise: ${name} added${remarks === "" ? "" : `: ${remarks}`}.`);
  }
}

/** A file of the user's choice as a revision, with the editor's own way to decode it. */
async function read(file: vscode.Uri, of: vscode.Uri): Promise<Found> {
  const id = `file:${path.posix.relative(path.posix.dirname(of.path), file.path)}`;
  try {
    return { id, text: await textOf(file) };
  } catch (error) {
    return { id, reason: reason(error) };
  }
}

/** Add what was found; say what was refused. */
async function add(parts: Parts, uri: vscode.Uri, finding: readonly Promise<Found>[]): Promise<void> {
  const found = await Promise.all(finding);
  const texts = found.filter((item): item is RevisionText => "text" in item);
  const unusable = found.filter((item) => "reason" in item);
  if (found.length === 0) {
    return;
  }
  const { accepted, rejected } = await parts.revisions.add(uri, texts);
  const all = [...unusable, ...rejected];
  all.forEach((item) => parts.log.warn(`${item.id}: ${item.reason}`));
  parts.current.show(uri);
  parts.reports.forget(uri);
  const [first] = all;
  if (first !== undefined) {
    const more = all.length > 1 ? ` (and ${all.length - 1} more, in the log)` : "";
    throw new Halt(`${count(accepted.length, "revision")} added; ${first.id} was not: ${first.reason}${more}`);
  }
  if (settings().showNotifications === "always") {
    const text = `Excise: ${count(accepted.length, "revision")} of ${message(nameOf(uri))} added.`;
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
  const text = await vscode.workspace.decode(await vscode.workspace.fs.readFile(file), { uri: file });
  const large = tooLarge(text);
  if (large !== "") {
    throw new Halt(large);
  }
  return text;
}

/** Files that the user picks, beside the document at first. */
async function pickFiles(uri: vscode.Uri, title: string, more: vscode.OpenDialogOptions = {}): Promise<vscode.Uri[]> {
  const beside = uri.scheme === "file" ? { defaultUri: vscode.Uri.joinPath(uri, "..") } : {};
  const options = { canSelectMany: true, title, openLabel: "Add", ...beside, ...more };
  return (await vscode.window.showOpenDialog(options)) ?? [];
}

/** Take a revision back: the file, branch or worktree that it came from stays as it is. */
export async function removeRevision(parts: Parts, argument?: unknown): Promise<void> {
  const { uri, id } = await revisionOf(parts, argument, "Remove a revision from the comparison");
  await parts.revisions.remove(uri, [id]);
  parts.reports.forget(uri);
}
