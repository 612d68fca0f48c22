/**
 * `make vsix`: the universal VSIX, which carries no server; with a wheel of ours also the one for the
 * wheel's platform, which is then tried in a real VS Code that has no other server.
 */
import { dirname, join, relative, resolve } from "node:path";
import { installCodeServer } from "./lib/code_server.js";
import { runTests } from "./lib/node_test.js";
import { makeVsix, megabytes } from "./lib/package.js";
import { main, PROJECT, VSIX } from "./lib/places.js";
import { wheelOf } from "./lib/wheel.js";

await main(async () => {
  say(VSIX, await makeVsix({ vsix: VSIX }));
  const [named] = process.argv.slice(2);
  if (named === undefined) return;
  const server = wheelOf(resolve(PROJECT, named));
  const vsix = join(dirname(VSIX), `excise-${server.target}.vsix`);
  const size = await makeVsix({ vsix, server });
  say(vsix, size);
  if (server.target !== `${process.platform}-${process.arch}`) {
    console.log(`not tried: this machine is ${process.platform}-${process.arch}`);
    return;
  }
  await installCodeServer();
  process.env["EXCISE_TEST_VSIX"] = vsix;
  if (!(await runTests("platform"))) process.exitCode = 1;
});

function say(vsix: string, size: number): void {
  console.log(`${relative(PROJECT, vsix)}: ${megabytes(size)}`);
}
