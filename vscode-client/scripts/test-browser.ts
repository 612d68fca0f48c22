/** Runs test/browser/ in a real VS Code. */
import { installCodeServer } from "./lib/code_server.js";
import { runTests } from "./lib/node_test.js";
import { main } from "./lib/places.js";

await main(async () => {
  await installCodeServer();
  if (!(await runTests("browser", ...process.argv.slice(2)))) process.exitCode = 1;
});
