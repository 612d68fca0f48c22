/**
 * `make screenshots`: renews the pictures of the extension under docs/images/.
 *
 * Nothing in them is drawn by hand: a real VS Code shows a repository with five worktrees. With a folder as its
 * argument it leaves docs/ alone, and also takes those that are only looked at: high contrast, a narrow side bar,
 * many candidates, what the view says where it has nothing to show.
 */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Browser } from "playwright-core";
import { newWindow, startBrowser } from "./lib/browser.js";
import { installCodeServer } from "./lib/code_server.js";
import { FILE, makeFolder, makeMany, makeRepository, makeReview } from "./lib/fixture.js";
import { makeVsix } from "./lib/package.js";
import { IMAGES, main, PROJECT, VSIX } from "./lib/places.js";
import { fewerColours } from "./lib/png.js";
import { Scratch } from "./lib/scratch.js";
import { type Server, type ServerOptions, startServer } from "./lib/server.js";
import { until, Workbench } from "./lib/workbench.js";

const THEMES = { light: "Default Light Modern", dark: "Default Dark Modern" };
const MORE = { "contrast-dark": "Default High Contrast", "contrast-light": "Default High Contrast Light" };

/** Pictures that a page shows. */
const SHOWN = ["candidates-light", "candidates-dark", "hunks-dark", "whole-light"];

const NOTEBOOK = JSON.stringify({ cells: [], metadata: {}, nbformat: 4, nbformat_minor: 5 });

/** How many pixels the side bar grows for a picture. */
const WIDER = 140;

await main(async () => {
  await installCodeServer();
  await makeVsix({ vsix: VSIX });
  const [folder, all] = process.argv[2] === undefined ? [IMAGES, false] : [process.argv[2], true];
  mkdirSync(folder, { recursive: true });
  await Scratch.during("pictures", async (scratch) => {
    const browser = await startBrowser();
    scratch.later(() => browser.close());
    for (const [theme, label] of Object.entries(all ? { ...THEMES, ...MORE } : THEMES)) {
      const settings = {
        "workbench.colorTheme": label,
        "editor.minimap.enabled": false,
        "git.blame.statusBarItem.enabled": false,
      };
      const server = await startServer({ home: scratch.sub(`server-${theme}`), extensions: [VSIX], settings });
      scratch.later(() => server.stop());
      const path = (name: string): string | undefined =>
        all || SHOWN.includes(`${name}-${theme}`) ? join(folder, `vscode-${name}-${theme}.png`) : undefined;
      await pictures(browser, server, scratch.sub(`work-${theme}`), path);
      if (all && theme === "light") {
        await others(browser, server, scratch.sub("others"), path);
        await states(browser, scratch, settings, path);
      }
    }
  });
});

type Path = (name: string) => string | undefined;

async function take(bench: Workbench, path: string | undefined): Promise<void> {
  if (path === undefined) return;
  await bench.settled();
  const picture = await bench.page.screenshot({ animations: "disabled", caret: "hide" });
  writeFileSync(path, fewerColours(picture));
  console.log(`${relative(PROJECT, path)}: ${(statSync(path).size / 1000).toFixed(0)} kB`);
}

async function pictures(browser: Browser, server: Server, work: string, path: Path): Promise<void> {
  const window = await newWindow(browser);
  const bench = await Workbench.open(window, server, makeReview(work).folder);
  await bench.openFile(FILE);
  await bench.squiggles.first().waitFor();
  await bench.showCandidates();
  await bench.widen(WIDER);
  await bench.hunks.first().waitFor();
  await bench.candidate("bo").locator(".monaco-tl-twistie").click();
  await bench.goTo(44);
  await take(bench, path("candidates"));

  await bench.actions();
  await take(bench, path("actions"));
  await bench.page.keyboard.press("Escape");

  await bench.candidate("bo").click();
  await bench.page.locator(".multiDiffEntry").first().waitFor();
  await take(bench, path("whole"));

  // The page stands beside the document, which has the result: the two need the width of the side bar.
  await bench.hunks.filter({ hasText: "Lines 43 to 45" }).click();
  const hunks = bench.webview().locator(".hunk");
  await hunks.first().waitFor();
  await bench.page.keyboard.press("1");
  await until(() => bench.webview().locator("#progress").innerText(), (text) => text.startsWith("1 of"));
  await bench.page.keyboard.press("k");
  await bench.page.keyboard.press("ControlOrMeta+b");
  await take(bench, path("hunks"));

  await bench.page.keyboard.press("ControlOrMeta+b");
  await bench.command("Excise: Land Candidates");
  await bench.page.locator(".tab.active", { hasText: "What lands together" }).waitFor();
  await take(bench, path("land"));
  await window.context.close();
}

