// A document as it lies in other worktrees, added by hand.
import * as path from "node:path";
import * as vscode from "vscode";
import { joined, size } from "../candidates/words";
import { message } from "../text";
import type { WorktreesResult } from "../worktrees";
import { add, read } from "./add";
import { Halt, type Parts, documentOf } from "./context";

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
    detail: work.notes.map((note) => message(note, 80)).join(" · "),
  }));
  const title = `Worktrees with a revision of ${message(path.basename(inside))}`;
  const chosen = await vscode.window.showQuickPick(items, { title, canPickMany: true });
  const files = (chosen ?? []).map(async ({ work }) => {
    const file = vscode.Uri.file(path.join(work.folder ?? "", inside));
    // The same id as in the server's own search, whose result the user's choice replaces.
    return { ...(await read(file, uri)), id: work.id };
  });
  await add(parts, uri, await Promise.all(files));
}

async function scored(parts: Parts, folder: vscode.Uri): Promise<WorktreesResult> {
  if (!vscode.workspace.isTrusted) {
    throw new Halt("worktrees are read with git, which is not used in a workspace that is not trusted");
  }
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: "Excise: reading worktrees",
    cancellable: true,
  };
  return vscode.window.withProgress(options, async (_progress, token) => {
    try {
      return await parts.supervisor.request("excise/worktrees", { uri: folder.toString() }, token);
    } catch (error) {
      throw token.isCancellationRequested ? new vscode.CancellationError() : error;
    }
  });
}
