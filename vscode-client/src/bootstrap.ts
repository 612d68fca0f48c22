// "Which server?", answered once: found and checked, or one message with a way out.
import * as vscode from "vscode";
import { SERVER_SETTINGS, settings } from "./config";
import type { Connection } from "./connection";
import { carriedServer, makeEnvironment, ownPython, usablePython, whyNotCarried } from "./environment";
import type { Parts } from "./parts";
import { OLDEST_PYTHON, type Refused, type Server, findServer } from "./servers";
import { Unavailable } from "./supervisor";
import { message, reason } from "./text";

const [LOGS, INSTALL, SETTINGS, RESTART] = ["Show Logs", "Install", "Open Settings", "Restart Server"] as const;

/** The commands of the buttons. */
const COMMANDS = {
  [LOGS]: ["excise.showLogs"],
  [INSTALL]: ["excise.restartServer", "install"],
  [SETTINGS]: ["workbench.action.openSettings", "@ext:excise.excise path interpreter"],
  [RESTART]: ["excise.restartServer"],
} as const;

type Button = keyof typeof COMMANDS;

export class Bootstrap {
  private readonly shown = new Set<string>();

  constructor(private readonly parts: Parts) {}

  get log(): vscode.LogOutputChannel {
    return this.parts.log;
  }

  private get storage(): string {
    return this.parts.context.globalStorageUri.fsPath;
  }

  /** Patterns of git that the user added to those of the settings, in this workspace. */
  private get added(): readonly string[] {
    return this.parts.context.workspaceState.get<string[]>("excise.git") ?? [];
  }

  async addToGit(pattern: string): Promise<void> {
    await this.parts.context.workspaceState.update("excise.git", [...new Set([...this.added, pattern])]);
  }

  async find(): Promise<Server | readonly Refused[]> {
    return findServer({ ...settings(), ownPython: await ownPython(this.storage), searchPath: process.env["PATH"] ?? "" });
  }

  /** Find a server and start it, or tell the user that there is none and throw Unavailable. */
  async open(): Promise<Connection> {
    await vscode.workspace.fs.createDirectory(this.parts.context.globalStorageUri);
    const server = await this.find();
    if (!("command" in server)) {
      void this.tellMissing(server);
      throw new Unavailable("there is no server");
    }
    // The language client is most of the bundle: it is loaded when there is something for it to do.
    const { Connection } = await import("./connection");
    this.log.info(`server ${server.version} of ${server.origin}: ${server.command} ${server.args.join(" ")}`);
    return Connection.open(server, this.log, this.storage, () => this.added);
  }

  /** The server started badly: it ended at once, or does not answer. */
  failed(error: unknown): void {
    this.log.error(reason(error));
    void this.tell(`Excise: the server could not be started: ${message(reason(error))}.`, RESTART);
  }

  crashed(how: string, again: boolean): void {
    const text = again
      ? `Excise: the server ended unexpectedly (${message(how)}). It was started again, and your candidates are back.`
      : `Excise: the server ended unexpectedly (${message(how)}), again and again. It stays off until you restart it.`;
    void this.tell(text, ...(again ? [] : [RESTART]));
  }

  /** Make the extension's own environment, if the user agrees, and return whether it exists now. */
  async install(): Promise<boolean> {
    const carried = await carriedServer(this.parts.context.extensionPath);
    const lack = whyNotCarried(carried);
    if (carried === undefined || lack !== undefined) {
      void this.tell(`Excise: ${lack ?? ""}.`, SETTINGS);
      return false;
    }
    const python = await usablePython(process.env["PATH"] ?? "");
    if (python === undefined) {
      const text = `Excise needs CPython ${OLDEST_PYTHON} or newer with its venv module, and there is none on PATH (Debian: apt-get install python3-venv).`;
      void vscode.window.showErrorMessage(text);
      return false;
    }
    const detail =
      `With ${python.command} (${python.version}), in ${this.storage}. The server comes with this extension; the packages that ` +
      "it needs (about 90 MB) are downloaded from the Python package registry, each checked by its hash. " +
      "Nothing outside of that folder is changed.";
    const question = "Make a Python environment for the Excise server?";
    if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, INSTALL)) !== INSTALL) {
      return false;
    }
    const options = { location: vscode.ProgressLocation.Notification, title: "Excise", cancellable: true };
    return vscode.window.withProgress(options, async (progress, token) => {
      const control = new AbortController();
      token.onCancellationRequested(() => control.abort());
      try {
        const report = (step: string): void => progress.report({ message: step });
        await makeEnvironment(this.storage, python, carried, { report, signal: control.signal });
        return true;
      } catch (error) {
        this.log.error(reason(error));
        if (!control.signal.aborted) {
          void this.tell(`Excise: the environment could not be made: ${message(reason(error))}`);
        }
        return false;
      }
    });
  }

  private async tellMissing(refused: readonly Refused[]): Promise<void> {
    refused.forEach((item) => this.log.warn(`${item.what}: ${item.reason}`));
    const named = SERVER_SETTINGS.some((name) => settings()[name].length > 0);
    const worst = refused.find(({ kind }) => kind !== "missing") ?? (named ? refused[0] : undefined);
    const why = worst === undefined ? "it is not installed" : `${worst.what}: ${worst.reason}`;
    const lack = whyNotCarried(await carriedServer(this.parts.context.extensionPath));
    const text = `Excise: there is no server to start: ${message(why)}.${named || lack === undefined ? "" : ` ${lack}.`}`;
    await this.tell(text, ...(named || lack !== undefined ? [SETTINGS] : [INSTALL, SETTINGS]));
  }

  /** Show a message, unless it is still open. */
  private async tell(text: string, ...buttons: Button[]): Promise<void> {
    if (this.shown.has(text) || settings().showNotifications === "off") {
      this.log.info(`not shown: ${text}`);
      return;
    }
    this.shown.add(text);
    const answer = await vscode.window.showErrorMessage(text, ...buttons, LOGS);
    this.shown.delete(text);
    if (answer !== undefined) {
      const [command, ...args] = COMMANDS[answer];
      await vscode.commands.executeCommand(command, ...args);
    }
  }
}
