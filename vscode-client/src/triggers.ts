// Whether a document looks as if it had revisions: only then is a server started for it. Reads
// names of files, never their contents, and runs nothing.
import { readdir, readFile, stat } from "node:fs/promises";
import * as path from "node:path";

export interface Signs {
  /** Globs of the setting `excise.sources.files`. */
  readonly files: readonly string[];
  readonly worktrees: boolean;
  /** Whether the workspace is trusted: without it git has no say. */
  readonly trusted: boolean;
  /** Text of the document as it is open. */
  readonly text: string;
}

const MOST_ENTRIES = 10_000;

/** Whether to start a server for a file. */
export async function looksRevised(file: string, { files, worktrees, trusted, text }: Signs): Promise<boolean> {
  const signed = /^<{7,} /m.test(text) || (await hasSibling(file, files));
  return signed || (trusted && worktrees && (await hasWorktrees(file)));
}

/** Whether a file beside this one matches a glob. */
export async function hasSibling(file: string, globs: readonly string[]): Promise<boolean> {
  const patterns = globs.filter((glob) => !/[\\/]/.test(glob)).map((glob) => pattern(glob, file));
  const names = await readdir(path.dirname(file)).catch(() => []);
  return names.slice(0, MOST_ENTRIES).some((name) => name !== path.basename(file) && patterns.some((glob) => glob.test(name)));
}

/** A glob of one name, its variables filled in, as an expression. */
export function pattern(glob: string, file: string): RegExp {
  const { name, ext, base } = path.parse(file);
  const wildcards: Readonly<Record<string, string>> = { "*": "[^/]*", "?": "[^/]" };
  const variables: Readonly<Record<string, string>> = { "${file}": base, "${stem}": name, "${extension}": ext };
  const parts = glob.split(/(\$\{\w+\}|\*|\?)/);
  const filled = parts.map((part) => wildcards[part] ?? (variables[part] ?? part).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${filled.join("")}$`, "s");
}

/** Whether the repository of a file has more than one worktree. */
export async function hasWorktrees(file: string): Promise<boolean> {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const git = path.join(folder, ".git");
    const status = await stat(git).catch(() => undefined);
    if (status?.isDirectory() === true) {
      return (await readdir(path.join(git, "worktrees")).catch(() => [])).length > 0;
    }
    if (status?.isFile() === true && status.size < 10_000) {
      return /^gitdir:.*[\\/]worktrees[\\/]/.test(await readFile(git, "utf8").catch(() => ""));
    }
    if (path.dirname(folder) === folder) {
      return false;
    }
  }
}
