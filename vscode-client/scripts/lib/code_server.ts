/**
 * VS Code itself: its server, as the npm package code-server carries it.
 *
 * Nothing is compiled and no script of a package runs: code-server's own postinstall would install
 * the packages of the editor inside it, with their scripts; here that is done without them.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CACHE, Trouble } from "./places.js";

const VERSION = "4.100.3";
const HOME = join(CACHE, `code-server-${VERSION}`);
const LIB = join("node_modules", "code-server", "lib", "vscode");

/** The program that starts the plain server, without code-server's wrapper. */
export const SERVER_MAIN = join(HOME, LIB, "out", "server-main.js");

/** Install it where it is missing: some 15 seconds and 310 MB, once. */
export async function installCodeServer(): Promise<void> {
  if (existsSync(SERVER_MAIN)) return;
  const half = `${HOME}.${process.pid}`; // renamed when it is whole
  console.error(`Installing VS Code's server (code-server ${VERSION}, about 310 MB) into ${CACHE}`);
  mkdirSync(half, { recursive: true });
  try {
    writeFileSync(join(half, "package.json"), '{ "private": true }\n');
    const vscode = join(half, LIB);
    await npm(half, "1/3 server", `code-server@${VERSION}`);
    await npm(vscode, "2/3 its packages", "--omit=dev");
    await npm(join(vscode, "extensions"), "3/3 its extensions", "--omit=dev");
    symlinkSync("node_modules", join(vscode, "node_modules.asar"));
    if (!existsSync(SERVER_MAIN)) renameSync(half, HOME);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}

async function npm(folder: string, what: string, ...rest: string[]): Promise<void> {
  const began = Date.now();
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  const child = spawn("npm", ["install", "--ignore-scripts", ...quiet, ...rest], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output: Buffer[] = [];
  child.stdout.on("data", (data: Buffer) => output.push(data));
  child.stderr.on("data", (data: Buffer) => output.push(data));
  const code = await new Promise<number | null>((done, fail) => {
    child.on("error", () => fail(new Trouble("npm is missing (Debian: apt-get install npm)")));
    child.on("close", done);
  });
  if (code !== 0) throw new Trouble(whyNot(code, Buffer.concat(output).toString()));
  console.error(`  ${what}: ${((Date.now() - began) / 1000).toFixed(0)} s`);
}

function whyNot(code: number | null, said: string): string {
  const offline = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH)\b/.exec(said);
  const why = offline
    ? `the package registry cannot be reached (${offline[1]}). Connect once and try again; afterwards this works offline`
    : `npm ended with ${code}:\n${said.trim()}`;
  return `code-server ${VERSION} could not be installed: ${why}`;
}
