/** The VSIX: what .vscodeignore lets through, and for an offline one a folder of wheels. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createVSIX } from "@vscode/vsce";
import { CACHE, CLIENT } from "./places.js";

/** What vsce may look at; .vscodeignore, among them, says what of it is packed. */
const STAGED = ["dist", "media", "walkthrough", "excise.d.ts", "package.json", "README.md", "LICENSE"];

export interface PackageOptions {
  readonly vsix: string;
  /** A folder of wheels, and the platform whose they are. */
  readonly wheels?: { readonly folder: string; readonly target: string };
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
    if (options.wheels) cpSync(options.wheels.folder, join(stage, "wheelhouse"), { recursive: true });
    mkdirSync(dirname(options.vsix), { recursive: true });
    await createVSIX({
      cwd: stage,
      packagePath: options.vsix,
      dependencies: false, // esbuild has bundled the one there is
      allowMissingRepository: true,
      rewriteRelativeLinks: false, // there is no address to lead them to
      ...(options.wheels ? { target: options.wheels.target } : {}),
    });
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
  return statSync(options.vsix).size;
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
