/**
 * `make screenshots`: renews the pictures of the extension under docs/images/, light and dark.
 *
 * Nothing in them is drawn by hand: a real VS Code shows a repository with four worktrees.
 */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Browser } from "playwright-core";
import { newWindow, startBrowser } from "./lib/browser.js";
import { installCodeServer } from "./lib/code_server.js";
import { FILE, makeRepository } from "./lib/fixture.js";
import { makeVsix } from "./lib/package.js";
import { IMAGES, main, PROJECT, VSIX } from "./lib/places.js";
import { fewerColours } from "./lib/png.js";
import { Scratch } from "./lib/scratch.js";
import { type Server, startServer } from "./lib/server.js";
import { Workbench } from "./lib/workbench.js";

const THEMES = { light: "Default Light Modern", dark: "Default Dark Modern" } as const;
type Theme = keyof typeof THEMES;

await main(async () => {
  await installCodeServer();
  await makeVsix({ vsix: VSIX });
  const folder = process.argv[2] ?? IMAGES;
  mkdirSync(folder, { recursive: true });
  await Scratch.during("pictures", async (scratch) => {
    const browser = await startBrowser();
    scratch.later(() => browser.close());
    for (const theme of Object.keys(THEMES) as Theme[]) {
      const server = await startServer({
        home: scratch.sub(`server-${theme}`),
        extensions: [VSIX],
        settings: {
          "workbench.colorTheme": THEMES[theme],
          "editor.minimap.enabled": false,
          "git.blame.statusBarItem.enabled": false,
        },
      });
      scratch.later(() => server.stop());
      await pictures(browser, server, scratch.sub(`work-${theme}`), (name) =>
        join(folder, `vscode-${name}-${theme}.png`),
      );
    }
  });
});

async function pictures(
  browser: Browser,
  server: Server,
  work: string,
  path: (name: string) => string,
): Promise<void> {
  const repository = makeRepository(work);
  const window = await newWindow(browser);
  const bench = await Workbench.open(window, server, repository.folder);
  const take = async (name: string): Promise<void> => {
    await bench.settled();
    const picture = await bench.page.screenshot({ animations: "disabled", caret: "hide" });
    writeFileSync(path(name), fewerColours(picture));
    console.log(`${relative(PROJECT, path(name))}: ${(statSync(path(name)).size / 1000).toFixed(0)} kB`);
  };
  await bench.openFile(FILE);
  await bench.squiggles.first().waitFor();
  const rows = await bench.showRevisions();
  await bench.widen(120);
  await bench.revision("dana").locator(".monaco-tl-twistie").click();
  await rows.and(bench.page.locator('[aria-level="3"]')).first().waitFor();
  await bench.goTo(44);
  await take("revisions");

  await bench.actions();
  await take("actions");
  await bench.page.keyboard.press("Escape");

  await bench.command("Excise: Compare All Revisions");
  await bench.page.locator(".multiDiffEntry").first().waitFor();
  await take("compare");

  await bench.command("Excise: Show Similarity Picture");
  await bench.similarity().waitFor();
  await take("similarity");
  await window.context.close();
}
