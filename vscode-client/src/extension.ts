// Entry: it creates all parts and connects them. Nothing here waits for a server.
import * as vscode from "vscode";
import type { ExciseApi } from "../excise";
import * as add from "./commands/add";
import * as candidates from "./commands/candidates";
import * as finish from "./commands/finish";
import * as hunks from "./commands/hunks";
import * as server from "./commands/server";
import { SECTION, SERVER_SETTINGS, settings } from "./config";
import { isSource } from "./documents";
import { takeLinks } from "./hunks/review";
import { HunksView } from "./hunks/view";
import { offerMcp } from "./mcp";
import { type Command, Parts, register } from "./parts";
import { Status } from "./status";
import { looksRevised } from "./triggers";

/** Each function of these modules is a command of its name. */
const COMMANDS: Record<string, Command> = { ...add, ...candidates, ...finish, ...hunks, ...server };

let stop: (() => Promise<void>) | undefined;

export function activate(context: vscode.ExtensionContext): ExciseApi {
  const parts = new Parts(context);
  stop = () => parts.supervisor.stop();
  new HunksView(parts);
  new Status(parts);
  const api = apiOf(parts);
  context.subscriptions.push(
    ...parts.subscriptions,
    takeLinks(parts),
    ...offerMcp(parts),
    ...Object.entries(COMMANDS).map(([name, command]) => register(parts, `excise.${name}`, command)),
    ...listeners(parts),
  );
  void startIfRevised(parts);
  return api;
}

/** The API for other extensions; excise.d.ts is its contract. */
function apiOf({ reports, revisions, subscriptions }: Parts): ExciseApi {
  const changed = new vscode.EventEmitter<{ uri: vscode.Uri }>();
  subscriptions.push(changed, reports.onDidChange((uri) => changed.fire({ uri })));
  return {
    version: 1,
    addRevisions: (request) => revisions.push(request),
    getReport: async (uri) => {
      const { result } = await reports.fresh(uri);
      if (result === undefined || result.revisions.length === 0) {
        return undefined;
      }
      // A copy, so that nothing can be changed through it.
      const { version, signature, revisions, similarity, hunks, clusters } = structuredClone(result);
      const named = clusters.map(({ min_similarity, ...cluster }) => ({ ...cluster, minSimilarity: min_similarity }));
      return { version, signature, revisions, similarity, clusters: named, hunks };
    },
    onDidChangeReport: changed.event,
  };
}

/** The server ends with the editor, and is given the time to do so. */
export async function deactivate(): Promise<void> {
  await stop?.();
}

function listeners(parts: Parts): vscode.Disposable[] {
  const { supervisor, current } = parts;
  const look = (): void => void startIfRevised(parts);
  // An agent may make a worktree, or a file beside it, while a file is open.
  const worktreesMade = (): void => {
    parts.candidates.later();
    look();
  };
  return [
    current.onDidChange(look),
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      supervisor.forget();
      void supervisor.connection?.settingsChanged();
      look();
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (SERVER_SETTINGS.some((name) => event.affectsConfiguration(`${SECTION}.${name}`))) {
        supervisor.forget();
        // Whoever chose another server while one runs, or while it could not start, means it now.
        if (supervisor.connection !== undefined) {
          supervisor.restart().catch(() => undefined);
        } else {
          look();
        }
      }
    }),
    // New worktrees of the workspace's repositories, without reading or running anything.
    ...(vscode.workspace.workspaceFolders ?? []).flatMap((folder) => {
      const pattern = new vscode.RelativePattern(folder, ".git/worktrees/*");
      const watcher = vscode.workspace.createFileSystemWatcher(pattern, false, true, false);
      return [watcher, watcher.onDidCreate(worktreesMade), watcher.onDidDelete(worktreesMade)];
    }),
    vscode.workspace.onDidSaveTextDocument(look),
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (focused) {
        look();
      }
    }),
    vscode.workspace.onDidCloseTextDocument(({ uri }) => supervisor.ledger.closed(uri.toString())),
  ];
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
    log.debug(`candidates of ${current.uri?.toString() ?? ""} are likely`);
    await supervisor.ensure().catch(() => undefined);
  }
}
