"""The repository of a document, and proof that it is one: all links between its parts hold.

A repository only claims what it is. Its ``.git`` may be a file that names another repository, its
config may place the working tree anywhere, and its list of worktrees may name any folder. So a
working tree counts only if it and the repository name each other. The proof and the reading that it
protects are in one file, so that nothing reads a repository without it.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from excise_server.foundation.inputs import MAX_BYTES, SourceError, too_large
from excise_server.foundation.paths import contained, read_bytes
from excise_server.git.command import Git, NoRepositoryError
from excise_server.git.readable import check_readable, is_git_dir

__all__ = [
    "AbsentError",
    "Blob",
    "Repository",
    "Worktree",
    "open_commits",
    "open_folder",
    "own_folder",
    "points_back",
]

_MAX_TOTAL = 100_000_000
_COMMON = "--path-format=absolute", "--git-common-dir"
_LINK = re.compile(rb"gitdir: ([^\n]+)\n?")
_OBJECT = re.compile(rb"([0-9a-f]{40,64}) (\w+) (\d+)\n")
_DETOUR = re.compile(rb"(symlink|dangling|loop|notdir) (\d+)\n")
_NOTHING = re.compile(rb"(missing|ambiguous)\n")


class AbsentError(SourceError):
    """An object, or a file in it, does not exist."""


@dataclass(frozen=True, slots=True)
class Blob:
    """The bytes of a file in the repository, and their id."""

    id: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Worktree:
    """A worktree as git lists it. `points_back` checks whether it is one."""

    path: str
    head: str
    branch: str
    prunable: str


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository of one document.

    Attributes
    ----------
    git : Git
        Git in the top folder.
    top, common : str
        The top folder of the working tree, and the folder of the repository; links are followed.
    git_dir : str
        The part of the repository that belongs to this working tree.
    path : str
        The document, relative to the top folder, with ``/``.
    """

    git: Git
    top: str
    common: str
    git_dir: str
    path: str

    def head(self) -> str | None:
        """Return the commit of HEAD, or None before the first one."""
        answer = self.git.run(
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            "HEAD^{commit}",
            status=(0, 1),
        )
        return answer.decode("ascii", "replace").strip() or None

    def worktrees(self) -> list[Worktree]:
        """Return every worktree that git lists, including this one, without bare ones."""
        listed = []
        for record in self.git.run("worktree", "list", "--porcelain", "-z").split(b"\0\0"):
            fields = dict[str, str]()
            for line in record.strip(b"\0").split(b"\0"):
                name, _, value = os.fsdecode(line).partition(" ")
                fields.setdefault(name, value)
            if "worktree" in fields and "bare" not in fields:
                listed.append(
                    Worktree(
                        fields["worktree"],
                        fields.get("HEAD", ""),
                        fields.get("branch", ""),
                        fields.get("prunable", ""),
                    )
                )
        return listed

    def blobs(self, names: Sequence[str]) -> list[Blob | SourceError]:
        """Return the blob of each name (``COMMIT:path``, ``:0:path``, an id), or why there is none.

        Two processes serve all names: one tells the sizes, and one prints the blobs within limits.
        """
        checked = self._batch("--batch-check", names)
        answers: list[Blob | SourceError] = []
        within_limits: dict[str, None] = {}
        total = 0
        for answer in checked:
            if isinstance(answer, SourceError):
                answers.append(answer)
                continue
            total += 0 if answer[0] in within_limits else answer[1]
            if answer[1] > MAX_BYTES:
                answers.append(too_large(answer[1]))
            elif total > _MAX_TOTAL:
                answers.append(SourceError(f"limit {_MAX_TOTAL // 1_000_000} MB in all"))
            else:
                within_limits[answer[0]] = None
                answers.append(Blob(answer[0], b""))
        texts = self._contents(list(within_limits))
        return [Blob(a.id, texts[a.id]) if isinstance(a, Blob) else a for a in answers]

    def sizes(self, names: Sequence[str]) -> list[int | SourceError]:
        """Return how many bytes the blob of each name has, or why there is none."""
        return [
            answer if isinstance(answer, SourceError) else answer[1]
            for answer in self._batch("--batch-check", names)
        ]

    def blob(self, name: str) -> Blob:
        """Return one blob.

        Raises
        ------
        SourceError
            If it is not a readable blob, or `AbsentError` if nothing has that name.
        """
        answer = self.blobs([name])[0]
        if isinstance(answer, SourceError):
            raise answer
        return answer

    def merge_bases(self, *commits: str, octopus: bool = False) -> list[str]:
        """Return the best common ancestors of commits, or none if the histories are unrelated."""
        how = ["--octopus"] if octopus else []
        answer = self.git.run(
            "merge-base", "--all", *how, "--end-of-options", *commits, status=(0, 1)
        )
        return answer.decode("ascii", "replace").split()

    def _batch(self, mode: str, names: Sequence[str]) -> list[tuple[str, int] | SourceError]:
        if not names:
            return []
        encoded = [os.fsencode(name) for name in names]
        # Without a line end in a name this also works on a git before 2.38.
        zero = any(b"\n" in name for name in encoded)
        options = [mode, "--follow-symlinks", *(["-z"] if zero else [])]
        end = b"\0" if zero else b"\n"
        out = self.git.run("cat-file", *options, stdin=b"".join(name + end for name in encoded))
        answers, position = list[tuple[str, int] | SourceError](), 0
        for name in encoded:
            answer, position = _answer(out, position, name)
            answers.append(answer)
        return answers

    def _contents(self, ids: list[str]) -> dict[str, bytes]:
        """Return the bytes of blobs whose sizes were checked."""
        if not ids:
            return {}
        out = self.git.run("cat-file", "--batch", stdin="".join(f"{i}\n" for i in ids).encode())
        texts, position = {}, 0
        for blob_id in ids:
            match = _OBJECT.match(out, position)
            if match is None or match[1].decode() != blob_id:
                raise SourceError("git cat-file gave an answer that is not understood")
            end = match.end() + int(match[3])
            texts[blob_id], position = out[match.end() : end], end + 1
        return texts


