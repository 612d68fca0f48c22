/** Chromium, driven by playwright-core; it opens workbenches of a server. */
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { find, Trouble } from "./places.js";

const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--disable-quic",
];

/** The window of every test and picture. */
export const VIEW = { width: 1280, height: 800 } as const;

export function chromiumPath(): string | undefined {
  return process.env["EXCISE_CHROMIUM"] ?? find("chromium", "chromium-browser", "google-chrome");
}

export async function startBrowser(): Promise<Browser> {
  const executablePath = chromiumPath();
  if (executablePath === undefined) {
    throw new Trouble(
      "chromium is missing (Debian: apt-get install chromium), or name a Chrome in EXCISE_CHROMIUM",
    );
  }
  return chromium.launch({ executablePath, args: QUIET });
}

/** A page without memory of others; its problems are kept for when a test fails. */
export interface Window {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly console: string[];
}

export async function newWindow(browser: Browser, dark = false): Promise<Window> {
  const context = await browser.newContext({
    viewport: VIEW,
    colorScheme: dark ? "dark" : "light",
    permissions: ["clipboard-read", "clipboard-write"],
    locale: "en-US",
  });
  const page = await context.newPage();
  const console: string[] = [];
  page.on("console", (message) => console.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => console.push(`page error: ${String(error)}`));
  page.setDefaultTimeout(45_000);
  return { page, context, console };
}
