"""Patches and series with known blobs as candidates: whole files, replayed onto the target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from excise.patches import Patch, PatchError, postings
from excise_server.foundation.changes import Side
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.git.history import commit_named
from excise_server.git.repository import Repository
from excise_server.git.trees import Entry, Sides, Tree, check_size
from excise_server.queue.reading import Queue
from excise_server.review.candidate import Candidate, digest_of, marked_identical
from excise_server.sources.candidates import Candidates
from excise_server.sources.composed import Blobs, composed, read_named
from excise_server.sources.reading import Read, Target, files_of, replayed

__all__ = ["find_patches"]


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A patch or a whole series, under the id of its first patch."""

    id: str
    title: str
    patch: Patch
    notes: tuple[str, ...]


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
    paths = {
        path
        for proposal in proposals
        for pair in proposal.patch.files
        for path in (pair.old, pair.new)
        if path is not None
    }
    target = files_of(repository, origin, paths)
    rejected = list(queue.rejected)
    blobs = read_named(repository, [proposal.patch for proposal in proposals])
    made = _made(proposals, blobs, target, rejected)
    labels = _labels([proposal.id for proposal, _ in made])
    read = [
        _read(proposal, sides, label, origin)
        for (proposal, sides), label in zip(made, labels, strict=True)
    ]
    changed, unchanged, landed = [], [], []
    for each in replayed(repository, Target(origin), read, rejected):
        sides = each.read.sides
        candidate = replace(each.candidate, base="")  # none is known
        if not (sides.old or sides.new or sides.refused):
            unchanged.append(candidate.id)
        elif each.state == "landed":
            landed.append(candidate.id)
        else:
            changed.append(candidate)
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
        proposals.append(_Proposal(with_files[0].id, posting.title, posting.patch, tuple(notes)))
    return proposals


def _made(
    proposals: Sequence[_Proposal],
    blobs: Blobs,
    target: Mapping[str, Side],
    rejected: list[Rejected],
) -> list[tuple[_Proposal, Sides]]:
    """Return the proposals with their files, rejecting those whose texts are unknown."""
    proposed = []
    for proposal in proposals:
        try:
            sides = composed(proposal.patch, blobs, target.get)
            check_size(Tree(old=dict.fromkeys(sides.old | sides.new, Entry(""))))
            proposed.append((proposal, sides))
        except SourceError as error:
            reason = f"not comparable with the others: {error.reason}"
            rejected.append(Rejected(proposal.id, reason, error.hint))
        except PatchError as error:
            reason = f"not comparable with the others: {visible(str(error))}"
            rejected.append(Rejected(proposal.id, reason))
    return proposed


def _read(proposal: _Proposal, sides: Sides, label: str, origin: str) -> Read:
    name = f"patch:{visible(proposal.id)}"
    candidate = Candidate(
        id=name,
        folder="",
        branch="",
        commit="",
        names=(name,),
        given=proposal.title,
        label=label,
        base=origin,
        digest=digest_of(sides.old, sides.new),
        notes=(*proposal.notes, *sides.notes),
    )
    return Read(candidate, sides, older=sides.old.keys() | sides.new.keys())


def _labels(ids: Sequence[str]) -> list[str]:
    """Return the names of files, with their folders where two are equal."""
    names = [visible(name.rpartition("/")[2]) for name in ids]
    count = Counter(names)
    return [
        short if count[short] == 1 else visible(name)
        for short, name in zip(names, ids, strict=True)
    ]
