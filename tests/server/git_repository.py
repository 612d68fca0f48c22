"""Real repositories for tests, built by the real git in an environment of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.server.process_tree import DEADLINE

from excise_server.foundation.inputs import SourceError
from excise_server.review.candidate import Candidate
from excise_server.sources.collect import open_repository
from excise_server.sources.finding import Context, Found
from excise_server.sources.registry import Find
from excise_server.wire.sources import SourceSettings

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="git is missing: apt-get install git")

SETUP = """[user]
name = Ada
email = ada@example.org
[init]
defaultBranch = main
[protocol "file"]
allow = always
[commit]
gpgSign = false
"""


class Repo:
    """A repository in a folder; ``git`` is the naive call that a careless program would make."""

    def __init__(self, path: Path, home: Path) -> None:
        self.path = path
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        home.mkdir(exist_ok=True)
        (home / "gitconfig").write_text(SETUP)
        self.env |= {"HOME": str(home), "GIT_CONFIG_GLOBAL": str(home / "gitconfig"), "LC_ALL": "C"}
        self.clock = 1_700_000_000

    def git(self, *arguments, check=True, cwd=None, stdin=b"", **env) -> bytes:
        # Every commit a minute after the one before: "newest" is then no matter of luck.
        self.clock += 60
        date = f"{self.clock} +0000"
        ran = subprocess.run(
            [GIT, *map(os.fsdecode, arguments)],
            cwd=cwd or self.path,
            env=self.env | {"GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date} | env,
            input=stdin,
            capture_output=True,
            timeout=DEADLINE,
            check=False,
        )
        if check and ran.returncode:
            raise AssertionError(f"git {arguments}: {ran.stderr.decode('utf-8', 'replace')}")
        return ran.stdout

    def init(self) -> Repo:
        self.path.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet")
        return self

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def commit(self, message: str = "a commit", **files: str | bytes) -> str:
        """Commit files (``name__py`` is ``name.py``) and whatever else there is; return its id."""
        for name, text in files.items():
            self.write(name.replace("__", "."), text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.head()

    def head(self, name: str = "HEAD") -> str:
        return self.git("rev-parse", name).decode().strip()

    def context(self, name: str = "a.py", *, trusted=True, folders=None, **settings) -> Context:
        return Context(
            str(self.path / name),
            tuple(map(str, folders or [self.path])),
            trusted,
            SourceSettings(**settings),
        )


def make(tmp_path: Path, monkeypatch, name: str = "work", **files: str | bytes) -> Repo:
    """Return a new repository, of files if any; the code under test has its configuration."""
    repo = Repo(tmp_path / name, tmp_path / "home")
    for variable in list(os.environ):
        if variable.startswith("GIT_"):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", repo.env["HOME"])
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", repo.env["GIT_CONFIG_GLOBAL"])
    repo.init()
    if files:
        repo.commit(**files)
    return repo


def answer(find: Find, context: Context) -> Found:
    """Ask a source of a document as `collect` does, with the document's repository."""
    try:
        return find(context, open_repository(context))
    except SourceError as error:
        return find(context, error)


def texts(found: Found) -> dict[str, str]:
    return {version.id: version.text for version in found.versions}


def made_from(found: Found) -> dict[str, str | None]:
    return {version.id: version.base for version in found.versions}


def notes(found: Found) -> dict[str, list[str]]:
    return {v.id: list(v.candidate.notes) for v in found.versions if v.candidate.notes}


def known(found: Found) -> dict[str, Candidate]:
    return {version.id: version.candidate for version in found.versions}


def changes(found: Found) -> dict[str, str]:
    return {version.id: version.change for version in found.versions}


def reasons(found: Found) -> dict[str, str]:
    return {refused.id: refused.reason for refused in found.refused}
