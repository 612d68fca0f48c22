// Which server: candidates in order, and the first that answers with a version we can use. Knows
// files and processes, but nothing of the editor.
import { open, stat } from "node:fs/promises";
import * as path from "node:path";
import { run } from "./processes";

/** The oldest server with everything that this extension needs. */
export const OLDEST_SERVER = "0.2.0";

/** The oldest Python that the server runs on. */
export const OLDEST_PYTHON = "3.11";

/** A server that answered. */
export interface Server {
  readonly command: string;
  readonly args: readonly string[];
  readonly version: string;
  /** Where it was found, for people: "the setting excise.path". */
  readonly origin: string;
}

export interface Refused {
  readonly what: string;
  readonly reason: string;
  readonly kind: "missing" | "tooOld" | "broken";
}

/** The server, or why each candidate was refused. */
export type Search = { readonly server: Server } | { readonly refused: readonly Refused[] };

export interface Wishes {
  readonly path: readonly string[];
  readonly interpreter: readonly string[];
  readonly importStrategy: string;
  /** Python of the environment that the extension made for itself. */
  readonly ownPython: string | undefined;
  /** The PATH to look along. */
  readonly searchPath: string;
}

const PROBE_MS = 20_000;
const CODE = "import importlib.metadata as m, excise_server; print(m.version('excise'))";

type Attempt = Server | Refused;

/** Find the server. A server named in a setting is used or refused, never skipped silently. */
export async function findServer(wishes: Wishes): Promise<Search> {
  const ownPython = wishes.ownPython;
  const bundled = ownPython === undefined ? [] : [(): Promise<Attempt> => interpreter(ownPython, "the extension's own environment")];
  if (wishes.path.length > 0) {
    return first(wishes.path.map((file) => () => tool(file, "the setting excise.path")));
  }
  if (wishes.importStrategy === "useBundled" && ownPython !== undefined) {
    return first(bundled);
  }
  if (wishes.interpreter.length > 0) {
    return first(
      wishes.interpreter.map((file) => () => interpreter(file, "the setting excise.interpreter")),
    );
  }
  const tools = await along(wishes.searchPath, executables("excise"));
  const pythons = await along(wishes.searchPath, executables("python3", "python"));
  return first([
    ...tools.map((file) => () => tool(file, "PATH")),
    ...bundled,
    ...pythons.slice(0, 2).map((file) => () => interpreter(file, "Python on PATH")),
  ]);
}

async function first(attempts: readonly (() => Promise<Attempt>)[]): Promise<Search> {
  const refused: Refused[] = [];
  for (const attempt of attempts) {
    const outcome = await attempt();
    if (!("kind" in outcome)) {
      return { server: outcome };
    }
    refused.push(outcome);
  }
  return { refused };
}

/** The command `excise`: by the interpreter its first line names, so that it starts isolated. */
async function tool(file: string, origin: string): Promise<Attempt> {
  if (!(await isFile(file))) {
    return { what: file, reason: `${origin} names it, but there is no such file`, kind: "missing" };
  }
  const python = await shebang(file);
  if (python !== undefined) {
    return interpreter(python, origin, file);
  }
  const done = await run(file, ["--version"], { timeoutMs: PROBE_MS });
  const version = /(\d+\.\d+\S*)\s*$/.exec(done.stdout.trim())?.[1];
  if (done.code !== 0 || version === undefined) {
    return { what: file, reason: `excise --version failed: ${explain(done)}`, kind: "broken" };
  }
  return accept({ command: file, args: ["serve", "--stdio"], version, origin }, file);
}

async function interpreter(python: string, origin: string, shown = python): Promise<Attempt> {
  if (!(await isFile(python))) {
    return { what: shown, reason: `there is no ${python}`, kind: "missing" };
  }
  const done = await run(python, ["-I", "-c", CODE], { timeoutMs: PROBE_MS });
  if (done.code !== 0) {
    const missing = /No module named '?excise/.test(done.stderr) || done.stderr.includes("PackageNotFound");
    const reason = missing ? "excise is not installed there" : `it fails: ${explain(done)}`;
    return { what: shown, reason, kind: missing ? "missing" : "broken" };
  }
  const args = ["-I", "-m", "excise_server", "--stdio"];
  return accept({ command: python, args, version: done.stdout.trim(), origin }, shown);
}

function accept(server: Server, shown: string): Attempt {
  if (atLeast(server.version, OLDEST_SERVER)) {
    return server;
  }
  const reason = `its version is ${server.version.slice(0, 40)}, and ${OLDEST_SERVER} or newer is needed`;
  return { what: shown, reason, kind: "tooOld" };
}

function explain(done: { stderr: string; failure: string; code: number | undefined }): string {
  const last = done.stderr.trim().split("\n").at(-1) ?? "";
  return (done.failure || last || `exit code ${String(done.code)}`).slice(0, 300);
}

/** The interpreter that a script's first line names by its absolute path. */
export async function shebang(script: string): Promise<string | undefined> {
  const file = await open(script, "r").catch(() => undefined);
  if (file === undefined) {
    return undefined;
  }
  try {
    const head = Buffer.alloc(1024);
    const { bytesRead } = await file.read(head, 0, head.length, 0);
    const line = head.toString("utf8", 0, bytesRead).split("\n", 1)[0] ?? "";
    const named = /^#!\s*(\/\S*python[\d.]*)\s*(?:-\w+\s*)*$/.exec(line.trim())?.[1];
    return named;
  } finally {
    await file.close();
  }
}

/** Files of these names in the directories of PATH, except relative ones, which could be the workspace's. */
export async function along(searchPath: string, names: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const directory of new Set(searchPath.split(path.delimiter))) {
    for (const name of path.isAbsolute(directory) ? names : []) {
      const file = path.join(directory, name);
      if (await isFile(file)) {
        files.push(file);
      }
    }
  }
  return files;
}

/** Whether a version is not older than another, by the numbers of the release; false if it is none. */
export function atLeast(version: string, wanted: string): boolean {
  const [has, needs] = [version, wanted].map((text) => /^\s*v?(\d{1,6}(?:\.\d{1,6}){0,5})/.exec(text)?.[1]?.split(".").map(Number));
  const at = needs?.findIndex((number, index) => number !== (has?.[index] ?? 0)) ?? -1;
  return has !== undefined && needs !== undefined && (at < 0 || (has[at] ?? 0) > (needs[at] ?? 0));
}

/** The file names of these programs on this platform. */
export function executables(...names: string[]): string[] {
  return process.platform === "win32" ? names.map((name) => `${name}.exe`) : names;
}

async function isFile(file: string): Promise<boolean> {
  return stat(file).then(
    (status) => status.isFile(),
    () => false,
  );
}
