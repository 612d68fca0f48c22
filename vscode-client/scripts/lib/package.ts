/** The VSIX: what .vscodeignore lets through, and in one for a platform the server. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { createVSIX } from "@vscode/vsce";
import { CACHE, CLIENT } from "./places.js";
import type { Wheel } from "./wheel.js";

/** What vsce may look at; .vscodeignore, among them, says what of it is packed. */
const STAGED = ["dist", "media", "walkthrough", "excise.d.ts", "package.json", "README.md", "LICENSE"];

export interface PackageOptions {
  readonly vsix: string;
  /** Our own wheel, in the package for its platform. */
  readonly server?: Wheel;
}

/** Build the extension and pack it; return the size of the file in bytes. */
export async function makeVsix(options: PackageOptions): Promise<number> {
  execFileSync(process.execPath, ["esbuild.mjs", "--production"], { stdio: "inherit" });
  const stage = join(CACHE, `stage-${process.pid}`);
  mkdirSync(stage, { recursive: true });
  try {
    for (const name of [...STAGED, ".vscodeignore"].filter((n) => existsSync(join(CLIENT, n)))) {
      cpSync(join(CLIENT, name), join(stage, name), { recursive: true });
    }
    cpSync(join(CLIENT, "..", "CHANGELOG.md"), join(stage, "CHANGELOG.md"));
    if (options.server) addServer(stage, options.server);
    mkdirSync(dirname(options.vsix), { recursive: true });
    await createVSIX({
      cwd: stage,
      packagePath: options.vsix,
      dependencies: false, // esbuild has bundled the one there is
      allowMissingRepository: true,
      rewriteRelativeLinks: false, // there is no address to lead them to
      ...(options.server ? { target: options.server.target } : {}),
    });
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
  return statSync(options.vsix).size;
}

/** The wheel, what it depends on, and which is which: the extension reads server.json. */
function addServer(stage: string, server: Wheel): void {
  const folder = join(stage, "server");
  mkdirSync(folder);
  cpSync(server.path, join(folder, basename(server.path)));
  cpSync(join(CLIENT, "requirements.txt"), join(folder, "requirements.txt"));
  const stated = { wheel: basename(server.path), platform: server.target };
  writeFileSync(join(folder, "server.json"), JSON.stringify(stated));
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
