/** A user opens a file that four worktrees have edited, and takes what they want. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Locator } from "playwright-core";
import { AUTHORS, FILE, git, makeReview, origin, suggestion } from "../../scripts/lib/fixture.js";
import { VENV } from "../../scripts/lib/places.js";
import type { Server } from "../../scripts/lib/server.js";
import { suite } from "../../scripts/lib/suite.js";
import { until, type Workbench } from "../../scripts/lib/workbench.js";

const inWorkbench = suite("session", { patience: 300_000 });

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

inWorkbench("what was taken is decided, and Finish checks it, commits it, and removes its worktree", async ({ bench, repository }) => {
  const { page } = bench;
  git(repository.folder, "config", "user.name", "Mina");
  git(repository.folder, "config", "user.email", "mina@example.org");
  const before = git(repository.folder, "rev-parse", "HEAD");
  await bench.openFile(FILE);
  await bench.showCandidates();
  await bench.candidate("bo").waitFor();
  await bench.inline(bench.candidate("bo"), "Take Candidate");
  await bench.candidate("bo").filter({ hasText: "taken" }).waitFor();
  await bench.candidate("chen").filter({ hasText: "passed over" }).waitFor();
  // So are the hunks that only others of its task change.
  await bench.hunks.filter({ hasText: "kept" }).first().waitFor();

  const ended = async (check: string): Promise<void> => {
    await bench.command("Excise: Finish");
    const input = page.locator(".quick-input-widget:visible input.input");
    await page.locator(".quick-input-title", { hasText: "Commit 1 file on main" }).waitFor();
    await page.keyboard.press("Enter");
    const other = page.locator(".quick-input-list .monaco-list-row", { hasText: "Another Check" });
    const typed = page.locator(".quick-input-title", { hasText: "must pass before the commit" });
    await other.or(typed).first().waitFor();
    if (await other.isVisible()) await other.click();
    await typed.waitFor();
    await input.fill(check);
    await page.keyboard.press("Enter");
    await page.locator(".monaco-dialog-box").getByRole("button", { name: "Finish and Remove Worktrees" }).click();
    await page.locator(".quick-input-title", { hasText: "Worktrees to remove" }).waitFor();
    await bench.pick("bo");
    await page.keyboard.press("Enter");
  };
  await ended("echo not yet; false");
  await bench.notifications.filter({ hasText: "nothing was committed" }).waitFor();
  assert.equal(git(repository.folder, "rev-parse", "HEAD"), before);
  await ended(`test -f ${FILE}`);
  await bench.notifications.filter({ hasText: "1 worktree removed" }).waitFor();
  assert.match(git(repository.folder, "log", "-1", "--format=%an %B", "--name-only"), /^Mina Take .*bo\n\nTaken from .*bo.*inventory\.py\n/s);
  assert.equal(git(repository.folder, "rev-parse", "HEAD~"), before);
  assert.equal(existsSync(repository.worktrees.get("bo") ?? ""), false);
  assert.equal(git(repository.folder, "status", "--porcelain"), "");
  await bench.candidate("bo").waitFor({ state: "detached" });
});

/** The files of a repository as they lie there, beside HEAD: renames found, new ones among them. */
function changed(folder: string): string {
  git(folder, "add", "--all");
  const diff = git(folder, "diff", "--cached", "--find-renames", "HEAD");
  git(folder, "reset", "--quiet");
  return diff;
}

/** What the command makes of the document for the same choices. */
function taken(folder: string, ...choices: string[]): string {
  const patch = execFileSync(join(VENV, "bin", "excise"), ["take", "--repo", folder, ...choices]);
  const copy = mkdtempSync(join(tmpdir(), "excise-taken-"));
  try {
    git(folder, "worktree", "add", "--quiet", "--detach", join(copy, "tree"));
    execFileSync("git", ["apply"], { cwd: join(copy, "tree"), input: patch });
    return readFileSync(join(copy, "tree", FILE), "utf8");
  } finally {
    git(folder, "worktree", "remove", "--force", join(copy, "tree"));
    rmSync(copy, { recursive: true });
  }
}

async function saveAll(bench: Workbench): Promise<void> {
  await bench.command("File: Save All Files");
  await bench.page.locator(".tab.dirty").first().waitFor({ state: "detached" });
}

/** By the class that VS Code gives the body of a page, themes of that kind. */
const THEMES = {
  "vscode-light": "Default Light Modern",
  "vscode-high-contrast-light": "Default High Contrast Light",
  "vscode-high-contrast": "Default High Contrast",
  "vscode-dark": "Default Dark Modern",
};

