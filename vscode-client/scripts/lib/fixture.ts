/** Workspaces, always copies: a repository with four worktrees, made from examples/inventory. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
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

/** Files of the target beside the document, for what happens to whole files. */
const LEGACY = "def old_price(item):\n    return item.price\n";
const HELPERS = Array.from({ length: 8 }, (_, n) => `def helper_${n}(value):\n    return value + ${n}\n`).join("\n\n");

/**
 * Five worktrees of one task, as agents leave them: two make the same change, one from an older commit, one
 * in conflict with main; a file is created, one deleted, one renamed.
 */
export function makeReview(parent: string): Repository {
  const folder = join(parent, "inventory");
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "--quiet", "--initial-branch=main");
  const write = (root: string, name: string, text: string): void => {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  };
  write(folder, FILE, origin());
  write(folder, "legacy.py", LEGACY);
  write(folder, "helpers.py", HELPERS);
  write(folder, ".gitignore", ".claude/\n");
  git(folder, "add", ".");
  git(folder, "commit", "--quiet", "--message", "The stock of a small warehouse");
  const worktrees = new Map<string, string>();
  const add = (name: string, path: string, branch: string): string => {
    git(folder, "worktree", "add", "--quiet", "-b", branch, path);
    worktrees.set(name, path);
    return path;
  };
  // Two from the first commit: main has moved since.
  const ada = add("ada", join(folder, ".claude", "worktrees", "ada"), "worktree-ada");
  write(ada, FILE, suggestion("ada"));
  git(ada, "commit", "--quiet", "--all", "--message", "What is reserved is not free");
  const dana = add("dana", join(parent, "inventory-dana"), "dana");
  write(dana, FILE, suggestion("dana").replace("of a small warehouse", "of a warehouse"));
  write(folder, FILE, origin().replace("of a small warehouse", "of one small warehouse"));
  git(folder, "commit", "--quiet", "--all", "--message", "One warehouse");
  const moved = (text: string): string => text.replace("of a small warehouse", "of one small warehouse");
  const eli = add("eli", join(parent, "inventory.worktrees", "eli"), "copilot/eli");
  write(eli, FILE, moved(suggestion("ada")));
  const bo = add("bo", join(parent, "inventory-bo"), "bo");
  write(bo, FILE, moved(suggestion("bo")));
  rmSync(join(bo, "legacy.py"));
  renameSync(join(bo, "helpers.py"), join(bo, "tools.py"));
  write(bo, "tools.py", HELPERS.replace("value + 3", "value + 33"));
  git(bo, "add", "--all");
  git(bo, "commit", "--quiet", "--message", "Free pieces, and no legacy");
  const chen = add("chen", join(parent, "inventory-chen"), "chen");
  write(chen, FILE, moved(suggestion("chen")));
  write(chen, join("tests", "test_inventory.py"), "from inventory import Inventory\n\n\ndef test_empty():\n    assert Inventory().value() == 0\n");
  return { folder, file: join(folder, FILE), worktrees };
}

const SHOP = [
  '"""Orders, as the shop takes them."""',
  ...["", "import os", "", ""],
  ...["def connect(url):", "    session = Session(url)", "    return session", "", ""],
  ...["def order(session, sku):", '    return session.post("/orders", sku)', "", ""],
  ...["def cancel(session, number):", '    return session.delete(f"/orders/{number}")', ""],
].join("\n");

/** Two worktrees: three of ada's hunks share a name that she binds in the first, and bo's is on its own. */
export function makeUnits(parent: string): Repository {
  const folder = join(parent, "inventory");
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(folder, FILE), SHOP);
  git(folder, "add", FILE);
  git(folder, "commit", "--quiet", "--message", "The orders of a shop");
  const texts = {
    ada: SHOP.replace("import os\n", 'import os\n\nCREDENTIALS = os.environ.get("SHOP_LOGIN")\n')
      .replace("    return session\n", "    session.auth = CREDENTIALS\n    return session\n")
      .replace('{number}")', '{number}", auth=CREDENTIALS)'),
    bo: SHOP.replace('"/orders", sku)', '"/orders", sku, 1)'),
  };
  const worktrees = new Map(Object.keys(texts).map((name) => [name, join(parent, `inventory-${name}`)]));
  for (const [name, text] of Object.entries(texts)) {
    const path = worktrees.get(name) ?? "";
    git(folder, "worktree", "add", "--quiet", "-b", name, path);
    writeFileSync(join(path, FILE), text);
  }
  return { folder, file: join(folder, FILE), worktrees };
}

/** Two worktrees with a task each: ada edits the document, and bo another file. */
export function makeTasks(parent: string): Repository {
  const repository = makeRepository(parent);
  const { folder, worktrees } = repository;
  writeFileSync(join(folder, "helpers.py"), HELPERS);
  git(folder, "add", ".");
  git(folder, "commit", "--quiet", "--message", "Helpers");
  for (const name of ["chen", "dana"]) git(folder, "worktree", "remove", "--force", worktrees.get(name) ?? "");
  git(folder, "branch", "--quiet", "--delete", "--force", "chen", "dana");
  const bo = worktrees.get("bo") ?? "";
  git(bo, "checkout", "--quiet", "--force", "-B", "bo", "main");
  writeFileSync(join(bo, "helpers.py"), HELPERS.replace("value + 3", "value + 33"));
  return repository;
}

/** A repository with so many worktrees, three of which always say the same. */
export function makeMany(parent: string, count: number): Repository {
  const folder = join(parent, "inventory");
  mkdirSync(folder, { recursive: true });
  git(folder, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(folder, FILE), origin());
  git(folder, "add", FILE);
  git(folder, "commit", "--quiet", "--message", "The stock of a small warehouse");
  const worktrees = new Map<string, string>();
  for (let n = 0; n < count; n++) {
    const name = `agent-${n}`;
    const path = join(parent, "inventory.worktrees", name);
    git(folder, "worktree", "add", "--quiet", "-b", `copilot/${name}`, path);
    writeFileSync(join(path, FILE), origin().replace("quantity > item.on_hand", `quantity > item.on_hand - ${Math.floor(n / 3)}`));
    worktrees.set(name, path);
  }
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
