// Which server: candidates in order, and the first that answers with a version we can use. Knows files
// and processes, but nothing of the editor. Programs run without a shell, with a deadline, and never with
// the workspace as the working directory.
import { execFile } from "node:child_process";
import { open, stat } from "node:fs/promises";
import { homedir } from "node:os";
import * as path from "node:path";

/** The oldest server with everything that this extension needs. */
export const OLDEST_SERVER = "0.3.0";

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

export interface Wishes {
  readonly path: readonly string[];
  readonly interpreter: readonly string[];
  /** Python of the environment that the extension made for itself. */
  readonly ownPython: string | undefined;
  /** The PATH to look along. */
  readonly searchPath: string;
}

/** How long a program may take to say its version. */
export const PROBE_MS = 20_000;
const CODE = "import importlib.metadata as m, excise_server; print(m.version('excise'))";

type Attempt = () => Promise<Server | Refused>;

/** Find the server, or why each candidate was refused. A server named in a setting is used or refused, never skipped silently. */
export async function findServer(wishes: Wishes): Promise<Server | readonly Refused[]> {
  const refused: Refused[] = [];
  for (const attempt of await attempts(wishes)) {
    const outcome = await attempt();
    if (!("kind" in outcome)) {
      return outcome;
    }
    refused.push(outcome);
  }
  return refused;
}

async function attempts({ path: tools, interpreter: pythons, ownPython, searchPath }: Wishes): Promise<Attempt[]> {
  const own = ownPython === undefined ? [] : [() => interpreter(ownPython, "the extension's own environment")];
  if (tools.length > 0) {
    return tools.map((file) => () => tool(file, "the setting excise.path"));
  }
  if (pythons.length > 0) {
    return pythons.map((file) => () => interpreter(file, "the setting excise.interpreter"));
  }
  return [
    ...(await along(searchPath, "excise")).map((file) => () => tool(file, "PATH")),
    ...own,
    ...(await along(searchPath, "python3", "python")).slice(0, 2).map((file) => () => interpreter(file, "Python on PATH")),
  ];
}

/** The command `excise`: by the interpreter its first line names, so that it starts isolated. */
async function tool(file: string, origin: string): Promise<Server | Refused> {
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
    return { what: file, reason: `excise --version failed: ${lastWords(done)}`, kind: "broken" };
  }
  return accept({ command: file, args: ["serve", "--stdio"], version, origin }, file);
}

async function interpreter(python: string, origin: string, shown = python): Promise<Server | Refused> {
  if (!(await isFile(python))) {
    return { what: shown, reason: `there is no ${python}`, kind: "missing" };
  }
  const done = await run(python, ["-I", "-c", CODE], { timeoutMs: PROBE_MS });
  if (done.code !== 0) {
    const missing = /No module named '?excise|PackageNotFound/.test(done.stderr);
    const reason = missing ? "excise is not installed there" : `it fails: ${lastWords(done)}`;
    return { what: shown, reason, kind: missing ? "missing" : "broken" };
  }
  const args = ["-I", "-m", "excise_server", "--stdio"];
  return accept({ command: python, args, version: done.stdout.trim(), origin }, shown);
}

function accept(server: Server, shown: string): Server | Refused {
  const reason = `its version is ${server.version.slice(0, 40)}, and ${OLDEST_SERVER} or newer is needed`;
  return atLeast(server.version, OLDEST_SERVER) ? server : { what: shown, reason, kind: "tooOld" };
}

/** The arguments with which a server serves agents, by the Model Context Protocol. */
export function mcpArgs({ args }: Pick<Server, "args">, folders: readonly string[]): string[] {
  const command = args.includes("-I") ? ["-I", "-c", "from excise_server.cli import main; raise SystemExit(main())"] : [];
  return [...command, "mcp", ...folders];
}

/** Why a server does not serve agents, as without its extra `mcp`, or an empty string: asked nothing, it would end at once. */
export async function whyNoMcp(server: Server): Promise<string> {
  const done = await run(server.command, mcpArgs(server, []), { timeoutMs: PROBE_MS });
  return done.code === 0 ? "" : lastWords(done);
}