/** What a screen reader, or somebody who sees little, would stumble over, in any theme. */
async function accessible(bench: Workbench, server: Server): Promise<void> {
  const body = bench.webview().locator("body");
  await body.evaluate((_body, source) => void (0, eval)(source), readFileSync("node_modules/axe-core/axe.min.js", "utf8")).catch(() => undefined);
  for (const [kind, theme] of Object.entries(THEMES)) {
    server.configure({ "workbench.colorTheme": theme });
    await until(() => body.getAttribute("class"), (classes) => classes?.split(" ").includes(kind) ?? false);
    const violations = await body.evaluate(async () => {
      const { axe } = globalThis as unknown as { axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> } };
      return (await axe.run()).violations.map(({ id, nodes }) => [id, nodes[0]?.html]);
    });
    assert.deepEqual(violations, [], theme);
  }
}

/** Count the pages that the hunk editor gets from now on. */
async function counted(bench: Workbench): Promise<() => Promise<number>> {
  const body = bench.webview().locator("body");
  await body.evaluate((element) => {
    element.dataset["posts"] = "0";
    addEventListener("message", () => (element.dataset["posts"] = `${Number(element.dataset["posts"]) + 1}`));
  });
  return async () => Number(await body.getAttribute("data-posts"));
}

inWorkbench("five worktrees: seen, compared, one taken whole, two mixed by keys alone, and remembered", async ({ bench, repository, server }) => {
  const { folder, file } = repository;
  const { page } = bench;
  const before = readFileSync(file, "utf8");
  await bench.openFile(FILE);
  await bench.showCandidates();
  for (const name of ["bo", "chen", "dana", "eli", "ada"]) await bench.candidate(name).waitFor();
  const group = bench.candidates.filter({ hasText: "2 of 5 are identical" });
  await bench.members(group, ["claude-ada", "copilot-eli"]);

  // The hunks of every file that they change, of those that no tab shows as well.
  await bench.hunks.filter({ hasText: "legacy.py" }).waitFor();
  const helpers = bench.hunks.filter({ hasText: "helpers.py" }).locator(".monaco-tl-twistie");
  await helpers.click();
  await bench.hunks.filter({ hasText: "bo changes this" }).waitFor();
  await page.locator(".pane-header", { hasText: "0 of 6 decided" }).waitFor();
  await helpers.click();

  // A whole one, with a file deleted and one renamed: what git says of the candidate.
  await bench.candidate("bo").click();
  const entries = page.locator(".multiDiffEntry");
  await until(() => entries.allInnerTexts(), (texts) => texts.some((text) => text.includes("helpers.py")));
  await page.locator(".tab.active", { hasText: "bo: what it changes" }).waitFor();
  await bench.openFile(FILE);
  await bench.command("Excise: Review Candidates");
  await bench.focusRow(bench.candidate("bo"));
  await page.keyboard.press("ControlOrMeta+Enter");
  await page.locator(".tab.dirty", { hasText: "tools.py" }).waitFor();
  await saveAll(bench);
  assert.equal(changed(folder), git(folder, "diff", "--find-renames", "main", "bo"));
  await bench.focusEditor();
  await page.keyboard.press("ControlOrMeta+z");
  await page.locator(".tab.dirty", { hasText: "helpers.py" }).waitFor();
  await saveAll(bench);
  await until(() => git(folder, "status", "--porcelain"), (status) => status === "");

  // A commit to main changes no group.
  git(folder, "commit", "--quiet", "--allow-empty", "--message", "meanwhile");
  await bench.command("Excise: Review Candidates");
  await bench.members(group, ["claude-ada", "copilot-eli"]);

  // By keys alone: one for each hunk.
  await bench.focusEditor();
  await page.keyboard.press("ControlOrMeta+Alt+h");
  const progress = bench.webview().locator("#progress");
  const decided = (count: number): Promise<string> => until(() => progress.innerText(), (text) => text === `${count} of 7 decided`);
  // An undo takes the text back, and not that its rivals' other hunks were decided.
  await decided(4);
  await bench.command("Excise: Start the Review Again");
  await decided(0);
  await page.keyboard.press("ControlOrMeta+Alt+h");
  const body = bench.webview().locator("body");
  await body.locator(".file", { hasText: "tests/test_inventory.py" }).getByText("chen: created").waitFor();
  await body.locator(".hunk", { hasText: "Lines 43 to 45 · Inventory.reserve" }).locator(".around .keyword", { hasText: "def" }).first().waitFor();
  assert.equal(await bench.hunks.filter({ hasText: "Lines 43 to 45 · reserve" }).count(), 1);
  await accessible(bench, server);
  const posts = await counted(bench);
  const keys = ["0", "0", "2", "0", "1"];
  for (const [at, key] of keys.entries()) {
    await page.keyboard.press(key);
    await decided(at + 1);
  }
  assert.equal(await posts(), keys.length, "a page for each decision");
  await page.keyboard.press("u");
  await page.keyboard.press("u");
  await decided(3);
  // Faster than the answers: each key is for the hunk after the one before.
  await page.keyboard.press("0");
  await page.keyboard.press("1");
  await decided(5);
  // The document beside the page has the result, and follows to the next file.
  await page.locator('.tab.active[data-resource-name="helpers.py"]').waitFor();
  await page.keyboard.press("k");
  await page.locator(`.tab.active[data-resource-name="${FILE}"]`).waitFor();
  await page.keyboard.press("Enter");
  await bench.save();
  const mix = readFileSync(file, "utf8");
  assert.notEqual(mix, before);
  const ids = ["worktree:inventory-bo", `${FILE}#43-45`, "worktree:inventory-dana", `${FILE}#57-60`];
  assert.equal(mix, taken(folder, ...ids));

  // What was decided is there after a reload, and a worktree that is gone is gone from the view.
  await page.reload();
  await page.locator(".editor-instance .view-line").first().waitFor();
  await bench.candidates.first().waitFor();
  await page.locator(`.tab[data-resource-name="${FILE}"]`).click(); // the editor may not have kept yet which one was active
  await bench.hunks.filter({ hasText: "5 of 5 decided" }).first().waitFor();
  git(folder, "worktree", "remove", "--force", repository.worktrees.get("chen") ?? "");
  await bench.candidate("chen").waitFor({ state: "detached" });
  // An agent goes on in a worktree, in a file that nobody has open: the view follows by itself.
  const written = join(repository.worktrees.get("dana") ?? "", "deep", "written.py");
  mkdirSync(dirname(written));
  for (let at = 0; at < 100; at += 1) {
    writeFileSync(written, `LINES = ${at}\n`);
  }
  await bench.candidate("dana").locator(".monaco-tl-twistie").click();
  await bench.candidates.filter({ hasText: "written.py" }).waitFor();
}, makeReview);

