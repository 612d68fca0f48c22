"""Patches and series with known blobs as candidates: whole files, replayed onto the target."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from excise.patches import Patch, PatchError, postings
from excise_server.foundation.changes import Side
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.git.drift import Drift, drifts_of
from excise_server.git.history import commit_named
from excise_server.git.repository import Repository
from excise_server.git.trees import (
    Entry,
    Listing,
    Sides,
    Tree,
    check_size,
    commit_trees,
    listing_of,
    read_listed,
)
from excise_server.queue.reading import Queue
from excise_server.review.candidate import Candidate, digest_of, marked_identical
from excise_server.sources.candidates import Candidates
from excise_server.sources.composed import Blobs, composed, read_named
from excise_server.sources.reading import Read, replayed_on

__all__ = ["find_patches"]

_RENAMED = 0.5
_PIECE = re.compile(rb"[^\n]{0,63}\n|[^\n]{1,64}")
_MAX_GONE, _MAX_TOUCHING, _MAX_REMOVALS = 1_000, 20_000, 30
"""Files that the target no longer has whose new names git is asked for, the newest commits that are
searched for their end, and how many of those that removed some git compares with the target."""


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A patch or a whole series, under the id of its first patch."""

    id: str
    title: str
    patches: tuple[Patch, ...]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Target:
    """The files of the target: where they are, and those that were read."""

    repository: Repository
    listing: Listing
    files: dict[str, Side] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)

    def read(self, paths: set[str]) -> None:
        """Read files, those that the target has, by one question to git."""
        unknown = paths - self.files.keys() - self.unread.keys()
        sides = read_listed(self.repository, self.listing, unknown)
        self.files |= sides.new
        self.unread |= sides.refused


def find_patches(repository: Repository, queue: Queue, onto: str = "") -> Candidates:
    """Read the texts that patches were made from, apply them, and replay the results.

    Raises
    ------
    SourceError
        If git fails, there is no commit yet, or a revision that was named does not exist.
    """
    origin = commit_named(repository, onto, "--onto") if onto else repository.head()
    if origin is None:
        raise SourceError("no commit yet: there is nothing to replay patches on")
    proposals = _proposals(queue)
    target = _Target(repository, listing_of(repository, origin))
    target.read({
        path
        for proposal in proposals
        for patch in proposal.patches
        for pair in patch.files
        for path in (pair.old, pair.new)
        if path is not None
    })  # fmt: skip
    rejected = list(queue.rejected)
    blobs = read_named(repository, [patch for p in proposals for patch in p.patches])
    proposed = _made(proposals, blobs, target, rejected)
    moves = _moves([sides for _, sides in proposed], target, origin)
    labels = _labels([proposal.id for proposal, _ in proposed])
    changed, unchanged, landed = [], [], []
    for (proposal, sides), label in zip(proposed, labels, strict=True):
        each = replayed_on(_read(proposal, sides, label), _drift(sides, moves, target))
        if not (sides.old or sides.new or sides.refused):
            unchanged.append(each.candidate.id)
        elif each.state == "landed":
            landed.append(each.candidate.id)
        else:
            changed.append(each.candidate)
    notes = tuple(f"patch:{visible(name)}: {note}" for name, note in queue.notes)
    return Candidates(
        origin,
        marked_identical(changed),
        tuple(unchanged),
        tuple(landed),
        tuple(rejected),
        notes,
    )


def _proposals(queue: Queue) -> list[_Proposal]:
    """Return the patches of each posting as a proposal, in the order of its series."""
    proposals = []
    for posting in postings([member.message for member in queue.sent]):
        members = [queue.sent[number] for number in posting.messages]
        with_files = [member for member in members if member.message.patch.files]
        if not with_files:
            continue
        notes = []
        if posting.missing:
            places = ", ".join(map(str, posting.missing[:8]))
            notes.append(f"of its series these are not here: {places}")
        patches = tuple(member.message.patch for member in with_files)
        proposals.append(_Proposal(with_files[0].id, posting.title, patches, tuple(notes)))
    return proposals


