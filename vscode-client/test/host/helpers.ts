/** What the tests in the extension host have in common: documents of their own, waiting, the API. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as vscode from "vscode";
import type { ExciseApi, NewRevision } from "../../excise";

export const NAMES = ["ada", "bo", "chen", "dana", "eli"] as const;

/** Stands on the line where the five suggestions differ. */
export const MARK = "# Two customers can be promised";

/** Milliseconds after which what does not come is given up; nothing waits so long to pass. */
const DEADLINE = 45_000;

function environment(name: string): string {
  const value = process.env[`EXCISE_TEST_${name}`];
  assert.ok(value, `EXCISE_TEST_${name} is not set`);
  return value;
}

export const SCRATCH = environment("SCRATCH");
export const PYTHON = join(environment("VENV"), "bin", "python");
const EXAMPLE = join(environment("EXAMPLE"), "inventory.py");

export const origin = (): string => readFileSync(EXAMPLE, "utf8");
export const suggestion = (name: string): string =>
  readFileSync(`${EXAMPLE}.suggestion-${name}`, "utf8");

export function suggestions(): (NewRevision & { text: string })[] {
  return NAMES.map((id) => ({ id, text: suggestion(id) }));
}

export async function api(): Promise<ExciseApi> {
  const extension = vscode.extensions.getExtension<ExciseApi>("excise.excise");
  assert.ok(extension, "the extension is not installed");
  return extension.activate();
}

/** A file of its own in the workspace, not open yet. */
export function file(content: string | Buffer = origin(), name = "inventory.py"): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  assert.ok(folder);
  const path = join(mkdtempSync(join(folder, "case-")), name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return vscode.Uri.file(path);
}

export async function show(uri: vscode.Uri): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  return document;
}

/** A shown document with the five suggestions, its diagnostics there. */
export async function scored(): Promise<vscode.TextDocument> {
  const document = await show(file());
  const { addRevisions } = await api();
  const added = await addRevisions({ uri: document.uri, revisions: suggestions() });
  assert.deepEqual(added, { accepted: [...NAMES], rejected: [] });
  await until(() => findings(document.uri).length, (count) => count > 1);
  return document;
}

export function findings(uri: vscode.Uri): vscode.Diagnostic[] {
  return vscode.languages.getDiagnostics(uri).filter(({ source }) => source === "excise");
}

/** Where the suggestions differ. */
export function place(document: vscode.TextDocument): vscode.Position {
  return document.positionAt(document.getText().indexOf(MARK));
}

/** Ask until the answer is as wanted; the last answer is in the error. */
export async function until<T>(
  ask: () => T | Promise<T>,
  wanted: (answer: T) => boolean,
): Promise<T> {
  const end = Date.now() + DEADLINE;
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    if (Date.now() > end) {
      throw new Error(`still ${JSON.stringify(answer)}, not ${wanted.toString()}`);
    }
    await new Promise((done) => setTimeout(done, 25));
  }
}

/** The language servers that this extension host has started, by their process ids. */
export function servers(): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && isServer(pid));
}

function isServer(pid: number): boolean {
  try {
    const [, parent] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return Number(parent) === process.pid && command.includes("excise_server");
  } catch {
    return false; // it has ended meanwhile
  }
}

/** Change a setting of the user for a while. */
export async function withSetting<T>(
  name: string,
  value: unknown,
  body: () => Promise<T>,
): Promise<T> {
  const update = (to: unknown): Thenable<void> =>
    vscode.workspace.getConfiguration("excise").update(name, to, vscode.ConfigurationTarget.Global);
  await update(value);
  try {
    return await body();
  } finally {
    await update(undefined);
  }
}
