"""A repository whose worktrees each change one expression, and clients of its folder.

A test file that imports the fixtures has its own ``repo``.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec
import pytest
from tests.server.git_repository import Repo, make
from tests.server.raw_client import RawClient, serving

from excise import CancelFlag
from excise_server.wire import lsp as p
from excise_server.wire.sources import SourceSettings
from excise_server.workers.surveys import arguments_of, survey

LONG_AGO = 1_600_000_000
ORIGIN = "def f(a, b):\n    x = a + b\n    return x\n\n\ndef g(a):\n    return a * 2\n"
MINUS = ORIGIN.replace("a + b", "a - b")
INVALID_PARAMS, REQUEST_FAILED = -32602, -32803


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


def surveyed(repo: Repo, kind: str = "candidates", kept: dict | None = None, **asked) -> bytes:
    """Return what a server answers about the candidates of a repository, without a server."""
    params = p.LandParams if kind == "land" else p.CandidatesParams
    asked = msgspec.structs.asdict(params(repo.path.as_uri(), **asked)) | {"intent": "change"}
    folder = os.fspath(repo.path)
    arguments = arguments_of(
        folder=folder, folders=[folder], roots=[folder], settings=SourceSettings(), aside={},
        bases={}, given=[], unsaved={}, **asked,
    )  # fmt: skip
    return survey(kind, arguments, CancelFlag(), {} if kept is None else kept)


@pytest.fixture(scope="module")
def server() -> Iterator[RawClient]:
    """One server for all tests of a file."""
    with serving(workspaceFolders=[]) as client:
        yield client


@pytest.fixture
def client(repo: Repo, server: RawClient) -> Iterator[RawClient]:
    """The server, with the folder of the test's repository."""
    with server.in_folder(repo.path) as client:
        yield client
