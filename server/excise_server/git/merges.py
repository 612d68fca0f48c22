"""What git merges: its verdict on whole candidates, of which each is merged with the target.

`merge-tree` runs the merge drivers that a repository's config names, and writes objects into it. So
it is run in a scratch repository of ours, which has no config but its own, the repository's objects
as alternates, and of the target the files of attributes alone: ``merge=union`` is git's own, and an
unknown driver means git's merge of texts. The two sides are commits made there, whose only parent
is the base, which has none: no history is walked, and a shallow clone has what it needs. Of several
bases (criss-cross) the real commits are the parents. A few processes serve all candidates.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from excise_server.foundation.changes import SUBMODULE, Side
from excise_server.foundation.escape import visible
from excise_server.foundation.files import is_refused_by_git, read_bytes
from excise_server.foundation.inputs import SourceError
from excise_server.git.command import Git
from excise_server.git.repository import Blob, Repository, quoted, write_objects_of
from excise_server.git.trees import OPTIONS, Sides, printed_trees, read_sides

OLDEST = (2, 39)
"""The oldest version of git that merges many at once."""

_SHA256 = 64
_ATTRIBUTES = re.compile(rb"100\d{3} blob ([0-9a-f]+)\t((?:[^\0]*/)?\.gitattributes)\0")
_MARK = re.compile(r":(\d+) ([0-9a-f]{40,64})")
_STAGE = re.compile(rb"(\d{6}) ([0-9a-f]{40,64}) ([1-3])\t(.+)", re.DOTALL)
_KIND = re.compile(rb"CONFLICT \(([^)]+)\)")
_UNIQUE = re.compile(r"~[0-9a-f]{40,64}(?:_\d+)?$")
_MAX_ATTRIBUTES = 1_000_000
_COMMITTER = "committer excise <excise> 0 +0000\ndata 0\n"


@dataclass(frozen=True, slots=True)
class TreeOf:
    """The tree of a commit, with some files otherwise; None: it has no such file.

    The bytes of a `Side` with a blob are not needed.
    """

    commit: str
    files: Mapping[str, Side | None] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, bytes]:
        """What two snapshots of the same tree have in common."""
        hashed = hashlib.sha256()
        for path, side in sorted(self.files.items()):
            told = (path, side and (side.mode, side.blob, hashlib.sha256(side.data).digest()))
            hashed.update(repr(told).encode("utf-8", "surrogateescape"))
        return self.commit, hashed.digest()


@dataclass(frozen=True, slots=True)
class MergeQuestion:
    """A question: what a candidate makes of the target.

    - ``base``: what it started from.
    - ``bases``: the merge bases of the two, if there are several.
    """

    base: TreeOf
    head: TreeOf
    bases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MergeAnswer:
    """Git's answer.

    - ``sides``: the files of the target that it changes, before and after. One in conflict is as
      git writes it, with markers.
    - ``kinds``: git's word for each conflict, by path: ``content``, ``add/add``, ``modify/delete``,
      ``rename/delete``, ``file location``.
    - ``stages``: of a file in conflict, the sides that have it: 1 the base, 2 the target, 3 the
      candidate.
    - ``related``: the other paths that conflicts are about.
    - ``refused``: why it is not merged, or empty.
    """

    sides: Sides = field(default_factory=lambda: Sides({}, {}))
    kinds: Mapping[str, str] = field(default_factory=dict)
    stages: Mapping[str, frozenset[int]] = field(default_factory=dict)
    related: frozenset[str] = frozenset()
    refused: str = ""

    @property
    def is_clean(self) -> bool:
        """Whether git merges it without a conflict."""
        return not (self.kinds or self.refused)

    @property
    def size(self) -> int:
        """The bytes of its files."""
        parts = self.sides.old, self.sides.new
        return sum(len(side.data) for part in parts for side in part.values())

    @property
    def is_idle(self) -> bool:
        """Whether the merge changes nothing."""
        sides = self.sides
        return self.is_clean and not (sides.old or sides.new or sides.refused)


_MAX_KEPT = 50_000_000
"""Most bytes of files in answers that are kept: an editor asks again whenever one file changes."""

_kept: dict[object, MergeAnswer] = {}


def merged(
    repository: Repository, target: TreeOf, merges: Sequence[MergeQuestion]
) -> list[MergeAnswer]:
    """Return what git makes of the target with each of some candidates; git is asked once for each.

    Raises SourceError if git is too old for that, or cannot make the scratch repository.
    """
    rules: object = None
    with suppress(OSError):
        status = os.stat(os.path.join(repository.common, "info", "attributes"))
        rules = status.st_mtime_ns, status.st_size
    place = (repository.common, rules, target.key)
    keys = [(place, merge.base.key, merge.head.key, merge.bases) for merge in merges]
    new = {key: merge for key, merge in zip(keys, merges, strict=True) if key not in _kept}
    answers = dict(zip(new, _all_merged(repository, target, list(new.values())), strict=True))
    found = [answers[key] if key in answers else _kept[key] for key in keys]
    if sum(own.size for own in (*_kept.values(), *answers.values())) > _MAX_KEPT:
        _kept.clear()
    _kept.update((key, answer) for key, answer in answers.items() if not answer.refused)
    return found


def _all_merged(
    repository: Repository, target: TreeOf, merges: list[MergeQuestion]
) -> list[MergeAnswer]:
    if not merges:
        return []
    try:
        with tempfile.TemporaryDirectory(prefix="excise-merges-") as folder:
            scratch = _scratch(repository, os.path.realpath(folder), target)
            return _merged(scratch, target, merges)
    except OSError as error:
        raise SourceError(f"no scratch repository: {error.strerror}") from error


def _scratch(repository: Repository, folder: str, target: TreeOf) -> Repository:
    """Make the scratch repository in an empty folder."""
    git = repository.git.scratch(folder)
    version = git.run("version").decode("ascii", "replace")
    numbers = re.search(r"(\d+)\.(\d+)", version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST:
        shown = numbers[0] if numbers else "of no known version"
        raise SourceError(f"git {shown}: renames of the target unseen", hint="git 2.39 sees them")
    git_dir = os.path.join(folder, ".git")
    kind = "sha256" if len(target.commit) == _SHA256 else "sha1"
    write_objects_of(git_dir, repository.common, kind)
    for name in ("shallow", "info/attributes"):
        path = os.path.join(repository.common, *name.split("/"))
        if os.path.lexists(path):
            _write(git_dir, name, read_bytes(path, [repository.common]))
    for path, data in _attributes(repository, target).items():
        _write(folder, path, data)
    return Repository(git, folder, git_dir, git_dir, "")


def _write(folder: str, name: str, data: bytes) -> None:
    path = os.path.join(folder, *name.split("/"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "xb") as file:
        file.write(data)


def _attributes(repository: Repository, target: TreeOf) -> dict[str, bytes]:
    """Return the target's files of attributes, by path, that git would read in a checkout."""
    out = repository.git.run("ls-tree", "-r", "-z", "--full-tree", target.commit)
    listed = {os.fsdecode(path): blob.decode() for blob, path in _ATTRIBUTES.findall(out)}
    blobs = repository.blobs(list(listed.values()))
    found = {path: b.data for path, b in zip(listed, blobs, strict=True) if isinstance(b, Blob)}
    for path, side in target.files.items():
        if path.rpartition("/")[2] == ".gitattributes":
            found.pop(path, None)
            if side is not None and side.mode.startswith("100"):
                found[path] = side.data
    return {
        path: data
        for path, data in found.items()
        if not is_refused_by_git(path) and len(data) <= _MAX_ATTRIBUTES
    }


