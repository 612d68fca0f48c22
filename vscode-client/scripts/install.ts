/** Installs what the tests in a real VS Code need and the package manager does not bring. */
import { installCodeServer } from "./lib/code_server.js";
import { main } from "./lib/places.js";

await main(installCodeServer);
