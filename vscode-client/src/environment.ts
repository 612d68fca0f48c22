// An environment of the extension's own: made in its storage, with excise from the package registry
// or from the wheels that the extension carries. Knows nothing of the editor.
import { mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { type Run, run } from "./processes";
import { along, executables } from "./servers";
import { BEFORE, OLDEST_PYTHON, OLDEST_SERVER, atLeast } from "./versions";

/** Wheels beside the bundle, for one CPython on one platform. */
export interface Wheelhouse {
  readonly directory: string;
  /** "3.11" */
  readonly python: string;
  /** "linux-x64", as Node names it. */
  readonly platform: string;
}

export interface Python {
  readonly command: string;
  readonly version: string;
}

export interface Progress {
  report(step: string): void;
  readonly signal: AbortSignal;
}

const PROBE_MS = 20_000;
const VENV_MS = 180_000;
const INSTALL_MS = 900_000;
const READY = "ready.json";
const PROBE =
  "import sys, platform, venv, ensurepip; " +
  "print(platform.python_implementation(), '%d.%d.%d' % sys.version_info[:3])";

/** Python of the environment made before, if it was finished. */
export async function ownPython(storage: string): Promise<string | undefined> {
  try {
    const ready: unknown = JSON.parse(await readFile(path.join(storage, READY), "utf8"));
    const folder = typeof ready === "object" && ready !== null && "folder" in ready ? ready.folder : "";
    return typeof folder === "string" && /^env-\d+$/.test(folder)
      ? pythonOf(path.join(storage, folder))
      : undefined;
  } catch {
    return undefined;
  }
}

/** The wheelhouse of an offline package; undefined in a universal one. */
export async function wheelhouse(extension: string): Promise<Wheelhouse | undefined> {
  const directory = path.join(extension, "wheelhouse");
  try {
    const stated: unknown = JSON.parse(await readFile(path.join(directory, "wheelhouse.json"), "utf8"));
    const { python, platform } = stated as { python?: unknown; platform?: unknown };
    return typeof python === "string" && typeof platform === "string"
      ? { directory, python, platform }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a wheelhouse was made for this machine. */
export function fits(wheels: Wheelhouse): boolean {
  return wheels.platform === `${process.platform}-${process.arch}`;
}

/** A Python that can make the environment: the newest on PATH, or the one the wheels are for. */
export async function usablePython(
  searchPath: string,
  wheels: Wheelhouse | undefined,
): Promise<Python | undefined> {
  const minors = [14, 13, 12, 11].map((minor) => `python3.${minor}`);
  const names = wheels === undefined ? ["python3", ...minors, "python"] : [`python${wheels.python}`, "python3", "python"];
  const found: Python[] = [];
  for (const command of await along(searchPath, executables(...new Set(names)))) {
    const done = await run(command, ["-I", "-c", PROBE], { timeoutMs: PROBE_MS });
    const [kind, version] = done.stdout.trim().split(" ");
    if (done.code !== 0 || version === undefined || !atLeast(version, OLDEST_PYTHON)) {
      continue;
    }
    if (wheels === undefined) {
      return { command, version };
    }
    if (kind === "CPython" && version.startsWith(`${wheels.python}.`)) {
      found.push({ command, version });
    }
  }
  return found[0];
}

/** Make the environment; what was there before is used until this one is ready. */
export async function makeEnvironment(
  storage: string,
  python: Python,
  wheels: Wheelhouse | undefined,
  progress: Progress,
): Promise<string> {
  await mkdir(storage, { recursive: true });
  const before = await readdir(storage);
  const folder = `env-${Date.now()}`;
  const target = path.join(storage, folder);
  try {
    progress.report(`making an environment with Python ${python.version}`);
    const made = await run(python.command, ["-I", "-m", "venv", target], {
      timeoutMs: VENV_MS,
      cwd: storage,
      signal: progress.signal,
    });
    demand(made, "python -m venv");
    progress.report(wheels === undefined ? "downloading and installing excise" : "installing excise");
    const pip = ["-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input"];
    const installed = await run(pythonOf(target), [...pip, ...source(wheels)], {
      timeoutMs: INSTALL_MS,
      cwd: storage,
      signal: progress.signal,
    });
    demand(installed, "pip install");
    // Whatever carries that name: only a server that answers is ever started.
    const check = ["-I", "-c", "import excise_server.lsp.protocol"];
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

/** What pip is asked for: compiled packages only, so that nothing of a source package runs. */
function source(wheels: Wheelhouse | undefined): string[] {
  const wanted = ["--only-binary", ":all:", `excise>=${OLDEST_SERVER},<${BEFORE}`];
  return wheels === undefined ? wanted : ["--no-index", "--find-links", wheels.directory, ...wanted];
}

function demand(done: Run, what: string): void {
  if (done.code !== 0) {
    const lines = done.stderr.trim().split("\n");
    const error = lines.findLast((line) => /^(ERROR|error|Error)/.test(line)) ?? lines.at(-1) ?? "";
    throw new Error(`${what}: ${done.failure || error || `exit code ${String(done.code)}`}`.slice(0, 500));
  }
}

function pythonOf(environment: string): string {
  return process.platform === "win32"
    ? path.join(environment, "Scripts", "python.exe")
    : path.join(environment, "bin", "python");
}