# --- the commits that are merged -----------------------------------------------------------------


def _merged(
    scratch: Repository, target: TreeOf, merges: Sequence[MergeQuestion]
) -> list[MergeAnswer]:
    git = scratch.git
    snapshots = [target, *(each for merge in merges for each in (merge.base, merge.head))]
    trees = _trees(git, list(dict.fromkeys(each.commit for each in snapshots)))
    if target.commit not in trees:
        raise SourceError("not merged: the target's files are not in this clone")
    stream, marks = _Stream(trees), dict[int, tuple[int, int]]()
    for number, merge in enumerate(merges):
        if {merge.base.commit, merge.head.commit} <= trees.keys():
            marks[number] = stream.two_sides(merge, target)
    if not marks:
        return [MergeAnswer(refused=_ABSENT)] * len(merges)
    commits = stream.run(scratch)
    lines = {number: f"{commits[a]} {commits[b]}\n" for number, (a, b) in marks.items()}
    told = dict(_asked(git, lines))
    whole = trees[target.commit]
    if target.files:
        ours = commits[next(iter(marks.values()))[0]]
        whole = _trees(git, [ours])[ours]
    results = [answer.tree for answer in told.values() if isinstance(answer, _Answer)]
    pairs = "".join(f"{whole} {tree}\n" for tree in dict.fromkeys(results))
    out = git.run("diff-tree", "--stdin", "-r", *OPTIONS, stdin=pairs.encode())
    changed = dict(printed_trees(out))
    sides = dict(zip(changed, read_sides(scratch, list(changed.values())), strict=True))
    return [
        MergeAnswer(refused=_ABSENT)
        if (answer := told.get(number)) is None
        else MergeAnswer(refused=answer)
        if isinstance(answer, str)
        else MergeAnswer(sides[answer.tree], answer.kinds, answer.stages, answer.related)
        for number in range(len(merges))
    ]


