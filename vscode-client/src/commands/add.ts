// Adding revisions by hand: files, branches, patches, the clipboard.
import * as path from "node:path";
import * as vscode from "vscode";
import { repositoryOf } from "../git";
import { MOST_BYTES, tooLarge } from "../incoming";
import type { RevisionText } from "../protocol";
import { settings } from "../config";
import { count, message, reason } from "../text";
import { Halt, type Parts, documentOf } from "./context";

type Found = RevisionText | { readonly id: string; readonly reason: string };

/** Files that the user picks. */
export async function addFromFile(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  const files = await vscode.window.showOpenDialog({
    canSelectMany: true,
    title: `Revisions of ${nameOf(uri)}`,
    openLabel: "Add",
    ...beside(uri),
  });
  await add(parts, uri, await Promise.all((files ?? []).map((file) => read(file, uri))));
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
  await add(parts, uri, await Promise.all(others.map((file) => read(file, uri))));
}

/** The file at branches that the user picks. */
export async function addFromBranch(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  const repository = await repositoryOf(uri);
  if (typeof repository === "string") {
    throw new Halt(repository);
  }
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
  await add(parts, uri, await Promise.all(texts));
}

/** The result of a patch on the document's saved text. */
export async function addFromPatch(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  const files = await vscode.window.showOpenDialog({
    canSelectMany: true,
    title: `Patches of ${nameOf(uri)}`,
    filters: { Patches: ["patch", "diff", "eml", "mbox"], "All files": ["*"] },
    openLabel: "Add",
    ...beside(uri),
  });
  const patched = (files ?? []).map(async (file): Promise<Found> => {
    const id = `patch:${nameOf(file)}`;
    try {
      const { text, notes } = await parts.revisions.patched(uri, await textOf(file));
      return { id, text, label: notes };
    } catch (error) {
      return { id, reason: reason(error) };
    }
  });
  await add(parts, uri, await Promise.all(patched));
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
export async function read(file: vscode.Uri, of: vscode.Uri): Promise<Found> {
  const id = `file:${path.posix.relative(path.posix.dirname(of.path), file.path)}`;
  try {
    return { id, text: await textOf(file) };
  } catch (error) {
    return { id, reason: reason(error) };
  }
}

/** Add what was found; say what was refused. */
export async function add(parts: Parts, uri: vscode.Uri, found: readonly Found[]): Promise<void> {
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

function nameOf(uri: vscode.Uri): string {
  return path.posix.basename(uri.path);
}

/** Where a dialog starts: beside the document. */
function beside(uri: vscode.Uri): { defaultUri?: vscode.Uri } {
  return uri.scheme === "file" ? { defaultUri: vscode.Uri.joinPath(uri, "..") } : {};
}
