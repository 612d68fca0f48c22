"""A repository whose worktrees each change one expression, and a client of its folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.server.git_repository import Repo, make
from tests.server.raw_client import RawClient

LONG_AGO = 1_600_000_000


def edited_worktrees(
    tmp_path: Path, monkeypatch, edits: Mapping[str, tuple[str, str]], **files: str
) -> Repo:
    """Commit some files; of each worktree replace an expression of ``a.py``, long ago."""
    made = make(tmp_path, monkeypatch)
    made.commit(**files)
    for name, (old, new) in edits.items():
        made.git("worktree", "add", "--quiet", "-b", name, tmp_path / name)
        (tmp_path / name / "a.py").write_text(files["a__py"].replace(old, new))
        os.utime(tmp_path / name / "a.py", (LONG_AGO, LONG_AGO))  # no longer written
    return made


@contextmanager
def client_of(repo: Repo) -> Iterator[RawClient]:
    """Open the folder of a repository; in the end nothing may have gone wrong."""
    with RawClient() as client:
        client.initialize(workspaceFolders=[{"uri": repo.path.as_uri(), "name": "w"}])
        yield client
        assert client.exit() == 0
        assert not any("Traceback" in line for line in client.log)
