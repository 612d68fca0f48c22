/** Workspaces, always copies: a repository with four worktrees, made from examples/inventory. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXAMPLE } from "./places.js";

/** Who has a worktree; every other one has committed, the rest is uncommitted. */
export const AUTHORS = ["ada", "bo", "chen", "dana"] as const;

export const FILE = "inventory.py";

export interface Repository {
  /** The folder to open. */
  readonly folder: string;
  /** The document in it. */
  readonly file: string;
  /** By name: the folder of each worktree. */
  readonly worktrees: ReadonlyMap<string, string>;
}

export function suggestion(name: string): string {
  return readFileSync(join(EXAMPLE, `${FILE}.suggestion-${name}`), "utf8");
}

export function origin(): string {
  return readFileSync(join(EXAMPLE, FILE), "utf8");
}

/** Make `parent/inventory` with one commit, and beside it `inventory-NAME` for each author. */
export function makeRepository(parent: string): Repository {
  const folder = join(parent, "inventory");
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "--quiet", "--initial-branch=main");
  copyFileSync(join(EXAMPLE, FILE), join(folder, FILE));
  git(folder, "add", FILE);
  git(folder, "commit", "--quiet", "--message", "The stock of a small warehouse");
  const worktrees = new Map<string, string>();
  AUTHORS.forEach((name, index) => {
    const worktree = join(parent, `inventory-${name}`);
    git(folder, "worktree", "add", "--quiet", "-b", name, worktree);
    writeFileSync(join(worktree, FILE), suggestion(name));
    if (index % 2 === 0) git(worktree, "commit", "--quiet", "--all", "--message", `By ${name}`);
    worktrees.set(name, worktree);
  });
  return { folder, file: join(folder, FILE), worktrees };
}

/** Make a folder that is no repository, with the document alone or with the files beside it. */
export function makeFolder(folder: string, ...beside: readonly string[]): string {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, FILE), origin());
  for (const name of beside) writeFileSync(join(folder, `${FILE}.suggestion-${name}`), suggestion(name));
  return folder;
}

/** Git as a stranger has it: no configuration of this machine, a name of its own. */
export function git(folder: string, ...args: readonly string[]): string {
  return execFileSync("git", args, {
    cwd: folder,
    encoding: "utf8",
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_AUTHOR_NAME: "Excise",
      GIT_AUTHOR_EMAIL: "excise@example.com",
      GIT_COMMITTER_NAME: "Excise",
      GIT_COMMITTER_EMAIL: "excise@example.com",
      GIT_AUTHOR_DATE: "2024-01-01T12:00:00Z",
      GIT_COMMITTER_DATE: "2024-01-01T12:00:00Z",
    },
  });
}
