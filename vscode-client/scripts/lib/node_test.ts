/** Runs files with node:test, each with a VS Code server and a browser of its own. */
import { spawn } from "node:child_process";
import { buildBrowserTests } from "./tests.js";

/** Run the tests of a folder of test/, all or those whose names hold a part; whether they passed. */
export async function runTests(folder: string, ...wanted: readonly string[]): Promise<boolean> {
  const built = await buildBrowserTests(folder);
  const files = built.filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)));
  // One file after the other: two editors at once make a machine of two cores wait for itself.
  const args = ["--enable-source-maps", "--test", "--test-concurrency=1", "--test-reporter=spec"];
  const child = spawn(process.execPath, [...args, ...files], { stdio: "inherit" });
  return (await new Promise((done) => child.on("exit", done))) === 0;
}