/** What no page shows, and somebody must have seen. */
async function others(browser: Browser, server: Server, work: string, path: Path): Promise<void> {
  const shown = async (folder: string, name: string, narrower: number, ready: (bench: Workbench) => Promise<unknown>): Promise<void> => {
    const window = await newWindow(browser);
    const bench = await Workbench.open(window, server, folder);
    await bench.page.getByRole("tab", { name: /^Excise/ }).click();
    await ready(bench);
    await bench.widen(narrower);
    await take(bench, path(name));
    await window.context.close();
  };
  const rows = (bench: Workbench): Promise<void> => bench.candidates.first().waitFor();
  await shown(makeReview(join(work, "narrow")).folder, "narrow", -125, rows);
  await shown(makeMany(join(work, "many"), 20).folder, "many", WIDER, rows);
  const button = (name: string) => (bench: Workbench): Promise<void> => bench.page.getByRole("button", { name }).first().waitFor();
  await shown(makeFolder(join(work, "plain")), "state-refused", 0, button("Look Again"));
  await shown(makeMany(join(work, "none"), 0).folder, "state-nothing", 0, button("Where Excise Looked"));
  const notebook = makeMany(join(work, "notebook"), 0).folder;
  writeFileSync(join(notebook, "a.ipynb"), NOTEBOOK);
  await shown(notebook, "state-notebook", 0, async (bench) => {
    await bench.page.keyboard.press("ControlOrMeta+Shift+e");
    await bench.page.locator(".explorer-folders-view .monaco-list-row", { hasText: "a.ipynb" }).dblclick();
    await bench.page.getByRole("tab", { name: /^Excise/ }).click();
    await bench.page.getByText("Notebooks are not supported").first().waitFor();
  });
}

/** What the view says where the server, or the trust, is missing: each in an editor that has it so. */
async function states(browser: Browser, scratch: Scratch, settings: Record<string, unknown>, path: Path): Promise<void> {
  const mute = join(scratch.sub("mute"), "excise");
  writeFileSync(mute, '#!/bin/sh\n[ "$1" = --version ] && echo "excise, version 99.0.0" || exec sleep 600\n', { mode: 0o755 });
  const surroundings: readonly (readonly [string, Partial<ServerOptions>, string])[] = [
    ["missing", { path: [], settings: { ...settings, "excise.path": ["/nowhere/excise"] } }, "Install The Server"],
    ["starting", { path: [], settings: { ...settings, "excise.path": [mute] } }, "Show Logs"],
    ["untrusted", { settings, asksForTrust: true }, "Manage Workspace Trust"],
  ];
  for (const [name, options, button] of surroundings) {
    const server = await startServer({ ...options, home: scratch.sub(`server-${name}`), extensions: [VSIX] });
    try {
      const window = await newWindow(browser);
      const bench = await Workbench.open(window, server, makeRepository(scratch.sub(`state-${name}`)).folder);
      if (name === "untrusted") await bench.trust("No");
      await bench.page.getByRole("tab", { name: /^Excise/ }).click();
      await bench.page.getByRole("button", { name: button }).first().waitFor();
      await take(bench, path(`state-${name}`));
      await window.context.close();
    } finally {
      await server.stop();
    }
  }
}
