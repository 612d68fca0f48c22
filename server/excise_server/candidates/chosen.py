"""Which candidates and batches names denote, and in which review choices were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.review.batches import Batch, Member, batches
from excise_server.review.candidate import Candidate, candidates_called, review_digest
from excise_server.review.ranked import chosen_batch
from excise_server.sources.candidates import Candidates

__all__ = [
    "check_digest",
    "chosen_batches",
    "chosen_candidates",
    "in_batch",
    "members_of",
    "without",
]


def without(
    candidates: Candidates, aside: Mapping[str, str]
) -> tuple[Candidates, tuple[Candidate, ...]]:
    """Return the candidates without those of some ids, and those.

    A candidate that is set aside no longer counts as identical to another one.
    """
    remaining = tuple(
        replace(c, identical=tuple(name for name in c.identical if name not in aside))
        for c in candidates.found
        if c.id not in aside
    )
    return replace(candidates, found=remaining), tuple(c for c in candidates.found if c.id in aside)


def chosen_candidates(candidates: Candidates, names: Sequence[str]) -> Candidates:
    """Return the candidates with some names (ids, labels, branches), or all without names.

    Raises
    ------
    SourceError
        If a name denotes none or several of those that change something.
    """
    chosen = set()
    for name in names:
        meant = candidates_called(name, candidates.found)
        if len(meant) != 1:
            raise _unknown(candidates, name, [c.id for c in meant])
        chosen.add(meant[0].id)
    if not names:
        return candidates
    return replace(candidates, found=tuple(c for c in candidates.found if c.id in chosen))


def _unknown(candidates: Candidates, name: str, meant: Sequence[str]) -> SourceError:
    if meant:
        return SourceError(
            f"{visible(name)} names {len(meant)} candidates",
            hint=f"name one by its id: {first_few(meant)}",
        )
    idle = {**dict.fromkeys(candidates.unchanged, "it changes nothing"),
            **dict.fromkeys(candidates.landed, "all of it is in the target already")}  # fmt: skip
    for identity, reason in idle.items():
        if name in (identity, identity.partition(":")[2]):
            return SourceError(f"nothing of {visible(name)} is left to compare: {reason}")
    labels = first_few([visible(c.label) for c in candidates.found], 8)
    hint = f"there are {labels}" if labels else "no candidate changes anything"
    return SourceError(f"no candidate is called {visible(name)}", hint=hint)


def in_batch(candidates: Candidates, batch: str) -> tuple[Candidate, ...]:
    """Return the candidates of a batch that was selected by its name (empty: all)."""
    return chosen_batches(candidates, batch)[0].found


def chosen_batches(
    candidates: Candidates, name: str
) -> tuple[Candidates, tuple[Batch, ...], tuple[Batch, ...]]:
    """Return the candidates of the batch that was chosen, its batches, and all other batches.

    Raises
    ------
    SourceError
        If no batch has that name; an empty one chooses all.
    """
    every = batches(map(_member, candidates.found))
    if not name:
        return candidates, every, ()
    names = [
        (label, candidate.id)
        for candidate in candidates.found
        for label in (candidate.label, candidate.branch, candidate.id.partition(":")[2])
    ]
    batch = chosen_batch(every, name, names)
    if batch is None:
        count = f"there are {len(every)}" if len(every) > 1 else "there is one"
        hint = f"{count}: name a batch by its number, its task or a candidate in it"
        hint = hint if every else "no candidate changes anything"
        raise SourceError(f"no batch is called {visible(name)}", hint=hint)
    members = tuple(c for c in candidates.found if c.id in batch.members)
    others = tuple(each for each in every if each != batch)
    return replace(candidates, found=members), (batch,), others


def _member(candidate: Candidate) -> Member:
    return Member(
        id=candidate.id,
        paths=tuple(sorted(candidate.old.keys() | candidate.new.keys())),
        base=candidate.base,
        made=candidate.made,
        tool=candidate.tool,
        task=candidate.task,
    )


def members_of(candidates: Candidates, batch: Batch) -> list[Candidate]:
    """Return the candidates of a batch."""
    return [candidate for candidate in candidates.found if candidate.id in batch.members]


def check_digest(digest: str, every: Candidates, batches: Sequence[Sequence[Candidate]]) -> None:
    """Refuse choices that were made in another review than this one, or one of its batches.

    Raises
    ------
    SourceError
        Naming both digests.
    """
    digests = [review_digest(every.origin, company) for company in (every.found, *batches)]
    if digest not in digests:
        raise SourceError(
            f"the review has changed: its digest is {digests[0]}, and not {visible(digest)[:80]}",
            hint="look at it again with excise review, and choose again",
        )
