// Builds dist/ (what the VSIX carries), or with --tests the unit tests into out/unit/.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const shared = { bundle: true, logLevel: "info", sourcemap: "linked", target: "es2022" };
const node = { ...shared, platform: "node", format: "cjs", external: ["vscode"] };

if (process.argv.includes("--tests")) {
  rmSync("out/unit", { recursive: true, force: true });
  const names = readdirSync("test/unit").filter((name) => name.endsWith(".test.ts"));
  const entryPoints = names.map((name) => `test/unit/${name}`);
  const stub = { external: [], alias: { vscode: "./test/unit/vscode.ts" }, logOverride: { "import-is-undefined": "silent" } };
  await build({ ...node, ...stub, target: "node20", entryPoints, outdir: "out/unit", logLevel: "warning" });
} else {
  const production = process.argv.includes("--production");
  const sizes = { minify: production, sourcemap: production ? false : "linked" };
  rmSync("dist", { recursive: true, force: true });
  const { metafile } = await build({
    ...node,
    ...sizes,
    entryPoints: ["src/extension.ts"],
    outdir: "dist",
    metafile: true,
  });
  // One file for each grammar, so that only those of a page are read.
  const colours = await build({
    ...node,
    ...sizes,
    format: "esm",
    splitting: true,
    metafile: true,
    entryPoints: ["src/hunks/colours.ts"],
    outdir: "dist/colours",
    outExtension: { ".js": ".mjs" },
    logLevel: "warning",
  });
  const inputs = [metafile, colours.metafile].flatMap((each) => Object.keys(each.inputs));
  writeFileSync("dist/THIRD-PARTY-NOTICES.txt", notices(inputs));
  await build({
    ...shared,
    ...sizes,
    platform: "browser",
    format: "iife",
    entryPoints: ["src/webview/hunks.ts"],
    outdir: "dist",
  });
}

// What is bundled of others goes with its licence; a package without one is not bundled at all.
function notices(inputs) {
  const packages = inputs.map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  const folders = [...new Set(packages.filter((folder) => folder !== undefined))].sort();
  const entries = folders.map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (license === undefined || file === undefined) {
      throw new Error(`${folder}: no licence, so it cannot be bundled`);
    }
    return `${name} ${version} (${license})\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
  });
  const head = "The extension of Excise is under the MIT license. It bundles:\n";
  return [head, ...entries].join(`\n${"-".repeat(80)}\n\n`);
}
