/** What the browser tests have in common: one server and one browser, a window for each test. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { newWindow, startBrowser } from "./browser.js";
import { makeRepository, type Repository } from "./fixture.js";
import { VSIX } from "./places.js";
import { Scratch } from "./scratch.js";
import { type Server, type ServerOptions, startServer } from "./server.js";
import { Workbench } from "./workbench.js";

export interface Stage {
  readonly bench: Workbench;
  readonly repository: Repository;
  readonly server: Server;
  /** A folder that lives as long as the suite, for what a test wants to keep apart. */
  readonly scratch: string;
}

type Options = Omit<ServerOptions, "home" | "extensions"> & {
  /** What is done to the repository before it is opened. */
  readonly prepare?: (repository: Repository) => void;
  /** Milliseconds for one test. */
  readonly patience?: number;
  /** The universal VSIX if absent. */
  readonly vsix?: string;
  /** More of the environment, when the suite's folder is known. */
  readonly surroundings?: (scratch: string) => Partial<ServerOptions>;
};

/** Register tests that each get a workbench on a repository of their own. */
export function suite(name: string, options: Options = {}) {
  let scratch: Scratch, server: Server, browser: Browser;
  let failed = false;
  let count = 0;
  before(async () => {
    scratch = new Scratch(name);
    const more = options.surroundings?.(scratch.folder);
    server = await startServer({ ...options, ...more, home: scratch.sub("server"), extensions: [options.vsix ?? VSIX] });
    scratch.later(() => server.stop());
    browser = await startBrowser();
    scratch.later(() => browser.close());
  });
  after(() => scratch.close(failed));

  return (title: string, body: (stage: Stage) => Promise<void>, make = makeRepository): void => {
    void test(title, { timeout: options.patience ?? 120_000 }, async () => {
      const number = (count += 1);
      const repository = make(scratch.sub(`work-${number}`));
      options.prepare?.(repository);
      const window = await newWindow(browser);
      const picture = join(scratch.folder, `failed-${number}.png`);
      try {
        const bench = await Workbench.open(window, server, repository.folder);
        await body({ bench, repository, server, scratch: scratch.folder });
      } catch (error) {
        failed = true;
        await window.page.screenshot({ path: picture }).catch(() => rmSync(picture, { force: true }));
        writeFileSync(`${picture}.log`, window.console.join("\n"));
        console.error(`${title}: ${picture}`);
        throw error;
      } finally {
        await window.context.close();
      }
    });
  };
}
