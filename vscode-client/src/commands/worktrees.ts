// Whole worktrees as revisions of one commit: which to look at first, and its files.
import * as path from "node:path";
import * as vscode from "vscode";
import { type Work, type WorktreesResult, summary, works } from "../worktrees";
import { count, message, plain, score } from "../text";
import { add, read } from "./add";
import { compareAll } from "./compare";
import { Halt, type Parts, documentOf } from "./context";

/** Rank the worktrees of the repository; choose one, then a file, and compare its revisions. */
export async function scoreWorktrees(parts: Parts, argument?: unknown): Promise<void> {
  const folder = folderOf(parts, argument);
  const result = await scored(parts, folder);
  const all = works(result);
  if (all.length === 0) {
    throw new Halt(`no other worktree of ${message(path.basename(folder.fsPath))} has changed anything; "git worktree add" makes one for each model`);
  }
  const items = all.map((work) => ({ work, ...lines(work, result.batches.length > 1) }));
  const title = `Worktrees by agreement: ${summary(result)}`;
  const chosen = await vscode.window.showQuickPick(items, { title, matchOnDetail: true });
  if (chosen !== undefined) {
    await openFile(parts, result, chosen.work);
  }
}

/** The current document as it lies in worktrees that the user picks. */
export async function addFromWorktree(parts: Parts, argument?: unknown): Promise<void> {
  const uri = documentOf(parts, argument);
  if (uri.scheme !== "file") {
    throw new Halt("only a file on disk can lie in another worktree");
  }
  const result = await scored(parts, vscode.Uri.joinPath(uri, ".."));
  const inside = path.relative(result.repository, uri.fsPath);
  const folders = works(result).filter(({ folder }) => folder !== null && folder !== result.repository);
  if (inside.startsWith("..") || folders.length === 0) {
    throw new Halt("no other worktree of this repository has changed anything");
  }
  const items = folders.map((work) => ({ work, ...lines(work, result.batches.length > 1) }));
  const title = `Worktrees with a revision of ${message(path.basename(inside))}`;
  const chosen = await vscode.window.showQuickPick(items, { title, canPickMany: true });
  const found = (chosen ?? []).map(async ({ work }) => {
    const file = vscode.Uri.file(path.join(work.folder ?? "", inside));
    // The id that the server's own search gives it: the user's choice takes its place.
    return { ...(await read(file, uri)), id: work.id };
  });
  await add(parts, uri, await Promise.all(found));
}

async function scored(parts: Parts, folder: vscode.Uri): Promise<WorktreesResult> {
  if (!vscode.workspace.isTrusted) {
    throw new Halt("worktrees are read with git, which is not used in a workspace that is not trusted");
  }
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: "Excise: scoring worktrees",
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

async function openFile(parts: Parts, result: WorktreesResult, work: Work): Promise<void> {
  const items = work.files.map((file) => ({
    file,
    label: message(file.path),
    description: `${file.status}, +${file.added} −${file.deleted}`,
    detail: file.facts.map((fact) => message(fact)).join(", "),
  }));
  const title = `${plain(work.label)}: ${count(work.files.length, "file")} changed; choose one to compare`;
  const chosen = await vscode.window.showQuickPick(items, { title });
  if (chosen === undefined) {
    return;
  }
  const uri = vscode.Uri.file(path.join(result.repository, chosen.file.path));
  if (chosen.file.status === "created") {
    const there = vscode.Uri.file(path.join(work.folder ?? result.repository, chosen.file.path));
    await vscode.window.showTextDocument(there);
    return;
  }
  await vscode.window.showTextDocument(uri);
  await compareAll(parts, uri);
}

function lines(work: Work, several: boolean): { label: string; description: string; detail: string } {
  const facts = [
    ...(work.syntax_errors ? ["$(warning) new syntax errors"] : []),
    ...(work.no_op ? ["no change"] : []),
    ...work.notes.map((note) => message(note, 80)),
  ];
  return {
    label: `${work.rank === null ? "" : `#${work.rank} `}${message(work.label, 60)}`,
    description: [
      ...(several ? [`task ${work.batch}`] : []),
      ...(work.agreement === null ? [] : [`agreement ${score(work.agreement)}`]),
      `cluster ${work.cluster}${work.representative ? ", representative" : ""}`,
      `${count(work.edit_size, "token")} in ${count(work.files.length, "file")}`,
    ].join(" · "),
    detail: facts.join(" · "),
  };
}

/** The folder of the repository: of a source control provider, of the document, of the workspace. */
function folderOf(parts: Parts, argument: unknown): vscode.Uri {
  const { rootUri } = (argument ?? {}) as { rootUri?: unknown };
  if (rootUri instanceof vscode.Uri) {
    return rootUri;
  }
  const shown = argument instanceof vscode.Uri ? argument : parts.current.uri;
  const folder = shown === undefined ? undefined : vscode.workspace.getWorkspaceFolder(shown);
  const first = folder ?? vscode.workspace.workspaceFolders?.[0];
  if (first === undefined) {
    throw new Halt("open the folder of a repository first");
  }
  return first.uri;
}
