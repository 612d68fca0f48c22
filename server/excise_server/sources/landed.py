"""Which candidates the target has already, asked of whole candidates, uncommitted work included.

A target has a candidate if its commit is in the target's history, git's merge of it changes
nothing, or a commit of the target since its base ends in the number of its request or has its
patch id.
A commit that was reverted later does not count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from excise.patches import Patch
from excise.patches.identity import patch_id
from excise_server.foundation.changes import Side, patch_files
from excise_server.git.history import branch_made, worktree_made
from excise_server.git.merges import MergeAnswer
from excise_server.git.repository import Repository
from excise_server.git.trees import OPTIONS, Sides, Tree, TreeEntry, printed_trees, read_sides
from excise_server.review.candidate import Candidate
from excise_server.sources.reading import Read

MOST_COMMITS = 2_000
"""Most commits of the target whose patches are compared: the newest."""

_MOST_LISTED = 20_000
"""Most commits of the target whose first lines are read."""

_MOST_READ = 100
"""Most commits of the target that are read for one candidate."""

_SQUASHED = re.compile(r"\(#(\d+)\)\s*$")
_MERGED = re.compile(r"Merge pull request #(\d+)\b")
_REQUEST = re.compile(r"(?:ref:)?(?:refs/)?pull/(\d+)(?:/head)?|#(\d+)")
_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{7,64})\b")

_TELLS = re.compile(rb"\w")
"""What a line has that one may be known by."""

_Edits = tuple[Counter[tuple[str, bytes]], Counter[tuple[str, bytes]]]
_NAMES = ("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _TargetCommit:
    id: str
    parents: tuple[str, ...]
    subject: str

    @property
    def words(self) -> str:
        """The commit as people name it."""
        number = _SQUASHED.search(self.subject) or _MERGED.match(self.subject)
        return f"{self.id[:7]} (#{number[1]})" if number else self.id[:7]


def landed(
    repository: Repository,
    target: str,
    entries: Sequence[Read],
    answers: Mapping[str, MergeAnswer],
    notes: list[str],
) -> dict[str, tuple[str, str]]:
    """Return the candidates that the target has, by id: a commit of the target or "", and words.

    Raises SourceError if git fails.

    - ``answers``: git's verdicts, by id.
    - ``notes``: receives what was not looked at.
    """
    since = _Since(repository, target, [entry.candidate.base for entry in entries])
    found = dict[str, tuple[str, str]]()
    others = list[Read]()
    for entry in entries:
        name = entry.candidate.id
        is_idle = _is_idle(entry, answers.get(name))
        if entry.is_untouched:
            if (commit := _merged_in(repository, since, entry.candidate)) is not None:
                found[name] = (commit.id, f"landed as {commit.words}")
        elif (commit := since.numbered(entry.candidate)) is not None:
            found[name] = _told(commit, is_idle)
        else:
            others.append(entry)
    since.read_alike(others)
    cut = 0
    for entry in others:
        name = entry.candidate.id
        is_idle = _is_idle(entry, answers.get(name))
        named = since.same_patch(entry) or (since.touched_last(entry) if is_idle else None)
        if named or is_idle:
            found[name] = _told(named, is_idle)
        cut += name not in found and since.is_cut(entry.candidate.base)
    if cut:
        notes.append(
            f"landed: only the newest {MOST_COMMITS:,} commits of the target are compared with "
            f"{cut:,} candidate{'' if cut == 1 else 's'} of older bases"
        )
    return found


def _is_idle(entry: Read, answer: MergeAnswer | None) -> bool:
    """Whether git's merge of a candidate of which all was read changes nothing."""
    return answer is not None and answer.is_idle and not entry.sides.refused


def _told(commit: _TargetCommit | None, is_idle: bool) -> tuple[str, str]:
    if commit is None:
        return "", LANDED
    return commit.id, f"landed as {commit.words}{'' if is_idle else ', changed since'}"


LANDED = "landed: the target has all of it"


def _merged_in(repository: Repository, since: _Since, candidate: Candidate) -> _TargetCommit | None:
    """Return the merge that brought a candidate's own commits into the target, if there is one.

    A candidate at a commit of the target's first parents may have made nothing yet.
    """
    if candidate.commit != candidate.base or candidate.uncommitted:
        return None
    made = worktree_made(repository, candidate.folder) if candidate.folder else None
    made = made or (branch_made(repository, candidate.branch) if candidate.branch else None)
    if made is not None and made.commit == candidate.commit:
        return None
    return since.merge_of(candidate.commit)


