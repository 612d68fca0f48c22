"""What a patch makes of its tree, beside what git makes of it: every patch of a history.

    python benchmarks/applied.py REPOSITORY [COMMITS [MOVED]]

takes the last COMMITS (1,000) and the last MOVED (300) with renames or copies, each as
`git format-patch -M -C` writes it, and applies it to the parent: here and by `git apply --cached`.
Nothing is written into the repository.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from excise.patches import joined, read
from excise_server.foundation.changes import SUBMODULE, Side
from excise_server.foundation.inputs import SourceError
from excise_server.git.repository import Repository, open_commits
from excise_server.git.trees import listing_of, read_listed
from excise_server.sources.composed import composed, read_named

Tree = dict[str, tuple[str, str] | None]
"""Mode and blob of every file that a patch changes; None: it is gone."""


def main(path: str, commits: int = 1_000, moved: int = 300) -> None:
    """Print how many trees are equal, and every commit of which they are not."""
    repository, found = open_commits(path), Counter[str]()
    some = ("log", "--no-merges", "--min-parents=1", "--format=%H")
    names = git(path, *some, f"-n{commits}").split()
    names += git(path, *some, f"-n{moved}", "-M", "-C", "--diff-filter=RC").split()
    with tempfile.TemporaryDirectory() as folder:
        objects = Path(path, git(path, "rev-parse", "--git-path", "objects").strip()).resolve()
        (Path(folder) / "objects").mkdir()
        aside = {
            "GIT_INDEX_FILE": f"{folder}/index", "GIT_OBJECT_DIRECTORY": f"{folder}/objects",
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects),
        }  # fmt: skip
        for name in dict.fromkeys(names):
            arguments = ["git", "-C", path, "format-patch", "-1", "-M", "-C", "--stdout", name]
            patch = subprocess.run(arguments, capture_output=True, check=True).stdout
            pair = ours(repository, f"{name}^", patch), theirs(path, f"{name}^", patch, aside)
            word = "equal" if pair[0] == pair[1] else "not equal"
            found.update([word, *(k for k in ("copy", "rename") if f"\n{k} to ".encode() in patch)])
            if pair[0] != pair[1]:
                print(name, *pair, sep="\n  ")
    print(f"{path}: {dict(found)}")


def git(
    path: str, *arguments: str, patch: bytes = b"", aside: Mapping[str, str] | None = None
) -> str:
    ran = subprocess.run(
        ["git", "-C", path, *arguments],
        input=patch,
        capture_output=True,
        check=True,
        env={**os.environ, **(aside or {})},
    )
    return os.fsdecode(ran.stdout)


def theirs(path: str, base: str, patch: bytes, aside: Mapping[str, str]) -> Tree | str:
    git(path, "read-tree", base, aside=aside)
    try:
        git(path, "apply", "--cached", "--allow-empty", "-", patch=patch, aside=aside)
    except subprocess.CalledProcessError as error:
        return os.fsdecode(error.stderr)
    raw = git(path, "diff-index", "--cached", "--no-renames", "-z", base, aside=aside).split("\0")
    facts = zip(raw[1::2], (fact.split() for fact in raw[:-1:2]), strict=True)
    return {name: None if fact[4] == "D" else (fact[1], fact[3]) for name, fact in facts}


def ours(repository: Repository, base: str, patch: bytes) -> Tree | str:
    found = joined(each.patch for each in read(patch))
    pairs = found.files
    paths = {name for pair in pairs for name in (pair.old, pair.new) if name is not None}
    try:
        files = read_listed(repository, listing_of(repository, base, sorted(paths)), paths)
        # A text is made from what the commit has, and not from the blob that the patch names.
        blobs = read_named(repository, [found]) if any(p.binary for p in pairs) else {}
        sides = composed(found, blobs, files.new.get)
    except SourceError as error:
        return str(error)
    return dict.fromkeys(sides.old) | {
        name: (side.mode, blob(side)) for name, side in sides.new.items()
    }


def blob(side: Side) -> str:
    if side.mode == SUBMODULE:
        return side.data.decode().split()[-1]
    return hashlib.sha1(b"blob %d\0" % len(side.data) + side.data).hexdigest()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
