/** Bundles the tests: each file by itself, so that one may be run alone. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const SHARED = {
  bundle: true,
  platform: "node",
  target: "node20",
  sourcemap: "inline",
  logLevel: "warning",
} as const;

/** For the extension host: it gives them `vscode`; mocha comes from node_modules. */
export async function buildHostTests(): Promise<void> {
  const outdir = join("out", "host");
  rmSync(outdir, { recursive: true, force: true });
  const entryPoints = [...files(join("test", "host")), join("test", "host", "index.ts")];
  await build({ ...SHARED, format: "cjs", external: ["vscode", "mocha"], entryPoints, outdir });
}

/** For node:test, of one folder of test/; returns what to run. */
export async function buildBrowserTests(folder: string): Promise<string[]> {
  const outdir = join("out", folder);
  rmSync(outdir, { recursive: true, force: true });
  const entryPoints = files(join("test", folder));
  const outExtension = { ".js": ".mjs" };
  await build({ ...SHARED, format: "esm", packages: "external", entryPoints, outdir, outExtension });
  return readdirSync(outdir).map((name) => join(outdir, name));
}

function files(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
  return names.sort().map((name) => join(folder, name));
}
