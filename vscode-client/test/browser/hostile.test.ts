/** What revisions say is text: it is never run, never a link, and nothing is fetched for it. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { FILE, origin, type Repository } from "../../scripts/lib/fixture.js";
import { suite } from "../../scripts/lib/suite.js";
import { until } from "../../scripts/lib/workbench.js";

const HTML = '<img src="https://excise.invalid/i.png" onerror="globalThis.pwned = 1">';
const LINK = "[click](command:workbench.action.closeAllEditors)";
const NAME = "<b onclick=x>$(alert) [n](command:x)";

function prepare({ folder }: Repository): void {
  const line = "        # Two customers";
  const hostile = origin().replace(line, `        # ${HTML} ${LINK} $(alert) \`\`\`\n${line}`);
  writeFileSync(join(folder, `${FILE}.suggestion-${NAME}`), hostile);
  writeFileSync(join(folder, `${FILE}.suggestion-plain`), hostile.replace("reserved", HTML));
}

const inWorkbench = suite("hostile", { prepare });

/** Requests that would leave the machine for what a revision says. */
function watched(page: Page): string[] {
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("excise.invalid")) asked.push(request.url());
  });
  return asked;
}

async function inert(page: Page, asked: readonly string[]): Promise<void> {
  for (const frame of page.frames()) {
    assert.equal(await frame.evaluate(() => "pwned" in globalThis), false);
    assert.equal(await frame.locator('img[src*="excise.invalid"], b[onclick]').count(), 0);
    const links = '[href^="command:"], [data-href^="command:"]';
    const hrefs = await frame.locator(links).evaluateAll((all) => all.map((one) => one.outerHTML));
    assert.ok(!hrefs.some((html) => /closeAllEditors|command:x/.test(html)), hrefs.join("\n"));
  }
  assert.deepEqual(asked, []);
}

inWorkbench("in hovers, lenses, the view and comparisons", async ({ bench }) => {
  const asked = watched(bench.page);
  await bench.openFile(FILE);
  await bench.squiggles.first().waitFor();
  const rows = await bench.showCandidates();
  await until(
    () => rows.allInnerTexts(),
    (texts) => texts.some((text) => text.includes("$(alert)") && text.includes("onclick")),
  );
  await rows.filter({ hasText: "onclick" }).first().hover();
  await bench.page.locator(".monaco-hover:visible, .workbench-hover:visible").first().waitFor();
  await inert(bench.page, asked);

  const line = origin().split("\n").findIndex((text) => text.includes("# Two customers")) + 1;
  await bench.goTo(line);
  const hover = await bench.hover();
  await until(
    async () => (await hover.allInnerTexts()).join("\n"),
    (text) => text.includes("onclick"),
  );
  await inert(bench.page, asked);
  await bench.page.keyboard.press("Escape");

  await bench.command("Excise: Open Hunk Editor");
  await bench.webview().locator(".hunk").first().waitFor();
  await inert(bench.page, asked);
});