def _answer(out: bytes, position: int, name: bytes) -> tuple[tuple[str, int] | SourceError, int]:
    """Return one answer of ``cat-file --batch-check``, and where the next one starts.

    Git repeats the name, which may contain line ends, so it is compared, not parsed.
    """
    if match := _OBJECT.match(out, position):
        if match[2] != b"blob":
            return SourceError(f"it is a {match[2].decode()}, no file"), match.end()
        return (match[1].decode(), int(match[3])), match.end()
    if match := _DETOUR.match(out, position):
        return SourceError("a link that leads to nothing in the tree"), (
            match.end() + int(match[2]) + 1
        )
    if out.startswith(name + b" ", position) and (
        match := _NOTHING.match(out, position + len(name) + 1)
    ):
        if match[1] == b"missing":
            return AbsentError("the file does not exist there"), match.end()
        return SourceError("the id is ambiguous"), match.end()
    raise SourceError("git cat-file gave an answer that is not understood")


def open_folder(folder: str, folders: Sequence[str]) -> Repository:
    """Return the repository that contains a folder, with an empty ``path``.

    Raises
    ------
    SourceError
        If git refuses the repository, or it and the working tree do not name each other;
        `NoRepositoryError` if there is none.
    """
    git = Git(folder)
    check_readable(folder)
    top = _asked(git, "--show-toplevel")
    git_dir = _asked(git, "--absolute-git-dir")
    common = _asked(git, *_COMMON)
    if reason := _objection(git, top, git_dir, common, folders):
        raise SourceError(f"the repository is not used: {reason}")
    return Repository(git.at(top), top, common, git_dir, "")


def open_commits(folder: str) -> Repository:
    """Return the repository of a folder, or the bare one that it is: for reading commits alone.

    Raises
    ------
    SourceError
        As `open_folder`. A bare repository is used only under its own name, never from inside.
    """
    try:
        return open_folder(folder, [folder])
    except NoRepositoryError:
        if not is_git_dir(folder):
            raise
    git = Git(folder, is_bare=True)
    answers = git.run("rev-parse", "--is-bare-repository", "--is-inside-work-tree")
    own, common = _asked(git, "--absolute-git-dir"), _asked(git, *_COMMON)
    if answers.split() != [b"true", b"false"] or {own, common} != {folder}:
        raise SourceError("the repository is not used: it is not the bare one that its folder is")
    return Repository(git, folder, folder, folder, "")


def points_back(top: str, common: str) -> str:
    """Return why a folder is not a worktree of a repository, or "" if they name each other."""
    link = os.path.join(top, ".git")
    try:
        mode = os.lstat(link).st_mode
        if stat.S_ISDIR(mode):
            return "" if os.path.realpath(link) == common else "its .git is another repository"
        git_dir = own_folder(top)
        if os.path.dirname(git_dir) != os.path.join(common, "worktrees"):
            return "its .git does not point back to the repository"
        back = os.fsdecode(
            read_bytes(os.path.join(git_dir, "gitdir"), [git_dir], limit=8192)
        ).strip("\n")
    except SourceError as error:
        return f"its .git cannot be read: {error.reason}"
    except OSError as error:
        return f"its .git cannot be read: {error.strerror}"
    if os.path.realpath(os.path.join(git_dir, back)) != os.path.realpath(link):
        return "the repository names another folder for its .git"
    return ""


def own_folder(top: str) -> str:
    """Return the part of a repository that belongs to a worktree: where its ``.git`` file leads.

    Links are followed.

    Raises
    ------
    SourceError
        If there is no such file, as in a main checkout, or it names nothing.
    """
    data = read_bytes(os.path.join(top, ".git"), [top], limit=8192)
    if (match := _LINK.fullmatch(data)) is None:
        raise SourceError("it names no repository")
    return os.path.realpath(os.path.join(top, os.fsdecode(match[1])))


def _asked(git: Git, *options: str) -> str:
    """Return a path that ``git rev-parse`` prints, with links followed."""
    answer = git.run("rev-parse", *options)
    path = os.fsdecode(answer.removesuffix(b"\n"))
    return os.path.realpath(path) if path else ""


def _objection(git: Git, top: str, git_dir: str, common: str, folders: Sequence[str]) -> str:
    """Return why a repository is not the document's own, or "" if it is."""
    reason = points_back(top, common)
    if not reason or git_dir != common:
        return reason
    # A submodule names its folder in core.worktree, which git answers with.
    with suppress(SourceError):
        if own_folder(top) != git_dir:
            return reason
        answer = git.at(git_dir).run("rev-parse", "--show-toplevel", git_dir=git_dir)
        if os.path.realpath(os.fsdecode(answer.removesuffix(b"\n"))) == top:
            return ""
        # One elsewhere in the workspace (git init --separate-git-dir) is the workspace's as well.
        contained(git_dir, folders)
        return ""
    return reason