def _made(
    proposals: Sequence[_Proposal], blobs: Blobs, target: _Target, rejected: list[Rejected]
) -> list[tuple[_Proposal, Sides]]:
    """Return the proposals with their files, rejecting those whose texts are unknown."""
    proposed = []
    for proposal in proposals:
        try:
            sides = composed(proposal.patches, blobs, target.files.get)
            check_size(Tree(old=dict.fromkeys(sides.old | sides.new, Entry(""))))
            proposed.append((proposal, sides))
        except SourceError as error:
            reason = f"not comparable with the others: {error.reason}"
            rejected.append(Rejected(proposal.id, reason, error.hint))
        except PatchError as error:
            reason = f"not comparable with the others: {visible(str(error))}"
            rejected.append(Rejected(proposal.id, reason))
    return proposed


def _moves(every: Sequence[Sides], target: _Target, origin: str) -> dict[str, str]:
    """Return the renames of files that the target no longer has under their old names.

    A patch does not name a commit, so git is asked what became of a file since the last commit that
    had it.
    """
    missing = {path for sides in every for path in sides.old if path not in target.listing}
    moves: dict[str, str] = {}
    if missing:
        last = _last_with(target.repository, origin, sorted(missing)[:_MAX_GONE])
        for drift in drifts_of(target.repository, origin, last).values():
            if isinstance(drift, Drift):
                moves |= drift.moved
        target.read(set(moves.values()))
    return moves


def _last_with(repository: Repository, origin: str, paths: Sequence[str]) -> dict[str, list[str]]:
    """Return, by commit, the files that no later commit has."""
    touching = repository.git.run("rev-list", "--end-of-options", origin, "--", *paths)
    commits = touching.decode("ascii", "replace").split()[:_MAX_TOUCHING]
    last: dict[str, list[str]] = {}
    remaining = set(paths)
    for commit, tree in commit_trees(repository, commits, paths).items():
        removed = (tree.old.keys() - tree.new.keys()) & remaining
        if removed and len(last) < _MAX_REMOVALS:
            with suppress(SourceError):  # a shallow clone may lack the parent
                last[commit_named(repository, f"{commit}^", "--repo")] = sorted(removed)
        remaining -= removed
    return last


def _drift(sides: Sides, moves: Mapping[str, str], target: _Target) -> Drift:
    """Return the target's versions of the texts that a patch was made from."""
    moved = {
        path: new
        for path, new in moves.items()
        if path in sides.old and new in target.files
        and _common(sides.old[path].data, target.files[new].data) >= _RENAMED
    }  # fmt: skip
    target_sides: dict[str, Side | None] = {}
    for path in sides.old.keys() | sides.new.keys():
        if path in target.unread:
            continue
        side = target.files.get(moved.get(path, path))
        base = sides.old.get(path)
        if side is None or base is None or (side.mode, side.data) != (base.mode, base.data):
            target_sides[path] = side
    return Drift(target_sides, moved, target.unread)


def _common(old: bytes, new: bytes) -> float:
    """Return how much of the longer one both have, as git counts it for renames (diffcore-delta.c).

    So a patch follows a file as far as the same change on a branch does, where git is asked.
    """
    pieces = [Counter(_PIECE.findall(data.replace(b"\r\n", b"\n"))) for data in (old, new)]
    common = sum(len(piece) * count for piece, count in (pieces[0] & pieces[1]).items())
    return common / (max(len(old), len(new)) or 1)


def _read(proposal: _Proposal, sides: Sides, label: str) -> Read:
    name = f"patch:{visible(proposal.id)}"
    candidate = Candidate(
        id=name,
        folder="",
        branch="",
        commit="",
        names=(name,),
        given=proposal.title,
        label=label,
        digest=digest_of(sides.old, sides.new),
        notes=(*proposal.notes, *sides.notes),
    )
    return Read(candidate, sides)


def _labels(ids: Sequence[str]) -> list[str]:
    """Return the names of files, with their folders where two are equal."""
    names = [visible(name.rpartition("/")[2]) for name in ids]
    count = Counter(names)
    return [
        short if count[short] == 1 else visible(name)
        for short, name in zip(names, ids, strict=True)
    ]
