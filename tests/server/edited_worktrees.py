"""A repository whose worktrees each change one expression, and a client of its folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from tests.server.git_repository import Repo, make
from tests.server.raw_client import RawClient, serving

LONG_AGO = 1_600_000_000


def edited_worktrees(
    tmp_path: Path, monkeypatch, edits: Mapping[str, tuple[str, str]], **files: str
) -> Repo:
    """Commit some files; of each worktree replace an expression of ``a.py``, long ago."""
    made = make(tmp_path, monkeypatch, **files)
    for name, (old, new) in edits.items():
        made.git("worktree", "add", "--quiet", "-b", name, tmp_path / name)
        (tmp_path / name / "a.py").write_text(files["a__py"].replace(old, new))
        os.utime(tmp_path / name / "a.py", (LONG_AGO, LONG_AGO))  # no longer written
    return made


def client_of(repo: Repo) -> AbstractContextManager[RawClient]:
    """Open the folder of a repository."""
    return serving(workspaceFolders=[{"uri": repo.path.as_uri(), "name": "w"}])
