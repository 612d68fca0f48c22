// One session with one server process: spawned here, so that one that hangs can be ended.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { setTimeout as elapsed } from "node:timers/promises";
import * as vscode from "vscode";
import {
  CloseAction,
  CodeLensRequest,
  ErrorAction,
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
  TextDocumentContentRequest,
} from "vscode-languageclient/node";
import { SECTION } from "./config";
import { DOCUMENTS, opened } from "./documents";
import { DID_CHANGE_REPORT, type DidChangeReportParams, type Methods } from "./protocol";
import { type Server, environment } from "./servers";

/** How long a process may take to end after its output has. */
const EXIT_MS = 1000;

/** How long a server may take to answer `initialize`: it needs half a second. */
const PATIENCE_MS = 30_000;

/** Version of the shapes in protocol.ts. */
const VERSION = 3;

/** Lenses of the server run these commands of ours. */
const CLIENT_COMMANDS = {
  "excise.show": "excise.openHunks",
};

/** The client of one session. Errors are logged, and the supervisor tells the user once. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

export class Connection {
  /** Resolved when the session has ended, with the reason as far as it is known. */
  readonly ended: Promise<string>;
  /** Whether it was ended on purpose. */
  wasStopped = false;
  private readonly client: LanguageClient;
  /** Documents without lenses: their hunks are shown elsewhere. */
  private readonly lensless = new Set<string>();
  private readonly told = new vscode.EventEmitter<undefined>();
  /** The server has received the settings, by which it answers from now on. */
  readonly onTold = this.told.event;

  private constructor(
    readonly server: Server,
    readonly process: ChildProcessWithoutNullStreams,
    log: vscode.LogOutputChannel,
    added: () => readonly string[],
  ) {
    this.ended = new Promise((resolve) => {
      process.once("exit", (code, signal) => {
        resolve(signal === null ? `exit code ${String(code)}` : `signal ${signal}`);
      });
    });
    // Errors of writing to a server that has ended are reported by its exit.
    process.stdin.on("error", (error) => log.debug(error.message));
    this.client = new QuietClient(SECTION, "Excise", () => Promise.resolve(process), this.options(log, added));
  }

  /** Start a server in a directory, which is never the workspace, and wait until it has answered; `added` are patterns beside those of `sources.git`. */
  static async open(server: Server, log: vscode.LogOutputChannel, cwd: string, added: () => readonly string[]): Promise<Connection> {
    const process = spawn(server.command, [...server.args], { cwd, env: environment(), windowsHide: true });
    await new Promise((resolve, reject) => {
      process.once("spawn", resolve);
      process.once("error", reject);
    });
    const connection = new Connection(server, process, log, added);
    try {
      await connection.initialized();
    } catch (error) {
      process.kill("SIGKILL");
      throw error;
    }
    return connection;
  }

  request<M extends keyof Methods>(method: M, params: Methods[M][0], token?: vscode.CancellationToken): Promise<Methods[M][1]> {
    // An argument too many, though undefined, would make the parameters positional.
    return token === undefined
      ? this.client.sendRequest<Methods[M][1]>(method, params)
      : this.client.sendRequest<Methods[M][1]>(method, params, token);
  }

  /** The text of a document of the server's, such as the origin of a review. */
  async textOf(uri: string): Promise<string> {
    return (await this.client.sendRequest(TextDocumentContentRequest.type, { uri })).text;
  }

  onReport(handler: (told: DidChangeReportParams) => void): void {
    this.client.onNotification(DID_CHANGE_REPORT, handler);
  }

  /** Show the lenses of a document, or none. */
  showLenses(uri: vscode.Uri, shown: boolean): void {
    this.lensless[shown ? "delete" : "add"](uri.toString());
    const document = opened(uri);
    if (document !== undefined) {
      this.client.getFeature(CodeLensRequest.method).getProvider(document)?.onDidChangeCodeLensEmitter.fire();
    }
  }

  /** Have the server ask for the settings again. */
  async settingsChanged(): Promise<void> {
    await this.client.sendNotification("workspace/didChangeConfiguration", { settings: null });
  }

  /** End the session and its process. */
  async close(): Promise<void> {
    this.wasStopped = true;
    await this.client.stop(2000).catch(() => undefined);
    const patience = setTimeout(() => this.process.kill("SIGKILL"), 1000);
    await this.ended;
    clearTimeout(patience);
  }

  private async initialized(): Promise<void> {
    const answered = new AbortController();
    const late = elapsed(PATIENCE_MS, undefined, { signal: answered.signal }).then(() => {
      throw new Error(`the server did not answer within ${PATIENCE_MS / 1000} s`);
    });
    const ended = this.ended.then((how) => {
      throw new Error(`the server ended at once (${how})`);
    });
    const started = this.client.start().catch(async (error: unknown) => {
      // Its output ends a moment before the process does, and how that ended says more.
      await Promise.race([ended, elapsed(EXIT_MS)]);
      throw error;
    });
    // Two of the three that race may fail later, when nobody listens any longer.
    [started, ended, late].forEach((promise) => void promise.catch(() => undefined));
    await Promise.race([started, ended, late]).finally(() => answered.abort());
    const experimental: unknown = this.client.initializeResult?.capabilities.experimental;
    const { excise } = (experimental ?? {}) as { readonly excise?: { readonly version?: number } };
    if ((excise?.version ?? 1) < VERSION) {
      throw new Error("the server is older than the extension: update the package of the server");
    }
  }

  private options(log: vscode.LogOutputChannel, added: () => readonly string[]): LanguageClientOptions {
    return {
      documentSelector: DOCUMENTS,
      outputChannel: log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      markdown: { isTrusted: false, supportHtml: false },
      initializationOptions: ours,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
      middleware: {
        provideCodeLenses: (document, token, next) => (this.lensless.has(document.uri.toString()) ? [] : next(document, token)),
        workspace: {
          configuration: async (params, token, next) => {
            const answers = await next(params, token);
            // After the answer is on its way.
            setImmediate(() => this.told.fire(undefined));
            return Array.isArray(answers) ? answers.map((answer: unknown) => ({ ...withGit(answer, added()), ...ours() })) : answers;
          },
        },
      },
    };
  }
}

/** The settings with patterns of git beside theirs; where that is `true`, beside the defaults. */
function withGit(answer: unknown, added: readonly string[]): object {
  const own = answer as { readonly sources?: { readonly git?: unknown } } | null;
  const git = own?.sources?.git === true ? vscode.workspace.getConfiguration(SECTION).inspect("sources.git")?.defaultValue : own?.sources?.git;
  return added.length === 0 ? { ...own } : { ...own, sources: { ...own?.sources, git: [...(Array.isArray(git) ? (git as unknown[]) : []), ...added] } };
}

/** The information that the server needs besides the settings. */
function ours(): object {
  return { trusted: vscode.workspace.isTrusted, clientCommands: CLIENT_COMMANDS };
}
