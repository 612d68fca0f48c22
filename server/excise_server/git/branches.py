"""Commits made of files in memory, on a branch: no hook takes part."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from excise_server.foundation.changes import SUBMODULE, Side
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError
from excise_server.git.command import Git, GitError
from excise_server.git.repository import Repository
from excise_server.review.candidate import Written


@dataclass(frozen=True, slots=True)
class NewCommit:
    """A commit to be made.

    - ``files``: by path, the files that differ from the commit before it; None: deleted.
    - ``author``, ``mail``, ``date``: as git writes them; empty: those of the user, now.
    """

    files: Mapping[str, Side | None]
    message: str
    author: str = ""
    mail: str = ""
    date: str = ""


def check_branch(repository: Repository, name: str) -> None:
    """Refuse the name of a branch that exists, or that git would not accept.

    Raises SourceError.
    """
    shown, ref, hint = visible(name)[:200], f"refs/heads/{name}", "give --branch another NAME"
    try:
        if name.startswith("-") or name == "HEAD" or "\0" in name:
            raise GitError("git branch refuses it, too")
        repository.git.run("check-ref-format", ref)
    except GitError as error:
        raise SourceError(f"{shown!r} cannot be the name of a branch", hint=hint) from error
    if repository.commit_of(ref) is not None:
        raise SourceError(f"there is a branch {shown} already", hint=hint)


def written(repository: Repository, base: str, commit: str) -> Written | None:
    """Return who wrote what a candidate has committed since its base, or None if it has nothing.

    Of several authors the first is kept, and the message names the others.
    """
    if base == commit:
        return None
    fields = "%an%x00%ae%x00%ad%x00%B%x00"
    options = ("--reverse", "--topo-order", "--no-merges", "--date=raw", f"--format={fields}")
    out = repository.git.run("rev-list", *options, f"{base}..{commit}")
    parts = out.decode("utf-8", "surrogateescape").split("\0")[:-1]
    commits = [
        Written(name.rpartition("\n")[2], *parts[start + 1 : start + 4])
        for start, name in list(enumerate(parts))[::4]
    ]
    return Written.together(commits) if commits else None


def make_branch(
    repository: Repository, name: str, start: str, commits: Sequence[NewCommit]
) -> list[str]:
    """Make a branch with commits on top of one, and return their ids, the last of the branch last.

    The branch is made last and in one step: before that, there are only objects that nobody names.

    Raises SourceError if there is a branch of that name, git does not know the user, or it fails.
    """
    check_branch(repository, name)
    git, made = repository.git, [start]
    with tempfile.TemporaryDirectory(prefix="excise-branch-") as folder:
        index = os.path.join(folder, "index")
        for new in commits:
            made.append(_commit(git, folder, made[-1], new)[0])
        nothing = "0" * len(start)
        git.run("update-ref", "-m", "excise land", f"refs/heads/{name}", made[-1], nothing,
                index=index)  # fmt: skip
    return made[1:]


def _commit(git: Git, folder: str, parent: str, new: NewCommit) -> tuple[str, bytes]:
    """Make a commit by an index of its own in a folder; return its id, and the lines for an index.

    What goes comes first there: a folder may take the place of a file.
    """
    index = os.path.join(folder, "index")
    sides = {path: side for path, side in new.files.items() if side and side.mode != SUBMODULE}
    places = b""
    for number, side in enumerate(sides.values()):
        place = os.path.join(folder, f"blob-{number}")
        with open(place, "wb") as file:
            file.write(side.data)
        places += f"{place}\n".encode()
    options = ("-w", "--no-filters", "--stdin-paths")
    out = git.run("hash-object", *options, index=index, stdin=places) if places else b""
    blobs = dict(zip(sides, out.decode().split(), strict=True))
    lines = [b"0 %b\t%b\0" % (b"0" * len(parent), os.fsencode(path)) for path in new.files]
    for path, entry in new.files.items():
        if entry is not None:
            blob = entry.blob if entry.mode == SUBMODULE else blobs[path]
            lines.append(f"{entry.mode} {blob}\t".encode() + os.fsencode(path) + b"\0")
    entries = b"".join(lines)
    git.run("read-tree", parent, index=index)
    git.run("update-index", "-z", "--index-info", index=index, stdin=entries)
    tree = git.run("write-tree", "--missing-ok", index=index).decode().strip()
    who = {"GIT_AUTHOR_NAME": new.author, "GIT_AUTHOR_EMAIL": new.mail, "GIT_AUTHOR_DATE": new.date}
    message = new.message.encode("utf-8", "surrogateescape")
    who = who if new.author.strip() else {}
    made = git.run("commit-tree", tree, "-p", parent, index=index, stdin=message, environment=who)
    return made.decode().strip(), entries


@dataclass(frozen=True, slots=True)
class CheckedOut:
    """What the working tree is on: a branch (empty: HEAD is detached), and its commit."""

    branch: str
    commit: str


def checked_out(repository: Repository) -> CheckedOut:
    """Return the branch that is checked out.

    Raises SourceError before the first commit.
    """
    if (commit := repository.head()) is None:
        raise SourceError("no commits yet", hint="commit something first")
    name = os.fsdecode(repository.git.run("rev-parse", "--symbolic-full-name", "HEAD")).strip()
    return CheckedOut(name.removeprefix("refs/heads/") if name.startswith("refs/") else "", commit)


def commit_files(
    repository: Repository, on: CheckedOut, files: Mapping[str, Side | None], message: str
) -> str:
    """Commit some files on the branch that is checked out, and return the id of the commit.

    What else is staged stays staged, and uncommitted. The index is locked as git locks it, from
    before the commit is made until it has the files, so that nobody sees one without the other. No
    file of the working tree is touched, and no hook is run.

    Raises SourceError if the index is locked, the branch has moved, or git fails.
    """
    git, ref = repository.git, f"refs/heads/{on.branch}"
    index = os.path.join(repository.git_dir, "index")
    lock = f"{index}.lock"
    try:
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError as error:
        hint = f"wait for the git that is running; if there is none, remove {visible(lock)}"
        raise SourceError("git's index is locked", hint=hint) from error
    except OSError as error:
        raise SourceError(f"git's index cannot be written: {error.strerror}") from error
    try:
        with open(descriptor, "wb") as copy, suppress(FileNotFoundError), open(index, "rb") as file:
            shutil.copyfileobj(file, copy)
        if checked_out(repository) != on:
            raise SourceError("another commit is checked out by now", hint="look again")
        with tempfile.TemporaryDirectory(prefix="excise-commit-") as folder:
            commit, entries = _commit(git, folder, on.commit, NewCommit(files, message))
        git.run("update-index", "-z", "--index-info", index=lock, stdin=entries)
        subject = message.partition("\n")[0]
        git.run("update-ref", "-m", f"commit: {subject}", ref, commit, on.commit, index=lock)
        os.replace(lock, index)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(lock)
    return commit
