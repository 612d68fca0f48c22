"""A conflict's side and the branch or worktree that it comes from are one candidate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from excise.text import Revision, normalise
from excise_server.review.candidate import in_order
from excise_server.sources.finding import Details, Found

__all__ = ["one_each"]

UNLIKE = "the branch has another text now: this is the one that is merged"


def one_each(conflict: Found, others: Sequence[Found]) -> list[Found]:
    """Return the answers of all sources, in which each side of a conflict counts once.

    A side with the text of a candidate that has one of its names is that candidate, at the place of
    the side. Where the texts differ (a worktree whose edits are not committed) both stay, and the
    side says so. A branch that changed nothing since it started may be a side: its own.
    """
    details = dict(conflict.details)
    others = list(others)
    for side in conflict.revisions:
        known = details[side.id]
        own = next(name for name in known.names if name.startswith("conflict:"))
        for index, found in enumerate(others):
            left = tuple(name for name in found.unchanged if name not in known.names)
            others[index] = found = replace(found, unchanged=left)
            if (same := _with_a_name(found, known.names)) is None:
                continue
            if _is_same(side, known, *same):
                conflict = _joined(conflict, side, known, found, *same)
                others[index] = found.without([same[0].id])
            else:
                conflict = _apart(conflict, side, own)
    return [conflict, *others]


def _with_a_name(answer: Found, names: Sequence[str]) -> tuple[Revision, Details] | None:
    """Return the candidate that has one of the names, with what is known of it."""
    details = dict(answer.details)
    for revision in answer.revisions:
        known = details.get(revision.id, Details())
        if set(known.names) & set(names):
            return revision, known
    return None


def _is_same(side: Revision, known: Details, revision: Revision, candidate: Details) -> bool:
    return (known.change == "deleted") == (candidate.change == "deleted") and (
        normalise(side.text) == normalise(revision.text)
    )


def _joined(
    conflict: Found,
    side: Revision,
    known: Details,
    answer: Found,
    revision: Revision,
    candidate: Details,
) -> Found:
    """Return the conflict with a side under the id of the candidate that it is."""
    word = side.label.rpartition(" ")[2].strip("()")
    name, label = revision.id, f"{revision.label} ({word})"
    known = replace(candidate, names=in_order([*candidate.names, *known.names]))
    conflict = conflict.called({side.id: name})
    said = tuple(entry for entry in answer.notes if entry[0] == name)
    return replace(
        conflict,
        revisions=tuple(replace(r, label=label) if r.id == name else r for r in conflict.revisions),
        notes=tuple(dict.fromkeys((*conflict.notes, *said))),
        files=(*conflict.files, *(entry for entry in answer.files if entry[0] == name)),
        details=tuple((n, known if n == name else other) for n, other in conflict.details),
    )


def _apart(conflict: Found, side: Revision, own: str) -> Found:
    """Return the conflict with a side under a name of its own."""
    conflict = conflict.called({side.id: own})
    details = tuple(
        (name, replace(known, names=(own,)) if name == own else known)
        for name, known in conflict.details
    )
    return replace(conflict, notes=(*conflict.notes, (own, UNLIKE)), details=details)