class _Since:
    """The commits of a target since the bases of some candidates."""

    def __init__(self, repository: Repository, target: str, bases: Sequence[str]) -> None:
        self._repository, self._target = repository, target
        self._places = {base: place for place, base in enumerate(dict.fromkeys(bases))}
        self._sides: dict[str, Sides] = {}
        self._edits: dict[str, _Edits] = {}

    @cached_property
    def _range(self) -> str:
        """The commits since the oldest base, as git writes them; empty if there are none."""
        bases = [base for base in self._places if base != self._target]
        names = "".join(f"{base}\n" for base in bases).encode()
        if not bases:
            return ""
        found = self._repository.git.run("rev-list", "--no-walk", "--stdin", stdin=names)
        return f"{found.split()[-1].decode()}..{self._target}"

    @cached_property
    def commits(self) -> dict[str, _TargetCommit]:
        """All of them, children before parents, without those that the oldest base has."""
        fields = self._listed("--format=%H%x00%P%x00%s%x00")
        rows = zip(fields[:-1:3], fields[1::3], fields[2::3], strict=False)
        listed = ((name.rpartition("\n")[2], parents, subject) for name, parents, subject in rows)
        return {name: _TargetCommit(name, tuple(p.split()), subject) for name, p, subject in listed}

    def _listed(self, *options: str) -> list[str]:
        if not self._range:
            return []
        more = ("--topo-order", f"--max-count={_MOST_LISTED}", self._range)
        return self._repository.git.run("rev-list", *options, *more).decode(*_NAMES).split("\0")

    @cached_property
    def _before(self) -> dict[str, int]:
        """By commit, a bit for each base that has it in its history."""
        bits = {base: 1 << place for base, place in self._places.items()}
        for name, commit in self.commits.items():
            if own := bits.get(name, 0):
                for parent in commit.parents:
                    bits[parent] = bits.get(parent, 0) | own
        return bits

    def _is_since(self, name: str, base: str) -> bool:
        return not self._before.get(name, 0) & 1 << self._places[base]

    # --- by request, and by patch ---

    def numbered(self, candidate: Candidate) -> _TargetCommit | None:
        """Return the newest commit that ends in the number of a candidate's request."""
        for name in (*candidate.names, candidate.given):
            if match := _REQUEST.fullmatch(name):
                for commit in self._by_number.get(match[1] or match[2], ()):
                    if self._is_since(commit.id, candidate.base) and self._stands(commit.id):
                        return commit
        return None

    @cached_property
    def _by_number(self) -> dict[str, list[_TargetCommit]]:
        numbers = dict[str, list[_TargetCommit]]()
        for commit in self.commits.values():
            if match := _SQUASHED.search(commit.subject):
                numbers.setdefault(match[1], []).append(commit)
        return numbers

    def read_alike(self, candidates: Sequence[Read]) -> None:
        """Read those commits that change the same files as a candidate, all at once."""
        names = list(dict.fromkeys(name for each in candidates for name in self._alike(each)))
        sides = read_sides(self._repository, [self._trees[name] for name in names])
        self._sides.update(zip(names, sides, strict=True))

    def _alike(self, each: Read) -> list[str]:
        """Return the newest commits since its base that change the same files as a candidate."""
        sides, base = each.sides, each.candidate.base
        alike = self._by_paths.get(frozenset((*sides.old, *sides.new, *sides.refused)), ())
        return [*islice((name for name in alike if self._is_since(name, base)), _MOST_READ)]

    def same_patch(self, each: Read) -> _TargetCommit | None:
        """Return a commit with the patch id of a whole candidate."""
        sides, alike = each.sides, self._alike(each)
        edits = _edits(sides) if alike and not sides.refused else None
        for name in alike:
            theirs = self._sides[name]
            if theirs.refused or self._edited(name) != edits or not self._stands(name):
                continue
            if _patch_id(theirs) == _patch_id(sides):
                return self.commits[name]
        return None

    def _edited(self, name: str) -> _Edits:
        if name not in self._edits:
            self._edits[name] = _edits(self._sides[name])
        return self._edits[name]

    def is_cut(self, base: str) -> bool:
        """Whether the target has more commits since a base than are compared."""
        if len(self.commits) <= MOST_COMMITS:
            return False
        later = islice(self.commits, MOST_COMMITS, None)
        return any(self._is_since(name, base) for name in later)

    @cached_property
    def _trees(self) -> dict[str, Tree]:
        names = [c.id for c in islice(self.commits.values(), MOST_COMMITS) if len(c.parents) < 2]
        lines = "".join(f"{name}\n" for name in names).encode()
        options = ("--stdin", "-r", "--root", *OPTIONS)
        return dict(printed_trees(self._repository.git.run("diff-tree", *options, stdin=lines)))

    @cached_property
    def _by_paths(self) -> dict[frozenset[str], list[str]]:
        by_paths = dict[frozenset[str], list[str]]()
        for name, tree in self._trees.items():
            by_paths.setdefault(frozenset((*tree.old, *tree.new)), []).append(name)
        return by_paths

    # --- by history, and by lines ---

    def merge_of(self, name: str) -> _TargetCommit | None:
        """Return the first commit of the target's own line that has another one's history."""
        if name == self._target:
            return None
        line, at = list[_TargetCommit](), self._target
        while (commit := self.commits.get(at)) is not None:
            line.append(commit)
            at = commit.parents[0] if commit.parents else ""
            if at == name:
                return None
        having = {name}
        for each in reversed(self.commits.values()):
            if not having.isdisjoint(each.parents):
                having.add(each.id)
        return next((each for each in reversed(line) if each.id in having), None)

    def touched_last(self, each: Read) -> _TargetCommit | None:
        """Return the newest commit that adds or deletes a line that a candidate does, too."""
        sides, base = each.sides, each.candidate.base
        paths = sides.old.keys() | sides.new.keys()
        ours = {line for part in _edits(sides) for line in part if _TELLS.search(line[1])}
        touching = (
            (name, Tree(_only(tree.old, paths), _only(tree.new, paths)))
            for name, tree in self._trees.items()
            if not paths.isdisjoint((*tree.old, *tree.new)) and self._is_since(name, base)
        )
        trees = dict(islice(touching, _MOST_READ))
        for name, theirs in zip(
            trees, read_sides(self._repository, list(trees.values())), strict=True
        ):
            if not ours or any(ours & part.keys() for part in _edits(theirs)):
                return self.commits[name]
        return None

    # --- what was reverted ---

    def _stands(self, name: str) -> bool:
        """Whether a commit was not reverted since, or its revert was."""
        return not any(self._stands(later) for later in self._reverts.get(name, ()))

    @cached_property
    def _reverts(self) -> dict[str, list[str]]:
        """By commit, the later ones that revert it."""
        options = ("--fixed-strings", "--grep=This reverts commit", "--format=%H%x00%B%x00")
        fields = self._listed(*options)
        reverts = dict[str, list[str]]()
        order = {name: place for place, name in enumerate(self.commits)}
        for name, message in zip(fields[:-1:2], fields[1::2], strict=False):
            later = name.rpartition("\n")[2]
            for short in _REVERTS.findall(message):
                for earlier in (each for each in self.commits if each.startswith(short)):
                    if order.get(later, len(order)) < order[earlier]:
                        reverts.setdefault(earlier, []).append(later)
        return reverts


def _only(entries: Mapping[str, TreeEntry], paths: Collection[str]) -> dict[str, TreeEntry]:
    return {path: entry for path, entry in entries.items() if path in paths}


def _edits(sides: Sides) -> _Edits:
    """Return the lines that are added and deleted, by path, counted, as a patch id reads them."""
    added, deleted = Counter[tuple[str, bytes]](), Counter[tuple[str, bytes]]()
    for path in sides.old.keys() | sides.new.keys():
        before, after = (_lines(part.get(path)) for part in (sides.old, sides.new))
        added.update({(path, line): count for line, count in (after - before).items()})
        deleted.update({(path, line): count for line, count in (before - after).items()})
    return added, deleted


def _lines(side: Side | None) -> Counter[bytes]:
    lines = side.data.split(b"\n") if side else []
    return Counter(bare for line in lines if (bare := b"".join(line.split())))


def _patch_id(sides: Sides) -> str:
    return patch_id(Patch(patch_files(sides.old, sides.new)))
