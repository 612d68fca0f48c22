/** Hunks that belong together are taken with one key; one that is taken alone is warned of where it breaks. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { FILE, makeUnits } from "../../scripts/lib/fixture.js";
import { suite } from "../../scripts/lib/suite.js";
import { until, type Workbench } from "../../scripts/lib/workbench.js";

const inWorkbench = suite("units", { patience: 300_000 });

/** Take a picture for whoever wants to look at it. */
async function picture(bench: Workbench, name: string): Promise<void> {
  const folder = process.env["EXCISE_PICTURES"];
  if (folder !== undefined) await bench.page.screenshot({ path: `${folder}/${name}.png` });
}

inWorkbench("a unit is taken with one key, and undone with one; a hunk alone is warned of", async ({ bench, repository }) => {
  const { page } = bench;
  const before = readFileSync(repository.file, "utf8");
  await bench.openFile(FILE);
  await bench.showCandidates();
  await bench.candidate("ada").waitFor();
  await bench.focusEditor();
  await page.keyboard.press("ControlOrMeta+Alt+h");
  const body = bench.webview().locator("body");
  const progress = bench.webview().locator("#progress");
  const said = (text: string): Promise<string> => until(() => progress.innerText(), (now) => now === text);
  const save = async (): Promise<string> => {
    await bench.openFile(FILE);
    await bench.save();
    return readFileSync(repository.file, "utf8");
  };
  await said("0 of 4 decided");
  await body.getByText("3 hunks that belong together: CREDENTIALS").first().waitFor();
  await picture(bench, "unit");

  // The hunk at the cursor uses what another one binds: the user is asked, and then warned for as long as it is so.
  await page.keyboard.press("a");
  await body.getByText("The next number takes its hunk alone.").waitFor();
  await page.keyboard.press("1");
  const dialog = page.locator(".monaco-dialog-box", { hasText: "uses CREDENTIALS, which nothing defines" });
  await dialog.getByRole("button", { name: "Take It Anyway" }).click();
  await said("1 of 4 decided · 1 warning");
  const warning = body.locator(".hunk .warning");
  assert.equal(await warning.innerText(), "⚠ Line 16 uses CREDENTIALS, which nothing defines (ada)");
  await picture(bench, "warning");
  await bench.openFile(FILE);
  await page.locator(".squiggly-warning").first().waitFor();
  const problems = await bench.problems();
  await until(() => problems.allInnerTexts(), (texts) => texts.some((text) => /uses CREDENTIALS.*ada/.test(text)));
  await picture(bench, "problems");
  await page.locator(".tab", { hasText: `Hunks: ${FILE}` }).click();
  await body.locator(".hunk.current").click();
  await page.keyboard.press("u");
  await said("0 of 4 decided");
  assert.equal(await warning.count(), 0);

  // All three with one key, which is one step for the hunk editor and for the document.
  await page.keyboard.press("1");
  await said("3 of 4 decided");
  await picture(bench, "taken");
  assert.equal(await save(), readFileSync(`${repository.worktrees.get("ada") ?? ""}/${FILE}`, "utf8"));
  await page.locator(".tab", { hasText: `Hunks: ${FILE}` }).click();
  await body.locator(".hunk.current").click();
  await page.keyboard.press("u"); // after a save, too
  await said("0 of 4 decided");
  assert.equal(await save(), before);
  await bench.undo();
  await bench.undo();
  assert.equal(await save(), before);
}, makeUnits);
