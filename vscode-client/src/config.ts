// The settings, read in one place.
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";

export const SECTION = "excise";

/** Settings that choose the server: a change of one starts it anew. */
export const SERVER_SETTINGS = ["path", "interpreter"] as const;

// eslint-disable-next-line @typescript-eslint/explicit-function-return-type -- its keys are the settings
export function settings() {
  const section = vscode.workspace.getConfiguration(SECTION);
  const shown = section.get("showNotifications");
  return {
    path: strings(section.get("path")).map(resolved),
    interpreter: strings(section.get("interpreter")).map(resolved),
    showNotifications: shown === "off" || shown === "always" ? shown : "onError",
    files: section.get("sources.files") === false ? [] : strings(section.get("sources.files")),
    worktrees: section.get("sources.worktrees") !== false,
  };
}

/** The strings of a setting that a user may have written in any shape. */
function strings(value: unknown): string[] {
  const all: unknown[] = Array.isArray(value) ? value : [value];
  return all.filter((item): item is string => typeof item === "string" && item.trim() !== "");
}

/** A path of a setting with its variables and the home directory filled in. */
function resolved(given: string): string {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? homedir();
  const filled = given
    .replace(/\$\{workspaceFolder\}/g, () => folder)
    .replace(/\$\{userHome\}/g, () => homedir())
    .replace(/\$\{env:(\w+)\}/g, (_whole, name: string) => process.env[name] ?? "")
    .replace(/^~(?=[\\/]|$)/, () => homedir());
  return path.resolve(folder, filled);
}
