// Entry: what exists, and what is told to whom.
import * as vscode from "vscode";
import { Connection, INITIALIZE_MS } from "./connection";
import { settings } from "./config";
import { findServer } from "./servers";

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("Excise", { log: true });
  context.subscriptions.push(log);
  await vscode.workspace.fs.createDirectory(context.globalStorageUri);
  const start = async (): Promise<void> => {
    const search = await findServer({
      ...settings(),
      ownPython: undefined,
      searchPath: process.env["PATH"] ?? "",
    });
    if ("refused" in search) {
      throw new Error(JSON.stringify(search.refused));
    }
    await Connection.open(search.server, {
      log,
      directory: context.globalStorageUri.fsPath,
      initializeMs: INITIALIZE_MS,
    });
  };
  context.subscriptions.push(vscode.commands.registerCommand("excise.restartServer", start));
  void start();
}
