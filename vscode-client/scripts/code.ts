/** `make code`: VS Code in a browser, the extension installed, on a repository with four worktrees. */
import { spawn } from "node:child_process";
import { installCodeServer } from "./lib/code_server.js";
import { AUTHORS, FILE, makeFolder, makeRepository } from "./lib/fixture.js";
import { makeVsix } from "./lib/package.js";
import { find, main, VSIX } from "./lib/places.js";
import { Scratch } from "./lib/scratch.js";
import { type Server, startServer } from "./lib/server.js";

await main(async () => {
  await installCodeServer();
  await makeVsix({ vsix: VSIX });
  await Scratch.during("code", async (scratch) => {
    const work = scratch.sub("work");
    const folder = find("git") ? makeRepository(work).folder : makeFolder(work, ...AUTHORS);
    const server = await startServer({ home: scratch.sub("server"), extensions: [VSIX] });
    scratch.later(() => server.stop());
    const url = address(server, folder);
    console.log(`\nVS Code with Excise, on a copy of examples/inventory:\n\n  ${url}\n`);
    console.log(`${AUTHORS.length} people have edited ${FILE}, each in a worktree. Where they differ is underlined;`);
    console.log("the light bulb there, or Excise in the activity bar, applies what you choose.");
    console.log("Ctrl+C ends it; the copy is deleted.");
    show(url);
    await interrupted();
  });
});

/** The folder with the document open: the workbench is told in its payload. */
function address(server: Server, folder: string): string {
  const file = `vscode-remote://127.0.0.1:${server.port}${folder}/${FILE}`;
  const query = new URLSearchParams({ folder, payload: JSON.stringify([["openFile", file]]) });
  return `${server.url}/?${query.toString()}`;
}

/** In the user's browser, where there is one and a screen to show it on. */
function show(url: string): void {
  const open = process.platform === "darwin" ? find("open") : find("xdg-open");
  const screens = [process.env["DISPLAY"], process.env["WAYLAND_DISPLAY"]];
  const screen = process.platform === "darwin" || screens.some(Boolean);
  if (!open || !screen) return;
  spawn(open, [url], { stdio: "ignore", detached: true }).on("error", () => undefined).unref();
}

function interrupted(): Promise<void> {
  return new Promise((done) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => done());
  });
}
