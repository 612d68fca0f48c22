// An environment of the extension's own, made in its storage: the server is the wheel that the
// extension carries, never a package of that name from a registry; only what it depends on comes from
// there, each file checked by the hash in the requirements beside the wheel. Knows nothing of the editor.
import { mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { OLDEST_PYTHON, PROBE_MS, type Run, along, atLeast, failureOf, run } from "./servers";

/** The server that a package of the extension for one platform carries. */
export interface CarriedServer {
  /** Our own wheel, for every CPython that the server runs on. */
  readonly wheel: string;
  /** The pinned dependencies of the wheel, with hashes. */
  readonly requirements: string;
  /** "linux-x64", as Node names it. */
  readonly platform: string;
}

export interface Python {
  readonly command: string;
  readonly version: string;
}

const VENV_MS = 180_000;
const INSTALL_MS = 900_000;
const READY = "ready.json";
/** Pip's message without a network. Its last line says only that no version was found. */
const UNREACHABLE = /NewConnectionError|ConnectTimeoutError|ProxyError|NameResolutionError|Failed to establish/;
const PROBE =
  "import sys, platform, venv, ensurepip; " +
  "print(platform.python_implementation(), '%d.%d.%d' % sys.version_info[:3])";

/** Python of the environment made before, if it was finished. */
export async function ownPython(storage: string): Promise<string | undefined> {
  const { folder } = await noted(path.join(storage, READY));
  return typeof folder === "string" && /^env-\d+$/.test(folder) ? pythonOf(path.join(storage, folder)) : undefined;
}

/** The fields of a file of JSON, none if it is missing or something else. */
async function noted(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const note: unknown = JSON.parse(await readFile(file, "utf8"));
    return typeof note === "object" && note !== null ? { ...note } : {};
  } catch {
    return {};
  }
}

/** The server beside the bundle; undefined in the universal package. */
export async function carriedServer(extension: string): Promise<CarriedServer | undefined> {
  const directory = path.join(extension, "server");
  const { wheel, platform } = await noted(path.join(directory, "server.json"));
  return typeof wheel === "string" && /^[\w.+-]+\.whl$/.test(wheel) && typeof platform === "string"
    ? { wheel: path.join(directory, wheel), requirements: path.join(directory, "requirements.txt"), platform }
    : undefined;
}

export const PLATFORM = `${process.platform}-${process.arch}`;

/** Why no environment can be made from this package of the extension; undefined if one can. */
export function whyNotCarried(server: CarriedServer | undefined): string | undefined {
  if (server?.platform === PLATFORM) {
    return undefined;
  }
  const carried = server === undefined ? "carries no server" : `carries the server for ${server.platform}, not for ${PLATFORM}`;
  return (
    `This package of the extension ${carried}. Install the package for ${PLATFORM}, excise-${PLATFORM}.vsix; or, where ` +
    "there is none, install the server from a clone of the project (pip install .) and name it in the setting excise.path"
  );
}

/** The first CPython on PATH that is new enough and can make environments. */
export async function usablePython(searchPath: string): Promise<Python | undefined> {
  const minors = [14, 13, 12, 11].map((minor) => `python3.${minor}`);
  for (const command of await along(searchPath, "python3", ...minors, "python")) {
    const done = await run(command, ["-I", "-c", PROBE], { timeoutMs: PROBE_MS });
    const [kind, version] = done.stdout.trim().split(" ");
    if (done.code === 0 && kind === "CPython" && version !== undefined && atLeast(version, OLDEST_PYTHON)) {
      return { command, version };
    }
  }
  return undefined;
}

/** Make the environment. The previous one is used until this one is ready. */
export async function makeEnvironment(
  storage: string,
  python: Python,
  server: CarriedServer,
  { report, signal }: { readonly report: (step: string) => void; readonly signal: AbortSignal },
): Promise<string> {
  await mkdir(storage, { recursive: true });
  const before = await readdir(storage);
  const folder = `env-${Date.now()}`;
  const target = path.join(storage, folder);
  try {
    report(`making an environment with Python ${python.version}`);
    demand(await run(python.command, ["-I", "-m", "venv", target], { timeoutMs: VENV_MS, cwd: storage, signal }), "python -m venv");
    const pip = async (...args: string[]): Promise<void> => {
      const all = ["-I", "-m", "pip", "--disable-pip-version-check", "--no-input", ...args];
      const done = await run(pythonOf(target), all, { timeoutMs: INSTALL_MS, cwd: storage, signal });
      if (done.code !== 0 && UNREACHABLE.test(done.stderr)) {
        throw new Error("the Python package registry cannot be reached. Connect once and install again; afterwards nothing is downloaded");
      }
      demand(done, `pip ${args[0] ?? ""}`);
    };
    report("downloading the packages that the server needs");
    // Only compiled packages, so that no code of a source package runs, and only the pinned ones.
    await pip("install", "--require-hashes", "--only-binary", ":all:", "--no-deps", "-r", server.requirements);
    report("installing the server");
    await pip("install", "--no-index", "--no-deps", server.wheel);
    await pip("check");
    // Only a server that answers is ever started.
    const check = ["-I", "-c", "import excise_server.lsp.app"];
    demand(await run(pythonOf(target), check, { timeoutMs: PROBE_MS, cwd: storage }), "the server");
    const note = path.join(storage, `${READY}.new`);
    await writeFile(note, JSON.stringify({ folder, python: python.version }));
    await rename(note, path.join(storage, READY));
  } catch (error) {
    await rm(target, { recursive: true, force: true });
    throw error;
  }
  for (const old of before.filter((name) => /^env-\d+$/.test(name))) {
    await rm(path.join(storage, old), { recursive: true, force: true }).catch(() => undefined);
  }
  return pythonOf(target);
}

function demand(done: Run, what: string): void {
  if (done.code !== 0) {
    const lines = (done.stderr.trim() || done.stdout.trim()).split("\n");
    const error = lines.findLast((line) => /^(ERROR|error|Error)/.test(line)) ?? lines.at(-1) ?? "";
    throw new Error(`${what}: ${failureOf(done, error)}`.slice(0, 500));
  }
}

function pythonOf(environment: string): string {
  return process.platform === "win32"
    ? path.join(environment, "Scripts", "python.exe")
    : path.join(environment, "bin", "python");
}
