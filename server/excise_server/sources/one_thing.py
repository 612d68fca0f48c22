"""A conflict's side and the branch or worktree that it comes from are one candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from excise.text import Revision, normalise
from excise_server.review.candidate import in_order
from excise_server.sources.finding import Details, Found

__all__ = ["one_each"]

UNLIKE = "the branch has another text now: this is the one that is merged"


def one_each(conflict: Found, answers: Sequence[Found]) -> list[Found]:
    """Return the answers of all sources, in which each side of a conflict counts once.

    A side with the same text as a candidate of one of its names is that candidate, at the place of
    the side. If the texts differ (because a worktree has uncommitted edits), both stay, with a note
    on the side. A branch without changes of its own may also be a side.
    """
    details_of = dict(conflict.details)
    answers = list(answers)
    for side in conflict.revisions:
        details = details_of[side.id]
        own_name = next(name for name in details.names if name.startswith("conflict:"))
        for index, answer in enumerate(answers):
            unchanged = tuple(name for name in answer.unchanged if name not in details.names)
            answers[index] = answer = replace(answer, unchanged=unchanged)
            if (same := _with_a_name(answer, details.names)) is None:
                continue
            if _is_same(side, details, *same):
                conflict = _joined(conflict, side, details, answer, *same)
                answers[index] = answer.without([same[0].id])
            else:
                conflict = _apart(conflict, side, own_name)
    return [conflict, *answers]


def _with_a_name(answer: Found, names: Sequence[str]) -> tuple[Revision, Details] | None:
    """Return the candidate that has one of the names, with its details."""
    details = dict(answer.details)
    for revision in answer.revisions:
        facts = details.get(revision.id, Details())
        if set(facts.names) & set(names):
            return revision, facts
    return None


def _is_same(side: Revision, details: Details, revision: Revision, candidate: Details) -> bool:
    return (details.change == "deleted") == (candidate.change == "deleted") and (
        normalise(side.text) == normalise(revision.text)
    )


def _joined(
    conflict: Found,
    side: Revision,
    details: Details,
    answer: Found,
    revision: Revision,
    candidate: Details,
) -> Found:
    """Return the conflict with a side under the id of the same candidate."""
    word = side.label.rpartition(" ")[2].strip("()")
    name, label = revision.id, f"{revision.label} ({word})"
    details = replace(candidate, names=in_order([*candidate.names, *details.names]))
    conflict = conflict.called({side.id: name})
    answer_notes = tuple(entry for entry in answer.notes if entry[0] == name)
    return replace(
        conflict,
        revisions=tuple(replace(r, label=label) if r.id == name else r for r in conflict.revisions),
        notes=tuple(dict.fromkeys((*conflict.notes, *answer_notes))),
        files=(*conflict.files, *(entry for entry in answer.files if entry[0] == name)),
        details=tuple((n, details if n == name else kept) for n, kept in conflict.details),
    )


def _apart(conflict: Found, side: Revision, own_name: str) -> Found:
    """Return the conflict with a side under its own name."""
    conflict = conflict.called({side.id: own_name})
    details = tuple(
        (name, replace(facts, names=(own_name,)) if name == own_name else facts)
        for name, facts in conflict.details
    )
    return replace(conflict, notes=(*conflict.notes, (own_name, UNLIKE)), details=details)
