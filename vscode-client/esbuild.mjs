// Builds dist/ (what the VSIX carries), or with --tests the unit tests into out/unit/.
import { readdirSync, rmSync } from "node:fs";
import { build } from "esbuild";

const shared = { bundle: true, logLevel: "info", sourcemap: "linked", target: "es2022" };
const node = { ...shared, platform: "node", format: "cjs", external: ["vscode"] };

if (process.argv.includes("--tests")) {
  rmSync("out/unit", { recursive: true, force: true });
  const names = readdirSync("test/unit").filter((name) => name.endsWith(".test.ts"));
  const entryPoints = names.map((name) => `test/unit/${name}`);
  await build({ ...node, target: "node20", entryPoints, outdir: "out/unit", logLevel: "warning" });
} else {
  const production = process.argv.includes("--production");
  const sizes = { minify: production, sourcemap: production ? false : "linked" };
  rmSync("dist", { recursive: true, force: true });
  await build({ ...node, ...sizes, entryPoints: ["src/extension.ts"], outdir: "dist" });
  await build({
    ...shared,
    ...sizes,
    platform: "browser",
    format: "iife",
    entryPoints: ["src/webview/heatmap.ts"],
    outdir: "dist",
  });
}
