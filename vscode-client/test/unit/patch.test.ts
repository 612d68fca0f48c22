import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { PatchError, applyPatch, parsePatch } from "../../src/patch";

const ORIGIN = "one\ntwo\nthree\nfour\n";

/** What `git diff` says of two texts. */
function gitDiff(before: string, after: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), "patch-"));
  try {
    writeFileSync(path.join(folder, "a.txt"), before);
    writeFileSync(path.join(folder, "b.txt"), after);
    const args = ["diff", "--no-index", "--no-color", "-U1", "a.txt", "b.txt"];
    const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
    return execFileSync("git", args, { cwd: folder, encoding: "utf8", env });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("what git made is applied to exactly the result", () => {
  const pairs: [string, string][] = [
    [ORIGIN, "one\n2\nthree\nfour\n"],
    [ORIGIN, "zero\none\ntwo\nthree\nfour"],
    ["a\nb", "a\nb\nc\n"],
    ["", "a\nb\n"],
    [ORIGIN, ""],
    ["--- a\n+++ b\n@@ -1 +1 @@\n", "--- a\n++ x\n@@ -1 +1 @@\nend\n"],
    [ORIGIN.repeat(20), ORIGIN.repeat(10) + "x\n" + ORIGIN.repeat(9)],
  ];
  for (const [before, after] of pairs) {
    assert.equal(applyPatch(before, gitDiff(before, after), "b.txt"), after);
  }
});

test("a patch of another text is refused with the line", () => {
  const patch = gitDiff(ORIGIN, "one\n2\nthree\nfour\n");
  assert.throws(() => applyPatch("one\nTWO\nthree\nfour\n", patch, "b.txt"), /line 2 differs/);
  assert.throws(() => applyPatch("", patch, "b.txt"), PatchError);
  // The same lines elsewhere are not what it names.
  assert.throws(() => applyPatch(`zero\n${ORIGIN}`, patch, "b.txt"), PatchError);
});

test("the part for this file is taken out of many", () => {
  const patch = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-x\n+y\n--- a/sub/a.py\n+++ b/sub/a.py\n@@ -1 +1 @@\n-one\n+two\n";
  assert.equal(applyPatch("one\n", patch, "a.py"), "two\n");
  assert.throws(() => applyPatch("one\n", patch, "other.py"), /does not change other\.py/);
  assert.throws(() => applyPatch("one\n", patch + patch, "a.py"), /several files/);
});

test("what is no patch, or not the whole of one, is refused", () => {
  assert.throws(() => applyPatch(ORIGIN, "hello", "a.txt"), /no unified diff/);
  assert.throws(() => applyPatch(ORIGIN, "--- a\n+++ a\n@@ -1,3 +1,2 @@\n one\n", "a"), /cut short/);
  assert.throws(() => applyPatch(ORIGIN, "--- a\n+++ a\n@@ x @@\n one\n", "a"), /no hunk header/);
  assert.throws(() => parsePatch("GIT binary patch\n"), /binary/);
  assert.throws(() => applyPatch(ORIGIN, "--- a\n+++ a\n@@ -0,0 +9 @@\n+x\n@@ -1 +1 @@\n-one\n+1\n@@ -1 +1 @@\n-one\n+1\n", "a"), PatchError);
});

test("line ends of the patch and of the text do not matter", () => {
  const patch = "--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
  assert.equal(applyPatch("one\r\ntwo\r\n", patch.replace(/\n/g, "\r\n"), "a"), "one\n2\n");
});
