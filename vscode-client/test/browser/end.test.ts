/** A review comes to its end: in six actions, by landing several tasks together, and again when an agent goes on. */
import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FILE, git, makeTasks, suggestion } from "../../scripts/lib/fixture.js";
import { suite } from "../../scripts/lib/suite.js";
import { until, type Workbench } from "../../scripts/lib/workbench.js";

const inWorkbench = suite("end", {
  patience: 300_000,
  prepare: ({ folder }) => {
    git(folder, "config", "user.name", "Mina");
    git(folder, "config", "user.email", "mina@example.org");
  },
});

/** Do what a user does, and count it. */
function counter(): [(action: () => Promise<unknown>) => Promise<void>, () => number] {
  let count = 0;
  const act = async (action: () => Promise<unknown>): Promise<void> => {
    count += 1;
    await action();
  };
  return [act, () => count];
}

/** The questions of Finish, each answered with one key or click: what is committed, by which check, and whether. */
async function answered({ page }: Workbench, act: (action: () => Promise<unknown>) => Promise<void>, last: () => Promise<unknown>): Promise<void> {
  await page.locator(".quick-input-title", { hasText: "Commit 1 file on main" }).waitFor();
  await act(() => page.keyboard.press("Enter"));
  await page.locator(".quick-input-title", { hasText: /must pass before the commit|Check before the commit/ }).waitFor();
  await act(() => page.keyboard.press("Enter"));
  await page.locator(".monaco-dialog-box", { hasText: `Files: ${FILE}` }).waitFor();
  await act(last);
}

inWorkbench("from the folder to the commit in six actions, by mouse and by keys", async ({ bench, repository }) => {
  const { page } = bench;
  const { folder, file } = repository;
  const before = git(folder, "rev-parse", "HEAD");
  const committed = (): Promise<string> => until(() => git(folder, "rev-list", "--parents", "--max-count=1", "HEAD"), (line) => line.split(" ")[1] === before);

  const [act, count] = counter();
  await act(() => bench.showCandidates());
  await bench.candidate("dana").waitFor();
  await act(async () => {
    await bench.candidate("dana").hover();
    await bench.candidate("dana").locator('.action-label[aria-label^="Take Candidate"]').click();
  });
  await bench.candidate("dana").filter({ hasText: "taken" }).waitFor();
  await act(async () => {
    await page.locator('.pane-header[aria-label^="Candidates"]').hover();
    await page.locator('.pane-header[aria-label^="Candidates"] .action-label[aria-label^="Finish"]').click();
  });
  await answered(bench, act, () => page.locator(".monaco-dialog-box").getByRole("button", { name: "Finish", exact: true }).click());
  assert.equal(count(), 6);
  await committed();
  assert.equal(git(folder, "show", `HEAD:${FILE}`), suggestion("dana"));

  git(folder, "reset", "--quiet", "--hard", "HEAD~");
  await bench.candidate("dana").filter({ hasText: "taken" }).waitFor({ state: "detached" });
  const [press, pressed] = counter();
  await press(() => bench.command("Excise: Review Candidates"));
  const taken = bench.candidate("bo").filter({ hasText: "taken" });
  const take = async (): Promise<void> => {
    await bench.focusRow(bench.candidate("bo"));
    await page.keyboard.press("ControlOrMeta+Enter");
    await taken.waitFor({ timeout: 20_000 });
  };
  await press(() => take().catch(take)); // a row that is drawn anew loses the key
  await press(() => bench.command("Excise: Finish"));
  await answered(bench, press, () => page.keyboard.press("Enter"));
  assert.equal(pressed(), 6);
  await committed();
  assert.equal(readFileSync(file, "utf8"), suggestion("bo"));
  assert.equal(git(folder, "status", "--porcelain"), "");
});

inWorkbench("what two tasks agree on lands together, and a candidate that goes on says what is new", async ({ bench, repository }) => {
  const { page } = bench;
  const { folder, worktrees } = repository;
  const [ada, bo] = [worktrees.get("ada") ?? "", worktrees.get("bo") ?? ""];
  await bench.showCandidates();
  await bench.candidate("ada").waitFor();
  await bench.command("Excise: Land Candidates");
  await page.locator(".tab.active", { hasText: "What lands together" }).waitFor();
  await page.locator(".editor-instance .view-line", { hasText: "helpers.py" }).first().waitFor();
  await bench.notifications.filter({ hasText: /Land .*(ada|bo).*\?/ }).getByRole("button", { name: "Land" }).click();
  await page.locator('.tab.dirty[data-resource-name="helpers.py"]').waitFor();
  await bench.command("File: Save All Files");
  await page.locator(".tab.dirty").first().waitFor({ state: "detached" });
  assert.equal(readFileSync(join(folder, FILE), "utf8"), readFileSync(join(ada, FILE), "utf8"));
  assert.equal(readFileSync(join(folder, "helpers.py"), "utf8"), readFileSync(join(bo, "helpers.py"), "utf8"));

  // What was taken has been looked at: news of it are told, whatever file they are in.
  git(folder, "reset", "--quiet", "--hard");
  await bench.candidate("bo").filter({ hasText: "taken" }).waitFor({ state: "detached" });
  await bench.candidate("bo").hover();
  await bench.candidate("bo").locator('.action-label[aria-label^="Take Candidate"]').click();
  await bench.candidate("bo").filter({ hasText: "taken" }).waitFor();
  appendFileSync(join(bo, "helpers.py"), "\n\ndef helper_8(value):\n    return -value\n");
  const news = bench.candidate("bo").filter({ hasText: "changed since you looked" });
  await news.waitFor();
  await news.locator(".monaco-tl-twistie").click();
  await bench.candidates.filter({ has: page.locator(".label-name", { hasText: /^Changed since you looked$/ }) }).click();
  await page.locator(".tab.active", { hasText: "Since you looked at" }).waitFor();
  await until(() => page.locator(".editor-group-container.active .view-lines").innerText(), (text) => text.replaceAll("\u00a0", " ").includes("def helper_8(value)"));
}, makeTasks);
