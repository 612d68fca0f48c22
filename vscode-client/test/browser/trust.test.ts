/** Restricted Mode, with the editor's own question: nothing of the workspace is run. */
import assert from "node:assert/strict";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXAMPLE, find, VENV } from "../../scripts/lib/places.js";
import { FILE, type Repository } from "../../scripts/lib/fixture.js";
import { suite } from "../../scripts/lib/suite.js";

/** A program that leaves a mark and does what the other one does. */
function marking(folder: string, name: string, marks: string, real: string): void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\necho "$@" >> "${marks}"\nexec "${real}" "$@"\n`);
  chmodSync(path, 0o755);
}

const MARKS = "program.log";

/** Settings of the workspace name a program in it; a file beside the document needs no git. */
function prepare({ folder }: Repository): void {
  marking(folder, "program", join(folder, MARKS), join(VENV, "bin", "excise"));
  mkdirSync(join(folder, ".vscode"));
  const settings = { "excise.path": [join(folder, "program")] };
  writeFileSync(join(folder, ".vscode", "settings.json"), JSON.stringify(settings));
  copyFileSync(join(EXAMPLE, `${FILE}.suggestion-eli`), join(folder, `${FILE}.suggestion-eli`));
}

/** The server's git, watched: it is the first on PATH. */
const inWorkbench = suite("trust", {
  asksForTrust: true,
  prepare,
  surroundings: (scratch) => {
    const git = find("git");
    assert.ok(git);
    marking(join(scratch, "bin"), "git", join(scratch, "git.log"), git);
    return {
      path: [join(scratch, "bin"), join(VENV, "bin")],
      settings: { "git.enabled": false }, // the editor's own git
    };
  },
});

inWorkbench("without trust: files beside, no git, no program of the workspace; with it, worktrees", async ({
  bench,
  repository,
  scratch,
}) => {
  await bench.trust("No");
  await bench.openFile(FILE);
  await bench.showCandidates();
  await bench.candidate("eli").waitFor();
  await bench.squiggles.first().waitFor();
  assert.equal(await bench.candidate("ada").count(), 0);
  assert.ok(!existsSync(join(scratch, "git.log")), "git was started");
  assert.ok(!existsSync(join(repository.folder, MARKS)), "a program of the workspace was started");

  await bench.grantTrust();
  await bench.candidate("ada").waitFor();
  assert.match(readFileSync(join(scratch, "git.log"), "utf8"), /worktree list --porcelain/);
  assert.match(readFileSync(join(repository.folder, MARKS), "utf8"), /serve --stdio/);
});
