/** `make vsix`: the universal VSIX; with --offline also the one that carries its server. */
import { join, relative } from "node:path";
import { makeVsix, megabytes } from "./lib/package.js";
import { CACHE, main, PROJECT, VSIX } from "./lib/places.js";
import { makeWheelhouse } from "./lib/wheelhouse.js";

await main(async () => {
  say(VSIX, await makeVsix({ vsix: VSIX }));
  if (!process.argv.includes("--offline")) return;
  const wheels = makeWheelhouse(join(CACHE, "wheelhouse"));
  const vsix = VSIX.replace(/\.vsix$/, `-${wheels.target}-python${wheels.python}.vsix`);
  say(vsix, await makeVsix({ vsix, wheels }));
});

function say(vsix: string, size: number): void {
  console.log(`${relative(PROJECT, vsix)}: ${megabytes(size)}`);
}
