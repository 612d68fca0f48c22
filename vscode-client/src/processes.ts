// Programs that end: run without a shell, with a deadline, and never with the workspace as the
// working directory.
import { execFile } from "node:child_process";
import { homedir } from "node:os";

export interface Run {
  /** The exit code; undefined when it was killed or could not be started. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it did not end by itself, for people; empty if it did. */
  readonly failure: string;
}

export interface RunOptions {
  readonly timeoutMs: number;
  readonly cwd?: string;
  readonly signal?: AbortSignal;
}

/** Run a program to its end, without ever rejecting. */
export function run(command: string, args: readonly string[], options: RunOptions): Promise<Run> {
  const settings = {
    cwd: options.cwd ?? homedir(),
    env: environment(),
    encoding: "utf8" as const,
    killSignal: "SIGKILL" as const,
    maxBuffer: 16_000_000,
    timeout: options.timeoutMs,
    windowsHide: true,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  return new Promise((resolve) => {
    const child = execFile(command, [...args], settings, (error, stdout, stderr) => {
      // A negative code is the system's error for a program that was not started.
      const code = child.exitCode !== null && child.exitCode >= 0 ? child.exitCode : undefined;
      const failure = error === null || code !== undefined ? "" : reasonOf(error, options);
      resolve({ code, stdout, stderr, failure });
    });
    child.stdin?.end();
  });
}

/** The environment for Python: ours without variables that lead to other modules. */
export function environment(): NodeJS.ProcessEnv {
  const { PYTHONPATH: _path, PYTHONHOME: _home, PYTHONSTARTUP: _start, ...kept } = process.env;
  return { ...kept, PYTHONUTF8: "1", PYTHONSAFEPATH: "1" };
}

function reasonOf(error: Error & { killed?: boolean | undefined; code?: unknown }, options: RunOptions): string {
  if (options.signal?.aborted === true) {
    return "cancelled";
  }
  if (error.killed === true) {
    return `no answer within ${options.timeoutMs / 1000} s`;
  }
  return error.code === "ENOENT" ? "there is no such program" : error.message;
}
