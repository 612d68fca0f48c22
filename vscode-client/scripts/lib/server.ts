/** One VS Code server: its own folders, its own free port, and gone when it is stopped. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createWriteStream, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { SERVER_MAIN } from "./code_server.js";
import { Trouble, VENV } from "./places.js";

export interface ServerOptions {
  /** Everything that the server writes goes here, `server.log` included. */
  home: string;
  /** VSIX files to install. */
  extensions: readonly string[];
  /** Machine settings; the user's own are in the browser. */
  settings?: Readonly<Record<string, unknown>>;
  /** Whether the editor asks for trust; without it every folder is trusted. */
  asksForTrust?: boolean;
  /** Folders before those of PATH; the project's virtual environment if absent. */
  path?: readonly string[];
  /** More of the environment. */
  environment?: Readonly<Record<string, string>>;
}

export interface Server {
  readonly url: string;
  readonly port: number;
  readonly log: string;
  /** Where the editor keeps the extension's own storage and logs. */
  readonly data: string;
  /** Give the editor other machine settings, which it takes while it runs. */
  configure(settings: Readonly<Record<string, unknown>>): void;
  stop(): Promise<void>;
}

/** What every session here has: nothing saves by itself, nothing asks the network. */
const SETTINGS = {
  "files.autoSave": "off",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "workbench.startupEditor": "none",
  "telemetry.telemetryLevel": "off",
  "remote.autoForwardPorts": false,
  "git.openRepositoryInParentFolders": "never",
};

export async function startServer(options: ServerOptions): Promise<Server> {
  const folders = ["data", "extensions", "home", "tmp"].map((name) =>
    join(options.home, name),
  ) as [string, string, string, string];
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  const [data, extensions, home, temporary] = folders;
  const file = join(data, "data", "Machine", "settings.json");
  mkdirSync(dirname(file), { recursive: true });
  const configure = (settings = {}): void => writeFileSync(file, JSON.stringify({ ...SETTINGS, ...options.settings, ...settings }, null, 2));
  configure();

  const environment = {
    ...cleaned(process.env),
    HOME: home,
    TMPDIR: temporary,
    PATH: [...(options.path ?? [join(VENV, "bin")]), process.env["PATH"] ?? ""].join(delimiter),
    ...options.environment,
  };
  const where = ["--server-data-dir", data, "--extensions-dir", extensions];
  const installs = options.extensions.flatMap((path) => ["--install-extension", path]);
  if (installs.length > 0) await install([...where, ...installs], environment);
  return { ...(await listen(options, where, environment)), data, configure };
}

/** Neither git's variables of a hook nor a display of this session's own enter the editor. */
function cleaned(from: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(from).filter(([name]) => !/^(GIT_|XDG_|VSCODE_|NODE_)/.test(name));
  return Object.fromEntries(kept);
}

async function install(args: string[], env: NodeJS.ProcessEnv): Promise<void> {
  const ended = await promisify(execFile)(process.execPath, [SERVER_MAIN, ...args, "--force"], {
    env,
  });
  if (!ended.stdout.includes('was successfully installed')) {
    throw new Error(`the extension was not installed:\n${ended.stdout}\n${ended.stderr}`);
  }
}

async function listen(
  options: ServerOptions,
  where: string[],
  env: NodeJS.ProcessEnv,
): Promise<Omit<Server, "data" | "configure">> {
  const log = join(options.home, "server.log");
  const args = ["--host", "127.0.0.1", "--port", "0", "--without-connection-token"];
  // The environment is the one given here, not what a login shell would make of it.
  const quiet = ["--accept-server-license-terms", "--telemetry-level", "off", "--force-disable-user-env"];
  const trust = options.asksForTrust ? [] : ["--disable-workspace-trust"];
  const child = spawn(process.execPath, [SERVER_MAIN, ...args, ...quiet, ...trust, ...where], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // a group of its own: its extension hosts and language servers end with it
  });
  const last = (): void => end(child); // whatever this program dies of
  process.once("exit", last);
  child.once("exit", () => process.off("exit", last));
  const file = createWriteStream(log);
  const port = await portOf(child, file).catch(async (error: unknown) => {
    await stop(child);
    throw error;
  });
  return { url: `http://127.0.0.1:${port}`, port, log, stop: () => stop(child) };
}

function portOf(child: ChildProcess, file: NodeJS.WritableStream): Promise<number> {
  return new Promise((done, fail) => {
    let said = "";
    const hear = (chunk: Buffer): void => {
      file.write(chunk);
      if (said.length > 100_000) return;
      said += chunk.toString();
      const port = /Extension host agent listening on (\d+)/.exec(said);
      if (port) done(Number(port[1]));
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.on("exit", (code) => fail(new Trouble(`VS Code's server ended with ${code}:\n${said}`)));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return;
  const ended = new Promise((done) => child.once("exit", done));
  const running = child.exitCode === null && child.signalCode === null;
  end(child);
  if (running) await ended;
}

/** The whole group: nothing of it is to be saved. */
function end(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended, and its group with it.
  }
}