inWorkbench("candidates are compared, given a base, hidden, and taken in spite of a conflict", async ({ bench, repository }) => {
  const { page } = bench;
  await bench.openFile(FILE);
  await bench.showCandidates();
  await bench.candidate("dana").waitFor();

  await bench.command("Excise: Compare Two Candidates");
  await bench.pick("bo");
  await bench.pick("dana");
  await page.locator(".tab.active", { hasText: "bo ↔ dana" }).waitFor();
  const entries = page.locator(".multiDiffEntry");
  await until(() => entries.allInnerTexts(), (texts) => texts.some((text) => /tools\.py[^]*value\s\+\s33[^]*value\s\+\s3\b/.test(text)));

  // What a base is must be a commit; what it was set to is offered the next time.
  const base = async (): Promise<Locator> => {
    await bench.command("Excise: Set Base of Candidate");
    await bench.pick("dana");
    const input = page.locator(".quick-input-widget:visible", { hasText: "What did dana start from?" }).locator("input.input");
    await input.waitFor();
    return input;
  };
  await (await base()).fill("nowhere");
  await page.keyboard.press("Enter");
  await bench.notifications.filter({ hasText: "nowhere" }).waitFor();
  await (await base()).fill("main~1");
  await page.keyboard.press("Enter");
  const commit = git(repository.folder, "rev-parse", "main~1").trim();
  await until(
    async () => {
      const value = await (await base()).inputValue();
      await page.keyboard.press("Escape");
      return value;
    },
    (value) => value === commit,
  );

  const toggle = async (): Promise<void> => {
    await bench.command("Excise: Hide or Show Candidates");
    await page.locator(".quick-input-widget:visible", { hasText: "Candidates to show" }).locator("input.input").fill("chen");
    await bench.pick("chen");
    await page.keyboard.press("Enter");
  };
  await toggle();
  const aside = bench.candidates.filter({ hasText: "Set aside" });
  await aside.waitFor();
  await toggle();
  await aside.waitFor({ state: "detached" });
  await bench.candidate("chen").waitFor();

  // The target changed the same line: nothing is replaced that was not agreed to.
  const question = async (answer: string): Promise<void> => {
    await bench.command("Excise: Take Candidate");
    await bench.pick("dana");
    const dialog = page.locator(".monaco-dialog-box", { hasText: "changed the same lines in inventory.py" });
    await dialog.getByRole("button", { name: answer }).click();
    await dialog.waitFor({ state: "detached" });
  };
  await question("Cancel");
  assert.equal(await page.locator(".tab.dirty").count(), 0);
  await question("Take with Conflict Markers");
  await page.locator(`.tab.dirty[data-resource-name="${FILE}"]`).waitFor();
  await saveAll(bench);
  assert.match(readFileSync(repository.file, "utf8"), /^<{7} the target$[^]*^={7}$[^]*^>{7} dana$/m);
}, makeReview);
