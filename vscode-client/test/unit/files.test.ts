import assert from "node:assert/strict";
import { test } from "node:test";
import { fileTooltip, fileWords, isReviewed, reviewFiles } from "../../src/hunks/files";
import type { FileEntry } from "../../src/protocol";
import { candidates, work } from "./candidates";

function file(path: string, status: string, more: Partial<FileEntry> = {}): FileEntry {
  return { path, kind: "code", status, added: 1, deleted: 0, facts: [], ...more };
}

const ranking = [
  work("worktree:ada", { files: [file("src/a.py", "modified"), file("new.py", "created"), file("lib/later.py", "renamed", { old_path: "lib/b.py" })] }),
  work("worktree:bo", { files: [file("src/a.py", "modified"), file("lib/b.py", "deleted")] }),
  work("branch:chen", { files: [file("src/a.py", "modified"), file("c.py", "modified")] }),
];

test("the files of all candidates, each once, where the target has them; those of most candidates first", () => {
  const files = reviewFiles(candidates({ ranking }));
  assert.deepEqual(files.map(({ path }) => path), ["src/a.py", "lib/b.py", "c.py", "new.py"]);
  assert.deepEqual(files.map(fileWords), ["3 candidates · src", "2 candidates · renamed, deleted · lib", "1 candidate", "1 candidate · created"]);
  assert.deepEqual(files.map(isReviewed), [true, true, true, false], "what is not in the target has no hunks there");
  const [, renamed] = files;
  assert.ok(renamed);
  assert.equal(renamed.candidates[0]?.path, "lib/later.py");
  assert.deepEqual(fileTooltip(renamed), ["lib/b.py", "ada: renamed", "bo: deleted"]);
});

test("names that others chose are made harmless", () => {
  const [hostile] = reviewFiles(candidates({ ranking: [work("x", { label: "a\u202eb", files: [file("d\u0000/e\n", "modified")] })] }));
  assert.ok(hostile);
  const said = [fileWords(hostile), ...fileTooltip(hostile)].join(" ");
  // eslint-disable-next-line no-control-regex
  assert.doesNotMatch(said, /[\u0000\u202e\n]/);
});

test("1,000 candidates of 100 files are put together at once", () => {
  const many = Array.from({ length: 1000 }, (_, n) => work(`w${n}`, { files: Array.from({ length: 100 }, (_file, at) => file(`f${at}`, "modified")) }));
  const files = reviewFiles(candidates({ ranking: many }));
  assert.equal(files.length, 100);
  assert.equal(files[0]?.candidates.length, 1000);
});
