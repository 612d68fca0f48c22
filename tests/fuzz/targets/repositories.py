"""Repositories whose every file may be hostile: nothing in them is run, and none breaks us."""

import atexit
import functools
import os
import shutil
import tempfile
from pathlib import Path
from random import Random

from tests.fuzz.targets.base import Target, nasty, packed, unpacked
from tests.server.git_repository import Repo

from excise_server.sources.collect import collect

FILES = (
    "HEAD", "config", "index", "packed-refs", "refs/heads/main", "refs/heads/agent", "logs/HEAD",
    "info/attributes", "info/exclude", "info/grafts", "objects/info/alternates", "shallow",
    "commondir", "gitdir", "MERGE_HEAD", "worktrees/tree/gitdir", "worktrees/tree/HEAD",
    "worktrees/tree/commondir", "config.worktree", "refs/replace/x", "objects/info/commit-graph",
    "objects/pack/multi-pack-index", "hooks/post-index-change", "../.gitattributes",
    "../.gitmodules", "../.git",
)  # fmt: skip
"""Of a repository, under .git: what git reads without being asked."""

TRAPS = (
    "[core]\n\tfsmonitor = {0}\n", "[core]\n\tsshCommand = {0}\n", "[core]\n\tpager = {0}\n",
    "[core]\n\thooksPath = {1}\n", "[core]\n\tgitProxy = {0}\n", "[core]\n\taskPass = {0}\n",
    "[core]\n\talternateRefsCommand = {0}\n", "[diff]\n\texternal = {0}\n",
    "[credential]\n\thelper = !{0}\n", '[diff "x"]\n\ttextconv = {0}\n\tcommand = {0}\n',
    '[filter "x"]\n\tclean = {0}\n\tprocess = {0}\n',
    '[remote "origin"]\n\turl = ext::{0}\n\tpromisor = true\n', "[alias]\n\tcat-file = !{0}\n",
    "[extensions]\n\tpartialClone = origin\n", "[include]\n\tpath = {1}/other\n",
    "[uploadpack]\n\tx = {0}\n", "[core]\n\tworktree = /\n", "[core]\n\tbare = true\n",
    "[gpg]\n\tprogram = {0}\n",
)  # fmt: skip

LINES = (
    "ref: refs/heads/main\n", "ref: refs/heads/../../x\n", "ref: HEAD\n",
    "* diff=x filter=x merge=x\n", "0000000000000000000000000000000000000000\n",
    "gitdir: ../../..\n", "gitdir: /\n", "/\n", "../../..\n", "# pack-refs with: peeled\n", "DIRC",
    "CGPH", "MIDX",
)  # fmt: skip


KINDS = ("append", "append", "write", "bytes", "delete", "link", "folder", "pipe")


@functools.cache
def template() -> Path:
    """Return a folder with a repository that has a branch, a worktree and a patch, made once."""
    folder = Path(tempfile.mkdtemp(prefix="excise-fuzz-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    repo = Repo(folder / "work", folder / "home").init()
    os.environ["HOME"] = repo.env["HOME"]
    os.environ["GIT_CONFIG_GLOBAL"] = repo.env["GIT_CONFIG_GLOBAL"]
    repo.commit(a__py="one\ntwo\n")
    repo.git("checkout", "--quiet", "-b", "agent")
    repo.commit(a__py="one\nagent\n")
    repo.write("patches/1.patch", repo.git("format-patch", "-1", "--stdout"))
    repo.git("checkout", "--quiet", "main")
    repo.git("worktree", "add", "--quiet", "-b", "tree", folder / "tree")
    (folder / "tree" / "a.py").write_text("one\ntree\n")
    trap = folder / "trap"
    trap.write_text(f"#!/bin/sh\necho run >> '{folder}/marker'\nexit 1\n")
    trap.chmod(0o755)
    return folder


def damage(choice: Random) -> bytes:
    """Write what is done to which files."""
    steps = []
    for _ in range(choice.randrange(1, 4)):
        name = choice.choice(FILES)
        kind = choice.choice(KINDS)
        text = choice.choice(LINES) if choice.random() < 0.6 else nasty(choice)
        if choice.random() < 0.4:
            name, kind, text = "config", "append", "".join(choice.choices(TRAPS, k=2))
        steps.append([name, kind, text, choice.randrange(2**16)])
    return packed(steps)


def check(data: bytes) -> None:
    folder = template()
    work, kept = folder / "work", folder / "kept"
    if not kept.exists():
        shutil.copytree(work, kept, symlinks=True)
    try:
        for name, kind, text, number in unpacked(data):
            text = text.replace("{0}", f"{folder}/trap").replace("{1}", f"{folder}")
            _do(work / ".git", name, kind, text, number)
        ask(work)
        assert not (folder / "marker").exists(), "something of the repository was run"
    finally:
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(kept, work, symlinks=True)
        (folder / "marker").unlink(missing_ok=True)


def _do(git: Path, name: str, kind: str, text: str, number: int) -> None:
    path = Path(os.path.normpath(git / name))
    if path == git or not path.is_relative_to(git.parent):
        path = git / "HEAD"
    data = text.encode("utf-8", "surrogatepass")
    if path.is_dir():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_bytes() if path.is_file() else b""
    path.unlink(missing_ok=True)
    if kind == "append":
        path.write_bytes(before + data)
    elif kind == "write":
        path.write_bytes(data)
    elif kind == "bytes" and before:
        at = number % len(before)
        path.write_bytes(before[:at] + data[:4] + before[at + 4 :])
    elif kind == "link":
        path.symlink_to("/dev/zero" if number % 2 else "/etc/passwd")
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)


def ask(work: Path) -> None:
    repo = Repo(work, work.parent / "home")
    collect(repo.context(origin="head", patches=("patches",)))


TARGETS = {"repositories": Target(damage, check, seconds=60.0)}