_ABSENT = "its files are not in this clone"


def _trees(git: Git, commits: Sequence[str]) -> dict[str, str]:
    """Return the trees of those commits that are there, with their trees."""
    asked = "".join(f"{commit}^{{tree}}\n" for commit in commits).encode()
    out = git.run("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=asked)
    found = zip(commits, out.decode("utf-8", "replace").split("\n"), strict=False)
    return {
        commit: line.removeprefix("tree ") for commit, line in found if line.startswith("tree ")
    }


class _Stream:
    """What `fast-import` reads: commits that are known by their marks."""

    def __init__(self, trees: Mapping[str, str]) -> None:
        self._trees = trees
        self._parts: list[bytes] = []
        self._marks: dict[object, int] = {}

    def two_sides(self, merge: MergeQuestion, target: TreeOf) -> tuple[int, int]:
        """Add the target and a candidate, each on top of its base, and return their marks."""
        parents = merge.bases or (f":{self._commit((), merge.base)}",)
        return self._commit(parents, target), self._commit(parents, merge.head)

    def _commit(self, parents: Sequence[str], snapshot: TreeOf) -> int:
        key = (tuple(parents), snapshot.key)
        if (mark := self._marks.get(key)) is not None:
            return mark
        mark = self._marks[key] = len(self._marks) + 1
        above = [f"{word} {name}\n" for word, name in zip(_PARENTS, parents, strict=False)]
        above += [f"merge {name}\n" for name in parents[2:]]
        tree = f'M 040000 {self._trees[snapshot.commit]} ""\n'
        heading = f"reset refs/x\n\ncommit refs/x\nmark :{mark}\n{_COMMITTER}"
        self._parts.append("".join([heading, *above, tree]).encode())
        # What goes comes first: a folder may take the place of a file.
        for path, side in sorted(snapshot.files.items(), key=lambda file: file[1] is not None):
            name = quoted(path).encode()
            if side is None:
                self._parts.append(b"D %b\n" % name)
            elif side.blob and (side.mode == SUBMODULE or not side.data):
                self._parts.append(f"M {side.mode} {side.blob} ".encode() + name + b"\n")
            else:
                self._parts.append(f"M {side.mode} inline ".encode() + name + b"\n")
                self._parts.append(b"data %d\n%b\n" % (len(side.data), side.data))
        return mark

    def run(self, scratch: Repository) -> dict[int, str]:
        """Make the commits, and return their ids by their marks."""
        marks = os.path.join(scratch.git_dir, "marks")
        options = ("--quiet", "--force", f"--export-marks={marks}")
        scratch.git.run("fast-import", *options, stdin=b"".join(self._parts))
        with open(marks, encoding="ascii") as file:
            return {int(mark): commit for mark, commit in _MARK.findall(file.read())}


_PARENTS = ("from", "merge")

# --- what git says of them -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Answer:
    """The tree of a merge, and its conflicts as in `MergeAnswer`."""

    tree: str
    kinds: dict[str, str] = field(default_factory=dict)
    stages: dict[str, frozenset[int]] = field(default_factory=dict)
    related: frozenset[str] = frozenset()


def _asked(git: Git, lines: Mapping[int, str]) -> Iterator[tuple[int, _Answer | str]]:
    """Yield git's answer to each line, or why there is none.

    Git ends at the first line that it cannot answer. That is asked again by itself: of a git that
    crashed, answers may be lost.
    """
    waiting, together = list(lines), _TOGETHER
    while waiting:
        part, warnings = waiting[:together], list[str]()
        asked = "".join(map(lines.__getitem__, part)).encode()
        options = ("--write-tree", "--stdin", "-z")
        out = git.run("merge-tree", *options, stdin=asked, status=_ANY, warnings=warnings)
        answered = list(_answers(out))
        yield from zip(part, answered, strict=False)
        waiting = waiting[len(answered) :]
        if len(answered) == len(part):
            continue
        if together == 1:
            told = (line.partition(": ")[2] for line in warnings if ": " in line)
            yield waiting.pop(0), visible(next(told, "git merge-tree ended without an answer"))
        together = 1 if together > 1 else _TOGETHER


_TOGETHER = 200
_ANY = tuple(range(-64, 256))


def _answers(out: bytes) -> Iterator[_Answer]:
    """Yield the answers that are printed to their end."""
    parts, at = out.split(b"\0"), 0
    try:
        while parts[at]:
            status, tree, at = parts[at], parts[at + 1].decode(), at + 2
            stages, messages = dict[str, set[int]](), list[tuple[list[str], bytes]]()
            if status == b"0":
                while parts[at]:
                    if (match := _STAGE.fullmatch(parts[at])) is None:
                        if at + 1 == len(parts):
                            return
                        raise SourceError("git merge-tree gave unexpected output")
                    stages.setdefault(os.fsdecode(match[4]), set()).add(int(match[3]))
                    at += 1
                at += 1
                while parts[at]:
                    end = at + 1 + int(parts[at])
                    messages.append(([*map(os.fsdecode, parts[at + 1 : end])], parts[end + 1]))
                    at = end + 2
            if at + 1 >= len(parts):
                return
            at += 1
            yield _answer(tree, stages, messages)
    except IndexError:
        return


def _answer(
    tree: str, stages: Mapping[str, set[int]], messages: Sequence[tuple[list[str], bytes]]
) -> _Answer:
    said: dict[str, str] = {}
    for paths, text in messages:
        if match := _KIND.search(text):
            for path in paths:
                said.setdefault(path, visible(match[1].decode("utf-8", "replace")))
    by_path: dict[str, frozenset[int]] = {}
    for path, own in stages.items():
        plain = _UNIQUE.sub("", path)
        by_path[plain] = frozenset(own) | by_path.get(plain, frozenset())
        if path in said:
            said.setdefault(plain, said[path])
    kinds = {path: said.get(path, "content") for path in by_path or said}
    return _Answer(tree, kinds, by_path, frozenset((*said, *stages)) - kinds.keys())
