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
  for (const name of AUTHORS) assert.match(said, new RegExp(`\\b${name}\\b`));
  await bench.page.keyboard.press("Escape");
  const problems = await bench.problems();
  const shown = (wanted: RegExp): Promise<string[]> =>
    until(() => problems.allInnerTexts(), (texts) => texts.some((text) => wanted.test(text)));
  await shown(/^4 candidates in 3 groups/m);
  await bench.page.keyboard.press("End"); // the ranking is long, and the list shows what it has room for
  await shown(/all four differ here/);
});

inWorkbench("the view takes a whole candidate, exactly, and undo takes it back", async ({ bench, repository }) => {
  await bench.openFile(FILE);
  await bench.showCandidates();
  for (const name of AUTHORS) await bench.candidate(name).waitFor();
  await bench.inline(bench.candidate("dana"), "Take Candidate");
  await bench.save();
  assert.equal(readFileSync(repository.file, "utf8"), suggestion("dana"));
  await bench.undo();
  await bench.save();
  assert.equal(readFileSync(repository.file, "utf8"), origin());
});

inWorkbench("the light bulb applies one variant", async ({ bench, repository }) => {
  await bench.openFile(FILE);
  await bench.squiggles.first().waitFor();
  await bench.goTo(LINE);
  await bench.act(/the lines of (inventory-)?dana here/);
  await bench.save();
  const now = readFileSync(repository.file, "utf8");
  assert.notEqual(now, suggestion("dana"), "dana has edited other places too");
  const theirs = suggestion("dana").split("\n");
  const added = now.split("\n").filter((line) => !origin().split("\n").includes(line));
  assert.ok(added.length > 0 && added.every((line) => theirs.includes(line)), added.join("\n"));
});

inWorkbench("the similarity picture is used by keyboard, and a click compares", async ({ bench }) => {
  await bench.openFile(FILE);
  await bench.showCandidates();
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
