"""The repository of a document, and proof that it is one: all links between its parts hold.

A repository only claims what it is. Its ``.git`` may be a file that names another repository, its
config may place the working tree anywhere, and its list of worktrees may name any folder. So a
working tree counts only if it and the repository name each other. The proof and the reading that it
protects are in one file, so that nothing reads a repository without it.

Git opens the files of a repository without a check, and opening a named pipe waits until somebody
writes to it: a pipe in place of HEAD, the index or a ref would block every question. A repository
with such irregular files is refused before git is asked.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice

from excise_server.foundation.escape import visible
from excise_server.foundation.files import contained, read_bytes
from excise_server.foundation.inputs import MAX_BYTES, SourceError, too_large
from excise_server.git.command import Git, GitError, NoRepositoryError

_MAX_TOTAL = 100_000_000
_NAMED_TOGETHER = 50_000
"""The number of objects of which one git process tells the sizes."""
_COMMON = "--path-format=absolute", "--git-common-dir"
_LINK = re.compile(rb"gitdir: ([^\n]+)\n?")
_OBJECT = re.compile(rb"([0-9a-f]{40,64}) (\w+) (\d+)\n")
_DETOUR = re.compile(rb"(symlink|dangling|loop|notdir) (\d+)\n")
_NOTHING = re.compile(rb"(missing|ambiguous)\n")
_NOT_UNDERSTOOD = "git cat-file gave unexpected output"

_NAMES = (
    *("HEAD", "commondir", "config", "config.worktree", "gitdir", "index", "info/attributes"),
    *("info/exclude", "info/grafts", "info/sparse-checkout", "logs/HEAD"),
    *("objects/info/alternates", "packed-refs", "shallow"),
)
_MAX_REFS = 20_000
"""Most loose refs that are checked. A repository with more packs none, and is slow anyway."""


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

    - ``top``, ``common``: the top folder of the working tree, and the folder of the repository;
      links are followed.
    - ``git_dir``: the part of the repository that belongs to this working tree.
    - ``path``: the document, relative to the top folder, with ``/``.
    """

    git: Git
    top: str
    common: str
    git_dir: str
    path: str
    _listed: list[Worktree] = field(default_factory=list, repr=False, compare=False)

    def head(self) -> str | None:
        """Return the commit of HEAD, or None before the first one."""
        return self.commit_of("HEAD", status=(0, 1))

    def commit_of(self, name: str, *, status: tuple[int, ...] = (0, 1, 128)) -> str | None:
        """Return the commit of a revision, or None; ``status`` is that of `Git.run`."""
        options = ("--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        answer = self.git.run("rev-parse", *options, status=status)
        return answer.decode("ascii", "replace").strip() or None

    def worktrees(self) -> list[Worktree]:
        """Return every worktree that git lists, including this one, without bare ones.

        Git is asked once: for newer answers, open the repository again.
        """
        if self._listed:
            return self._listed
        listed = self._listed
        for record in self.git.run("worktree", "list", "--porcelain", "-z").split(b"\0\0"):
            fields = dict[str, str]()
            for line in record.strip(b"\0").split(b"\0"):
                name, _, value = os.fsdecode(line).partition(" ")
                fields.setdefault(name, value)
            if "worktree" in fields and "bare" not in fields:
                names = ("worktree", "HEAD", "branch", "prunable")
                listed.append(Worktree(*(fields.get(name, "") for name in names)))
        # The main checkout of a submodule is listed by the folder of its repository.
        if listed and os.path.realpath(listed[0].path) == self.common:
            with suppress(SourceError):
                listed[0] = replace(listed[0], path=_checkout_of(self.git, self.common))
        return listed

    def blobs(self, names: Sequence[str]) -> list[Blob | SourceError]:
        """Return the blob of each name (``COMMIT:path``, ``:0:path``, an id), or why there is none.

        Two processes serve all names: one tells the sizes, and one prints the blobs within limits.
        """
        return self.grouped_blobs([names])[0]

    def grouped_blobs(self, groups: Sequence[Sequence[str]]) -> list[list[Blob | SourceError]]:
        """Return the blobs of several groups of names, each of which has its own limit in all."""
        described = iter(self._described([name for names in groups for name in names]))
        found: list[list[tuple[str, int] | SourceError]] = []
        asked: list[dict[str, int]] = [{}]  # by process, the size of each blob that it prints
        held, known = 0, set[str]()
        for names in groups:
            within: dict[str, int] = {}
            total = 0
            answers: list[tuple[str, int] | SourceError] = []
            for answer in islice(described, len(names)):
                if isinstance(answer, tuple):
                    name, size = answer
                    total += 0 if name in within else size
                    if size > MAX_BYTES:
                        answer = too_large(size)
                    elif total > _MAX_TOTAL:
                        answer = SourceError(f"limit {_MAX_TOTAL // 1_000_000} MB in all")
                    else:
                        within[name] = size
                answers.append(answer)
            found.append(answers)
            new = {name: size for name, size in within.items() if name not in known}
            known |= new.keys()
            held += sum(new.values())
            if held > _MAX_TOTAL:
                asked.append({})
                held = sum(new.values())
            asked[-1] |= new
        texts = {name: data for sizes in asked for name, data in self._texts(sizes)}
        return [
            [a if isinstance(a, SourceError) else Blob(a[0], texts[a[0]]) for a in answers]
            for answers in found
        ]

    def _texts(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the ids of some blobs that exist, with their bytes."""
        if not (ids := "".join(f"{name}\n" for name in names)):
            return
        (out, _), position = self._cat_file("--batch", stdin=ids.encode()), 0
        for name in names:
            match = _OBJECT.match(out, position)
            if match is None or match[1].decode() != name:
                raise SourceError(_NOT_UNDERSTOOD)
            end = match.end() + int(match[3])
            yield name, out[match.end() : end]
            position = end + 1

    def sizes(self, names: Sequence[str]) -> list[int | SourceError]:
        """Return how many bytes the blob of each name has, or why there is none."""
        return [
            answer if isinstance(answer, SourceError) else answer[1]
            for answer in self._described(names)
        ]

    def blob(self, name: str) -> Blob:
        """Return one blob.

        Raises SourceError if it is not a readable blob, or `AbsentError` if nothing has that name.
        """
        answer = self.blobs([name])[0]
        if isinstance(answer, SourceError):
            raise answer
        return answer

    def _described(self, names: Sequence[str]) -> list[tuple[str, int] | SourceError]:
        """Return the id and size of the blob of each name, or why there is none."""
        if len(names) > _NAMED_TOGETHER:
            starts = range(0, len(names), _NAMED_TOGETHER)
            parts = (self._described(names[start : start + _NAMED_TOGETHER]) for start in starts)
            return [*chain.from_iterable(parts)]
        if not names:
            return []
        encoded = [os.fsencode(name) for name in names]
        # Without a line end in a name this also works on a git before 2.38.
        zero = any(b"\n" in name for name in encoded)
        options = ["--batch-check", "--follow-symlinks", *(["-z"] if zero else [])]
        end = b"\0" if zero else b"\n"
        asked = b"".join(name + end for name in encoded)
        out, is_partial = self._cat_file(*options, stdin=asked)
        answers, position = list[tuple[str, int] | SourceError](), 0
        for name in encoded:
            # Git repeats the name, which may contain line ends, so it is compared, not parsed.
            after = position + len(name) + 1
            if match := _OBJECT.match(out, position):
                kind, position = match[2].decode(), match.end()
                described = match[1].decode(), int(match[3])
                answers.append(
                    described if kind == "blob" else SourceError(f"it is a {kind}, not a file")
                )
            elif match := _DETOUR.match(out, position):
                position = match.end() + int(match[2]) + 1
                answers.append(SourceError("a link that leads to nothing in the tree"))
            elif out.startswith(name + b" ", position) and (match := _NOTHING.match(out, after)):
                position = match.end()
                answers.append(
                    SourceError("the id is ambiguous")
                    if match[1] != b"missing"
                    else SourceError("its content is not in this clone")
                    if is_partial
                    else AbsentError("the file does not exist there")
                )
            else:
                raise SourceError(_NOT_UNDERSTOOD)
        return answers

    def _cat_file(self, *options: str, stdin: bytes) -> tuple[bytes, bool]:
        """Return what ``cat-file`` prints, and whether something is not in a partial clone.

        There git would fetch what is missing, and gives up where it may not. Without the
        repository's config it says that it is missing.
        """
        try:
            return self.git.run("cat-file", *options, stdin=stdin), False
        except GitError as error:
            if "promisor" not in str(error):
                raise
        kind = self.git.run("rev-parse", "--show-object-format").decode().strip()
        try:
            with tempfile.TemporaryDirectory(prefix="excise-partial-") as folder:
                write_objects_of(folder, self.common, kind)
                out = self.git.run(
                    "cat-file", *options, stdin=stdin, git_dir=self.git_dir, common=folder
                )
                return out, True
        except OSError as error:
            raise SourceError(f"no scratch repository: {error.strerror}") from error


def write_objects_of(folder: str, common: str, kind: str) -> None:
    """Write a repository that has nothing but another one's objects.

    - ``kind``: the format of its ids, ``sha1`` or ``sha256``.
    """
    for name in ("refs", "info", os.path.join("objects", "info")):
        os.makedirs(os.path.join(folder, name))
    config = "[core]\n\trepositoryformatversion = 1\n\tfsync = none\n\tcompression = 0\n"
    config += f"[extensions]\n\tobjectformat = {kind}\n[fastimport]\n\tunpackLimit = 1\n"
    objects = quoted(os.path.join(common, "objects"))
    files = {
        "HEAD": b"ref: refs/heads/x\n",
        "config": config.encode(),
        "objects/info/alternates": objects.encode("utf-8", "surrogateescape") + b"\n",
    }
    for name, data in files.items():
        with open(os.path.join(folder, *name.split("/")), "xb") as file:
            file.write(data)


def quoted(name: str) -> str:
    """Return a name as git reads it in quotes."""
    data = name.encode("utf-8", "surrogateescape")
    return '"' + "".join(
        f"\\{byte:03o}" if byte < 0x20 or byte >= 0x7F or byte in b'"\\' else chr(byte)
        for byte in data
    ) + '"'  # fmt: skip


def open_folder(folder: str, folders: Sequence[str]) -> Repository:
    """Return the repository that contains a folder, with an empty ``path``.

    Raises SourceError if git refuses the repository, or it and the working tree do not name each
    other; `NoRepositoryError` if there is none.
    """
    git = Git(folder)
    _check_readable(folder)
    top, git_dir, common = _asked(git, ("--show-toplevel",), ("--absolute-git-dir",), _COMMON)
    if reason := _objection(git, top, git_dir, common, folders):
        raise SourceError(f"the repository is not used: {reason}")
    return Repository(git.at(top), top, common, git_dir, "")


def open_commits(folder: str) -> Repository:
    """Return the repository of a folder, or the bare one that it is: for reading commits alone.

    Raises SourceError as `open_folder`. A bare repository is used only under its own name, never
    from inside.
    """
    try:
        return open_folder(folder, [folder])
    except NoRepositoryError:
        if not _is_git_dir(folder):
            raise
    git = Git(folder, is_bare=True)
    answers = git.run("rev-parse", "--is-bare-repository", "--is-inside-work-tree")
    own, common = _asked(git, ("--absolute-git-dir",), _COMMON)
    if answers.split() != [b"true", b"false"] or {own, common} != {folder}:
        raise SourceError("the repository is not used: git finds another one than this bare folder")
    return Repository(git, folder, folder, folder, "")


def points_back(top: str, common: str) -> str:
    """Return why a folder is not a worktree of a repository, or "" if they name each other."""
    link = os.path.join(top, ".git")
    try:
        mode = os.lstat(link).st_mode
        if stat.S_ISDIR(mode):
            return "" if os.path.realpath(link) == common else "its .git is another repository"
        git_dir = own_folder(top)
        if git_dir == common:  # of a submodule
            is_own = _checkout_of(Git(common), common) == top
            return "" if is_own else "its .git does not point back to the repository"
        if os.path.dirname(git_dir) != os.path.join(common, "worktrees"):
            return "its .git does not point back to the repository"
        back = os.fsdecode(_short_file(git_dir, "gitdir")).strip("\n")
    except SourceError as error:
        return f"its .git cannot be read: {error.reason}"
    except OSError as error:
        return f"its .git cannot be read: {error.strerror}"
    if os.path.realpath(os.path.join(git_dir, back)) != os.path.realpath(link):
        return "the repository names another folder for its .git"
    return ""


def _checkout_of(git: Git, git_dir: str) -> str:
    """Return the top folder of the checkout that a repository names, as that of a submodule does.

    Raises SourceError if git fails.
    """
    answer = git.at(git_dir).run("rev-parse", "--show-toplevel", git_dir=git_dir)
    return os.path.realpath(os.fsdecode(answer.removesuffix(b"\n")))


def own_folder(top: str) -> str:
    """Return the part of a repository that belongs to a worktree: where its ``.git`` file leads.

    Links are followed.

    Raises SourceError if it has no such file (as a main checkout), or the file does not name a
    repository.
    """
    if (match := _LINK.fullmatch(_short_file(top, ".git"))) is None:
        raise SourceError("it does not name a repository")
    return os.path.realpath(os.path.join(top, os.fsdecode(match[1])))


def _short_file(folder: str, name: str) -> bytes:
    return read_bytes(os.path.join(folder, name), [folder], limit=8192)


def _asked(git: Git, *questions: tuple[str, ...]) -> list[str]:
    """Return the paths that ``git rev-parse`` prints, with links followed.

    One process answers, unless a path holds a line end.
    """
    answers = git.run("rev-parse", *chain(*questions)).removesuffix(b"\n").split(b"\n")
    if len(answers) != len(questions):
        answers = [git.run("rev-parse", *each).removesuffix(b"\n") for each in questions]
    return [os.path.realpath(path) if path else "" for path in map(os.fsdecode, answers)]


def _objection(git: Git, top: str, git_dir: str, common: str, folders: Sequence[str]) -> str:
    """Return why a repository is not the document's own, or "" if it is."""
    reason = points_back(top, common)
    if not reason or git_dir != common:
        return reason
    # A submodule names its folder in core.worktree, which git answers with.
    with suppress(SourceError):
        if own_folder(top) != git_dir:
            return reason
        if _checkout_of(git, git_dir) == top:
            return ""
        # One elsewhere in the workspace (git init --separate-git-dir) is the workspace's as well.
        contained(git_dir, folders)
        return ""
    return reason


# --- what git can read without waiting -----------------------------------------------------------


def _check_readable(folder: str) -> None:
    """Refuse the repository of a folder if git would open something other than a regular file."""
    if _is_git_dir(folder):
        _check_git_dir(folder)
    top = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(top, ".git")):
        if (parent := os.path.dirname(top)) == top:
            return
        top = parent
    for name in (".gitignore", ".gitattributes", ".gitmodules"):
        _check(os.path.join(top, name))
    git_dir = os.path.join(top, ".git")
    _check(git_dir, folder=True)
    with suppress(SourceError, OSError, ValueError):
        named = os.fsdecode(_short_file(top, ".git").removeprefix(b"gitdir: ").rstrip(b"\n"))
        git_dir = os.path.join(top, named)
    common = git_dir
    with suppress(SourceError, OSError, ValueError):
        link = os.fsdecode(_short_file(git_dir, "commondir"))
        common = os.path.join(git_dir, link.rstrip("\n"))
    for part in dict.fromkeys((git_dir, common)):
        _check_git_dir(part)


def _check_git_dir(folder: str) -> None:
    """Refuse the folder of a repository's own files like `check_readable`."""
    for name in _NAMES:
        _check(os.path.join(folder, *name.split("/")))
    left, folders = _MAX_REFS, [os.path.join(folder, "refs")]
    while folders and left > 0:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                left -= 1
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not entry.is_file(follow_symlinks=False):
                    _check(entry.path)


def _is_git_dir(folder: str) -> bool:
    """Whether git would take a folder for a repository itself, as a bare one is."""
    return os.path.lexists(os.path.join(folder, "HEAD")) and all(
        os.path.isdir(os.path.join(folder, name)) for name in ("objects", "refs")
    )


def _check(path: str, *, folder: bool = False) -> None:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return  # it does not exist, or git will report the error
    if not (stat.S_ISREG(mode) or (folder and stat.S_ISDIR(mode))):
        name = visible(os.path.basename(path))
        raise SourceError(f"the repository is not used: {name} in it is not a file")
