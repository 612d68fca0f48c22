// Entry: it creates all parts and connects them. Nothing here waits for a server.
import * as vscode from "vscode";
import type { ExciseApi } from "../excise";
import { createApi } from "./api";
import { Bootstrap } from "./bootstrap";
import { Decorations } from "./candidates/decorations";
import { Candidates } from "./candidates/store";
import { CandidatesView } from "./candidates/view";
import { addFromBranch, addFromClipboard, addFromFile, addFromPatch, addSelected } from "./commands/add";
import {
  hideCandidate,
  openFolder,
  refreshCandidates,
  rejectCandidate,
  restoreCandidate,
  reviewCandidates,
  setCandidateBase,
} from "./commands/candidates";
import { type Command, type Parts, register } from "./commands/context";
import { nextHunk, openHunks, previousHunk, revealHunk } from "./commands/hunks";
import { chooseOrigin } from "./commands/origin";
import { removeRevision } from "./commands/remove";
import { compareCandidates, openFile, showCandidate } from "./commands/show";
import { startReviewAgain } from "./commands/startReviewAgain";
import { takeCandidate, takeFile, takeSelected, takeVariant } from "./commands/take";
import { installServer, printDebugInformation, restartServer, showLogs } from "./commands/server";
import { addFromWorktree } from "./commands/worktrees";
import { SECTION, SERVER_SETTINGS, settings } from "./config";
import type { Servers } from "./connection";
import { CurrentDocument, isSource } from "./documents";
import { HunkEditors } from "./hunks/editors";
import { takeLinks } from "./hunks/hover";
import { HunksView } from "./hunks/view";
import { Reports } from "./reports";
import { Reviews } from "./reviews";
import { Revisions } from "./revisions";
import { Status } from "./status";
import { Supervisor } from "./supervisor";
import { Contents } from "./take/contents";
import { looksRevised } from "./triggers";

const COMMANDS: Record<string, Command> = {
  addFromBranch,
  addFromClipboard,
  addFromFile,
  addFromPatch,
  addFromWorktree,
  addSelected,
  chooseOrigin,
  compareCandidates,
  hideCandidate,
  installServer,
  nextHunk,
  openFile,
  openFolder,
  openHunks,
  previousHunk,
  printDebugInformation,
  refreshCandidates,
  rejectCandidate,
  removeRevision,
  restartServer,
  restoreCandidate,
  revealHunk,
  reviewCandidates,
  setCandidateBase,
  showCandidate,
  showLogs,
  startReviewAgain,
  takeCandidate,
  takeFile,
  takeSelected,
  takeVariant,
};

let servers: Servers | undefined;

export function activate(context: vscode.ExtensionContext): ExciseApi {
  const log = vscode.window.createOutputChannel("Excise", { log: true });
  const bootstrap = new Bootstrap(context, log);
  const supervisor: Servers = new Supervisor({
    open: () => bootstrap.open(),
    crashed: (how, again) => bootstrap.crashed(how, again),
    failed: (error) => bootstrap.failed(error),
    log,
  });
  servers = supervisor;
  const current = new CurrentDocument();
  const reports = new Reports(supervisor);
  const revisions = new Revisions(supervisor);
  const candidates = new Candidates(supervisor, current, reports, log);
  const reviews = new Reviews(supervisor, candidates, reports);
  const [contents, hunkEditors] = [new Contents(supervisor), new HunkEditors()];
  const services = { context, log, bootstrap, supervisor, current, reports, revisions };
  const view = new CandidatesView(current, reports, supervisor, candidates);
  const parts: Parts = { ...services, candidates, view, reviews, contents, hunkEditors };
  const [api, listening] = createApi(reports, revisions);
  context.subscriptions.push(
    log,
    supervisor,
    current,
    reports,
    listening,
    candidates,
    reviews,
    contents,
    hunkEditors,
    view,
    new HunksView(current, candidates, reviews),
    new Decorations(candidates),
    takeLinks(parts),
    new Status(current, reports, supervisor),
    ...Object.entries(COMMANDS).map(([name, command]) => register(parts, `excise.${name}`, command)),
    ...listeners(parts),
  );
  void startIfRevised(parts);
  return api;
}

/** The server ends with the editor, and is given the time to do so. */
export async function deactivate(): Promise<void> {
  await servers?.stop();
}

function listeners(parts: Parts): vscode.Disposable[] {
  const { supervisor, current } = parts;
  return [
    current.onDidChange(() => void startIfRevised(parts)),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      supervisor.forget();
      void supervisor.connection?.settingsChanged();
      void startIfRevised(parts);
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (SERVER_SETTINGS.some((name) => event.affectsConfiguration(`${SECTION}.${name}`))) {
        supervisor.forget();
        // Whoever chose another server while one runs, or while it could not start, means it now.
        if (supervisor.connection !== undefined) {
          supervisor.restart().catch(() => undefined);
        } else {
          void startIfRevised(parts);
        }
      }
    }),
    // An agent may make a worktree, or a file beside it, while a file is open.
    ...worktreesMade(() => {
      parts.candidates.later();
      void startIfRevised(parts);
    }),
    vscode.workspace.onDidSaveTextDocument(() => void startIfRevised(parts)),
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) {
        void startIfRevised(parts);
      }
    }),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => supervisor.ledger.closed(uri.toString())),
  ];
}

/** Watch for new worktrees of the workspace's repositories, without reading or running anything. */
function worktreesMade(told: () => void): vscode.Disposable[] {
  return (vscode.workspace.workspaceFolders ?? []).flatMap((folder) => {
    const pattern = new vscode.RelativePattern(folder, ".git/worktrees/*");
    const watcher = vscode.workspace.createFileSystemWatcher(pattern, false, true, false);
    return [watcher, watcher.onDidCreate(told), watcher.onDidDelete(told)];
  });
}

/** Start the server if the current document looks as if it had revisions. */
async function startIfRevised({ supervisor, current, log }: Parts): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (supervisor.state !== "idle" || document === undefined || !isSource(document.uri)) {
    return;
  }
  const { files, worktrees } = settings();
  const signs = { files, worktrees, trusted: vscode.workspace.isTrusted, text: document.getText() };
  const file = document.uri.scheme === "file" ? document.uri.fsPath : "";
  if (file !== "" && (await looksRevised(file, signs))) {
    log.debug(`revisions of ${current.uri?.toString() ?? ""} are likely`);
    await supervisor.ensure().catch(() => undefined);
  }
}