function lastWords(done: Run): string {
  return failureOf(done, done.stderr.trim().split("\n").at(-1) ?? "").slice(0, 300);
}

/** The interpreter that a script's first line names by its absolute path. */
export async function shebang(script: string): Promise<string | undefined> {
  const file = await open(script, "r").catch(() => undefined);
  try {
    const { buffer, bytesRead } = (await file?.read(Buffer.alloc(1024), 0, 1024, 0)) ?? { buffer: Buffer.alloc(0), bytesRead: 0 };
    const [line = ""] = buffer.toString("utf8", 0, bytesRead).split("\n", 1);
    return /^#!\s*(\/\S*python[\d.]*)\s*(?:-\w+\s*)*$/.exec(line.trim())?.[1];
  } finally {
    await file?.close();
  }
}

/** Programs of these names in the directories of PATH, except relative ones, which could be the workspace's. */
export async function along(searchPath: string, ...names: readonly string[]): Promise<string[]> {
  const directories = [...new Set(searchPath.split(path.delimiter))].filter((directory) => path.isAbsolute(directory));
  const ending = process.platform === "win32" ? ".exe" : "";
  const files = directories.flatMap((directory) => names.map((name) => path.join(directory, `${name}${ending}`)));
  const exist = await Promise.all(files.map(isFile));
  return files.filter((_file, at) => exist[at]);
}

/** Whether a version is not older than another, by the numbers of the release; false if it is none. */
export function atLeast(version: string, wanted: string): boolean {
  const [has, needs] = [version, wanted].map((text) => /^\s*v?(\d{1,6}(?:\.\d{1,6}){0,5})/.exec(text)?.[1]?.split(".").map(Number));
  const at = needs?.findIndex((number, index) => number !== (has?.[index] ?? 0)) ?? -1;
  return has !== undefined && needs !== undefined && (at < 0 || (has[at] ?? 0) > (needs[at] ?? 0));
}

function isFile(file: string): Promise<boolean> {
  return stat(file).then(
    (status) => status.isFile(),
    () => false,
  );
}

export interface Run {
  /** The exit code; undefined when it was killed or could not be started. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it did not end by itself, for people; empty if it did. */
  readonly failure: string;
}

/** Run a program to its end, without ever rejecting. */
export function run(
  command: string,
  args: readonly string[],
  { timeoutMs, ...options }: { readonly timeoutMs: number; readonly cwd?: string; readonly signal?: AbortSignal },
): Promise<Run> {
  const settings = {
    cwd: homedir(),
    ...options,
    env: environment(),
    encoding: "utf8" as const,
    killSignal: "SIGKILL" as const,
    maxBuffer: 16_000_000,
    timeout: timeoutMs,
    windowsHide: true,
  };
  return new Promise((resolve) => {
    const child = execFile(command, [...args], settings, (error, stdout, stderr) => {
      // A negative code is the system's error for a program that was not started.
      const code = child.exitCode !== null && child.exitCode >= 0 ? child.exitCode : undefined;
      const missing = error?.code === "ENOENT" ? "there is no such program" : (error?.message ?? "");
      const late = error?.killed === true ? `no answer within ${timeoutMs / 1000} s` : missing;
      const failure = options.signal?.aborted === true ? "cancelled" : late;
      resolve({ code, stdout, stderr, failure: code === undefined ? failure : "" });
    });
    child.stdin?.end();
  });
}

/** Why a program failed: why it did not end by itself, else what it said, else its code. */
export function failureOf({ failure, code }: Run, said: string): string {
  return failure || said || `exit code ${String(code)}`;
}

/** The environment for Python: ours without variables that lead to other modules. */
export function environment(): NodeJS.ProcessEnv {
  const { PYTHONPATH: _path, PYTHONHOME: _home, PYTHONSTARTUP: _start, ...kept } = process.env;
  return { ...kept, PYTHONUTF8: "1", PYTHONSAFEPATH: "1" };
}
