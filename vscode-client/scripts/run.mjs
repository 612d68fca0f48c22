// Bundles one TypeScript program of this folder with esbuild and runs it: node scripts/run.mjs NAME ..
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));
const [name = "", ...rest] = process.argv.slice(2);
const outfile = join("out", "scripts", `${name}.mjs`);
await build({
  // esbuild remembers the folder in which it was loaded, which is not this one.
  absWorkingDir: process.cwd(),
  entryPoints: [`./scripts/${name}.ts`],
  outfile,
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: "inline",
  logLevel: "warning",
});
const child = spawn(process.execPath, ["--enable-source-maps", outfile, ...rest], {
  stdio: "inherit",
});
// The terminal sends its signals to both; this one waits until the program has cleaned up.
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  process.exit(code ?? 128 + (signal ? constants.signals[signal] : 1));
});
