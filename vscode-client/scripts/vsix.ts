/**
 * `make vsix`: the universal VSIX; with --offline also the one that carries its server, which is
 * then tried in a real VS Code that has no network and no other server.
 */
import { join, relative } from "node:path";
import { installCodeServer } from "./lib/code_server.js";
import { runTests } from "./lib/node_test.js";
import { makeVsix, megabytes } from "./lib/package.js";
import { CACHE, main, PROJECT, VSIX } from "./lib/places.js";
import { makeWheelhouse } from "./lib/wheelhouse.js";

await main(async () => {
  say(VSIX, await makeVsix({ vsix: VSIX }));
  if (!process.argv.includes("--offline")) return;
  console.log("Building the wheel of this project, and fetching those that it needs");
  const wheels = makeWheelhouse(join(CACHE, "wheelhouse"));
  const vsix = VSIX.replace(/\.vsix$/, `-${wheels.target}-python${wheels.python}.vsix`);
  const size = await makeVsix({ vsix, wheels });
  await installCodeServer();
  process.env["EXCISE_TEST_VSIX"] = vsix;
  process.env["EXCISE_TEST_PYTHON"] = wheels.base;
  if (!(await runTests("offline"))) process.exitCode = 1;
  else say(vsix, size);
});

function say(vsix: string, size: number): void {
  console.log(`${relative(PROJECT, vsix)}: ${megabytes(size)}`);
}
