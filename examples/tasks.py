"""A repository with five worktrees for five tasks: `python examples/tasks.py FOLDER` builds it.

Two add a method each to one class. One rewrites a function, one renames it everywhere, and one adds
a file that calls it by its old name.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CFG = """\
def parse(text):
    result = {}
    for line in text.splitlines():
        key, _, value = line.partition("=")
        result[key] = value
    return result


def dump(values):
    return str(values)


class Store:
    def __init__(self, text):
        self.values = parse(text)

    def fetch(self, key):
        return self.values[key]
"""
APP = "import cfg\n\n\ndef main(text):\n    return cfg.parse(text)\n"
EXTRA = "import cfg\n\nprint(cfg.parse('a=1'))\n"
BASE = {"cfg.py": CFG, "app.py": APP}
RENAMED = {path: text.replace("parse(", "parse_config(") for path, text in BASE.items()}
BODY = CFG[CFG.index("    result =") : CFG.index("\n\n\ndef dump")]
PLANTED = {
    "rename": RENAMED,
    "newcall": {"extra.py": EXTRA},
    "methodD": {"cfg.py": f"{CFG}\n    def has(self, key):\n        return key in self.values\n"},
    "methodE": {"cfg.py": f"{CFG}\n    def drop(self, key):\n        del self.values[key]\n"},
    "rewriteparse": {"cfg.py": CFG.replace(BODY, "    return dict(text.split())")},
}
MESSAGES = {
    "rename": "Call it parse_config",
    "newcall": "Print the settings",
    "methodD": "Store: tell whether there is a key",
    "rewriteparse": "Let dict do the work",
}
"""Of the commits; methodE is not committed yet."""

AUTHORS = {"rename": "Mina", "newcall": "codex", "methodD": "claude", "rewriteparse": "cursor"}


def build(path: Path) -> Path:
    """Build the repository in a new folder, and its worktrees beside it; return the folder."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    clock = 1_760_000_000

    def git(folder: Path, *arguments: str | Path, name: str = "Ada") -> None:
        nonlocal clock
        clock += 60
        who = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (
                ("NAME", name),
                ("EMAIL", f"{name.lower()}@example.org"),
                ("DATE", f"{clock} +0000"),
            )
        }
        subprocess.run(
            ["git", *arguments], cwd=folder, env=kept | own | who, check=True, capture_output=True
        )  # fmt: skip

    def write(folder: Path, files: dict[str, str]) -> None:
        for name, text in files.items():
            (folder / name).write_text(text)
            os.utime(folder / name, (clock, clock))  # long ago: nobody is still writing it

    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--initial-branch=main")
    for key, value in (("name", "Ada"), ("email", "ada@example.org")):
        git(path, "config", f"user.{key}", value)
    write(path, BASE)
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--message", "Settings")
    for name, files in PLANTED.items():
        tree = path.parent / f"{path.name}-{name}"
        git(path, "worktree", "add", "--quiet", "-b", name, tree)
        write(tree, files)
        if name in MESSAGES:
            git(tree, "add", "--all")
            git(tree, "commit", "--quiet", "--message", MESSAGES[name], name=AUTHORS[name])
    return path


if __name__ == "__main__":
    print(f"cd {os.path.relpath(build(Path(sys.argv[1]).resolve()))}")
