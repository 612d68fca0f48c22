"""Commits made of files in memory, on a new branch or the user's: no hook takes part."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from excise_server.foundation.changes import SUBMODULE, Side
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError
from excise_server.git.command import GitError
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
        git.write("read-tree", start, index=index)
        for new in commits:
            blobs = _blobs(repository, index, folder, new.files)
            git.write("update-index", "-z", "--index-info", index=index,
                      stdin=b"".join(_entries(new.files, blobs, len(start))))  # fmt: skip
            tree = git.write("write-tree", "--missing-ok", index=index).decode().strip()
            who = {"GIT_AUTHOR_NAME": new.author, "GIT_AUTHOR_EMAIL": new.mail,
                   "GIT_AUTHOR_DATE": new.date}  # fmt: skip
            message = new.message.encode("utf-8", "surrogateescape")
            made.append(
                git.write("commit-tree", tree, "-p", made[-1], index=index, stdin=message,
                          **who if new.author.strip() else {}).decode().strip()
            )  # fmt: skip
        nothing = "0" * len(start)
        git.write("update-ref", "-m", "excise land", f"refs/heads/{name}", made[-1], nothing,
                  index=index)  # fmt: skip
    return made[1:]


def _blobs(
    repository: Repository, index: str, folder: str, files: Mapping[str, Side | None]
) -> dict[str, str]:
    """Write the files as objects, and return their ids by path."""
    sides = {path: side for path, side in files.items() if side and side.mode != SUBMODULE}
    places = []
    for number, side in enumerate(sides.values()):
        places.append(os.path.join(folder, f"blob-{number}"))
        with open(places[-1], "wb") as file:
            file.write(side.data)
    if not places:
        return {}
    names = "".join(f"{place}\n" for place in places).encode()
    options = ("-w", "--no-filters", "--stdin-paths")
    out = repository.git.write("hash-object", *options, index=index, stdin=names)
    return dict(zip(sides, out.decode().split(), strict=True))


def _entries(
    files: Mapping[str, Side | None], blobs: Mapping[str, str], digits: int
) -> Iterator[bytes]:
    """Yield the lines of an index, what goes first: a folder may take the place of a file."""
    for path in files:
        yield b"0 %b\t%b\0" % (b"0" * digits, os.fsencode(path))
    for path, side in files.items():
        if side is not None:
            blob = side.blob if side.mode == SUBMODULE else blobs[path]
            yield f"{side.mode} {blob}\t".encode() + os.fsencode(path) + b"\0"


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
            alone = os.path.join(folder, "index")
            blobs = _blobs(repository, alone, folder, files)
            entries = b"".join(_entries(files, blobs, len(on.commit)))
            git.write("read-tree", on.commit, index=alone)
            git.write("update-index", "-z", "--index-info", index=alone, stdin=entries)
            tree = git.write("write-tree", "--missing-ok", index=alone).decode().strip()
            text = message.encode("utf-8", "surrogateescape")
            made = git.write("commit-tree", tree, "-p", on.commit, index=alone, stdin=text)
            commit = made.decode().strip()
        git.write("update-index", "-z", "--index-info", index=lock, stdin=entries)
        subject = message.partition("\n")[0]
        git.write("update-ref", "-m", f"commit: {subject}", ref, commit, on.commit, index=lock)
        os.replace(lock, index)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(lock)
    return commit
