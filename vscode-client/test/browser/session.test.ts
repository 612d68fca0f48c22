/** A user opens a file that four worktrees have edited, and takes what they want. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { AUTHORS, FILE, origin, suggestion } from "../../scripts/lib/fixture.js";
import { suite } from "../../scripts/lib/suite.js";
import { until } from "../../scripts/lib/workbench.js";

const inWorkbench = suite("session");

/** The line where the four differ, counted from 1. */
const LINE = origin().split("\n").findIndex((line) => line.includes("# Two customers")) + 1;

inWorkbench("squiggles, lenses, Problems and the hover come by themselves", async ({ bench }) => {
  await bench.openFile(FILE);
  await bench.squiggles.first().waitFor();
  await bench.goTo(LINE);
  await bench.lenses.filter({ hasText: "all four differ here" }).waitFor();
  const hover = await bench.hover();
  const said = await until(
    async () => (await hover.allInnerTexts()).join("\n"),
    (text) => text.includes('all four differ here') && text.includes('keep'),
  );
  for (const name of AUTHORS) assert.match(said, new RegExp(`inventory-${name}`));
  await bench.page.keyboard.press("Escape");
  const problems = await bench.problems();
  const shown = (wanted: RegExp): Promise<string[]> =>
    until(() => problems.allInnerTexts(), (texts) => texts.some((text) => wanted.test(text)));
  await shown(/^4 candidates in 3 groups/m);
  await bench.page.keyboard.press("End"); // the ranking is long, and the list shows what it has room for
  await shown(/all four differ here/);
});

inWorkbench("the view applies a revision, exactly, and undo takes it back", async ({ bench, repository }) => {
  await bench.openFile(FILE);
  await bench.showRevisions();
  for (const name of AUTHORS) await bench.revision(name).waitFor();
  await bench.inline(bench.revision("dana"), "Apply Revision");
  await bench.save();
  assert.equal(readFileSync(repository.file, "utf8"), suggestion("dana"));
  await bench.undo();
  await bench.save();
  assert.equal(readFileSync(repository.file, "utf8"), origin());
});

inWorkbench("the view applies one hunk of a revision, and undo takes it back", async ({ bench, repository }) => {
  await bench.openFile(FILE);
  const rows = await bench.showRevisions();
  await bench.revision("ada").locator(".monaco-tl-twistie").click();
  const hunks = rows.and(bench.page.locator('[aria-level="3"]'));
  await hunks.first().waitFor();
  await bench.inline(hunks.first(), "Apply Hunk");
  await bench.save();
  const now = readFileSync(repository.file, "utf8");
  assert.notEqual(now, origin());
  assert.equal(now, suggestion("ada"), "it has edited one hunk only");
  await bench.undo();
  await bench.save();
  assert.equal(readFileSync(repository.file, "utf8"), origin());
});

inWorkbench("the light bulb applies one variant", async ({ bench, repository }) => {
  await bench.openFile(FILE);
  await bench.squiggles.first().waitFor();
  await bench.goTo(LINE);
  await bench.act(/the lines of inventory-dana here/);
  await bench.save();
  const now = readFileSync(repository.file, "utf8");
  assert.notEqual(now, suggestion("dana"), "dana has edited other places too");
  const theirs = suggestion("dana").split("\n");
  const added = now.split("\n").filter((line) => !origin().split("\n").includes(line));
  assert.ok(added.length > 0 && added.every((line) => theirs.includes(line)), added.join("\n"));
});

inWorkbench("all revisions are compared in one editor", async ({ bench }) => {
  await bench.openFile(FILE);
  await bench.showRevisions();
  await bench.command("Excise: Compare All Revisions");
  const entries = bench.page.locator(".multiDiffEntry");
  await entries.first().waitFor();
  await until(() => entries.allInnerTexts(), (texts) => texts.some((text) => text.includes("inventory-ada")));
  await entries.first().locator(".line-insert, .char-insert").first().waitFor();
  await bench.page.locator(".tab.active", { hasText: "4 revisions" }).waitFor();
});

inWorkbench("the similarity picture is used by keyboard, and a click compares", async ({ bench }) => {
  await bench.openFile(FILE);
  await bench.showRevisions();
  await bench.command("Excise: Show Similarity Picture");
  const grid = bench.similarity();
  await grid.waitFor();
  await until(() => grid.getAttribute("aria-rowcount"), (rows) => rows === "4");
  const cell = grid.locator("#cell");
  await grid.focus();
  await bench.page.keyboard.press("Control+Home");
  await until(() => cell.innerText(), (text) => text.includes('rank 1, cluster 1'));
  await bench.page.keyboard.press("ArrowRight");
  await until(() => cell.innerText(), (text) => /(inventory-)?ada and (inventory-)?bo: 0\.\d\d/.test(text));
  assert.equal(await cell.getAttribute("aria-colindex"), "2");
  await bench.page.keyboard.press("Enter");
  await bench.page.locator(".tab.active", { hasText: /\b(ada|bo)\b/ }).waitFor();
  await bench.page.locator(".monaco-diff-editor, .multiDiffEntry").first().waitFor();
});
