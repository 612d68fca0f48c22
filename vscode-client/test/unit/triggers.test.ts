// Whether a server is started for a document, in real folders and a real repository.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { after, test } from "node:test";
import { type Signs, hasSibling, hasWorktrees, looksRevised, pattern } from "../../src/triggers";

const folder = mkdtempSync(path.join(tmpdir(), "triggers-"));
after(() => rmSync(folder, { recursive: true }));

const GLOBS = ["${file}.suggestion-*", "${file}.orig", "${file}.rej"];
const signs = (more: Partial<Signs> = {}): Signs => ({ files: GLOBS, worktrees: true, trusted: true, text: "", ...more });

function file(name: string): string {
  const whole = path.join(folder, name);
  mkdirSync(path.dirname(whole), { recursive: true });
  writeFileSync(whole, "x\n");
  return whole;
}

function git(cwd: string, ...args: string[]): void {
  const env = { PATH: process.env["PATH"], HOME: folder, GIT_CONFIG_GLOBAL: "/dev/null" };
  const who = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
  execFileSync("git", [...who, ...args], { cwd, env, stdio: "ignore" });
}

test("a file beside that matches", async () => {
  const own = file("beside/a.py");
  assert.ok(!(await looksRevised(own, signs())));
  file("beside/b.py.suggestion-1");
  assert.ok(!(await looksRevised(own, signs())), "another file's");
  file("beside/a.py.suggestion-gpt");
  assert.ok(await looksRevised(own, signs()));
  assert.ok(await looksRevised(own, signs({ trusted: false })), "needs no git");
  assert.ok(!(await looksRevised(own, signs({ files: [] }))));
});

test("globs: variables, signs of expressions, nothing with folders, never the file itself", async () => {
  assert.ok(pattern("${stem}-?${extension}", "/x/a.py").test("a-1.py"));
  assert.ok(!pattern("${file}.*", "/x/a.py").test("aXpy.1"));
  assert.ok(!pattern("*.orig", "/x/a.py").test("a/b.orig"));
  assert.ok(pattern("(a)[b]+", "/x/a.py").test("(a)[b]+"));
  const own = file("globs/a.py");
  assert.ok(!(await hasSibling(own, ["*.py", "../*", "/etc/*"])));
  assert.ok(!(await hasSibling(path.join(folder, "nowhere", "a.py"), GLOBS)));
});

test("markers of a conflict", async () => {
  const own = file("conflict/a.py");
  assert.ok(await looksRevised(own, signs({ text: "x\n<<<<<<< ours\n" })));
  assert.ok(!(await looksRevised(own, signs({ text: "x <<<<<<< y\n" }))));
});

test("other worktrees of the repository, from either side, if it is trusted", async () => {
  const main = path.dirname(file("repo/a.py"));
  git(main, "init", "-q");
  git(main, "add", ".");
  git(main, "commit", "-qm", "x");
  const own = path.join(main, "a.py");
  assert.ok(!(await hasWorktrees(own)));
  git(main, "worktree", "add", "-q", path.join(folder, "other"));
  assert.ok(await hasWorktrees(own));
  assert.ok(await hasWorktrees(path.join(folder, "other", "a.py")));
  assert.ok(!(await looksRevised(own, signs({ trusted: false }))));
  assert.ok(!(await looksRevised(own, signs({ worktrees: false }))));
});

test("odd folders: a .git that is no repository, none at all", async () => {
  file("odd/.git");
  assert.ok(!(await hasWorktrees(file("odd/a.py"))));
  assert.ok(!(await hasWorktrees("/a.py")));
});
