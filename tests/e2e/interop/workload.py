"""A review as a user of any editor has it: three worktrees, and what taking from them must leave.

List the candidates, look at two variants, take one hunk, take a whole candidate, undo: by standard
requests alone, without a line of client code.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tests.server.git_repository import Repo

BASE = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(8))
ORIGIN = f"import os\n\n\n{BASE}"
"""What the target has by now: the candidates started before that."""

EDITS = {
    "ada": {"x + 2": "x - 2"},
    "bo": {"x + 2": "2 * x", "x + 6": "6 * x"},
    "chen": {"x + 6": "6 * x"},
}
LINE = 12
"""The line of the first hunk in a.py, from 0."""
LONG_AGO = (1_600_000_000, 1_600_000_000)


def changed(name: str, text: str = BASE) -> str:
    """A candidate's a.py, or what it makes of another text."""
    for old, new in EDITS[name].items():
        text = text.replace(old, new)
    return text


@dataclass(frozen=True)
class Workload:
    """A repository with three worktrees: ada's creates and deletes files, bo's edits two."""

    repo: Repo

    @classmethod
    def make(cls, folder: Path) -> Workload:
        repo = Repo(folder / "project", folder / "home").init()
        repo.commit(a__py=BASE, b__py="B = 1\n", old__py="OLD = 1\n")
        for name in EDITS:
            tree = folder / "trees" / name
            repo.git("worktree", "add", "--quiet", "-b", name, tree)
            (tree / "a.py").write_text(changed(name))
        (folder / "trees/ada/new.py").write_text("NEW = 1\n")
        (folder / "trees/ada/old.py").unlink()
        (folder / "trees/bo/b.py").write_text("B = 2\n")
        repo.commit(a__py=ORIGIN)
        for path in (folder / "trees").rglob("*.py"):
            os.utime(path, LONG_AGO)  # nobody is writing them
        return cls(repo)

    @property
    def file(self) -> Path:
        return self.repo.path / "a.py"

    @property
    def uri(self) -> str:
        return self.file.as_uri()
