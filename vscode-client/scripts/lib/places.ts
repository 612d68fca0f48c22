/** Where things are. Every program here runs with the extension's folder as its working directory. */
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";

export const CLIENT = process.cwd();
export const PROJECT = resolve(CLIENT, "..");
export const EXAMPLE = join(PROJECT, "examples", "inventory");
export const IMAGES = join(PROJECT, "docs", "images");
/** Downloads and builds that outlive a run; git ignores it. */
export const CACHE = join(CLIENT, ".vscode-test");
export const VSIX = join(PROJECT, "dist", "excise.vsix");

/** The virtual environment of the project: the server that the editor is to find lies there. */
export const VENV = resolve(PROJECT, process.env["VENV"] ?? ".venv");
export const PYTHON = join(VENV, "bin", "python");

/** A person can repair this: it is shown without a stack. */
export class Trouble extends Error {}

/** Return the first of some commands on PATH, or none. */
export function find(...names: string[]): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter(isAbsolute);
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => isExecutable(path));
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Run a program's body; say what a person can repair in one line, and anything else in full. */
export async function main(body: () => Promise<void>): Promise<void> {
  try {
    await body();
  } catch (error) {
    console.error(error instanceof Trouble ? `excise: ${error.message}` : error);
    process.exitCode = 1;
  }
}
