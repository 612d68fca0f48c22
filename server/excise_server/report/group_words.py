"""Facts that distinguish groups, one line each: for tables, pages and programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import first_few
from excise_server.report.shapes import ReasonEntry
from excise_server.review.reasons import Reason

if TYPE_CHECKING:
    from excise_server.candidates.worktrees import Worktrees
    from excise_server.review.ranked import RankedBatch

__all__ = ["group_lines", "reason_entries", "reasons_text"]


def reason_entries(reasons: Sequence[Reason]) -> list[ReasonEntry]:
    """Return the facts about a group as a document has them."""
    return [ReasonEntry(kind=r.kind, text=visible(r.text), members=list(r.ids)) for r in reasons]


def reasons_text(
    reasons: Sequence[ReasonEntry], members: Sequence[str], labels: Mapping[str, str]
) -> str:
    """Return the facts about a group as one line, with names where they apply only to some."""
    return "; ".join(
        reason.text
        if len(reason.members) == len(members)
        else f"{first_few([labels[name] for name in reason.members])}: {reason.text}"
        for reason in reasons
    )


def group_lines(
    worktrees: Worktrees, index: int, batch: RankedBatch, first: int
) -> Iterator[tuple[int, int, str]]:
    """Yield number, size and line of facts of each group that has any.

    Parameters
    ----------
    index
        The index of the batch.
    first
        The number of its first group.
    """
    ids = [candidate.id for candidate in worktrees.candidates.found]
    labels = {c.id: visible(c.label) for c in worktrees.candidates.found}
    groups = zip(batch.clusters, worktrees.reasons[index], strict=True)
    for number, (cluster, reasons) in enumerate(groups, start=first):
        members = [ids[i] for i in cluster.members]
        if text := reasons_text(reason_entries(reasons), members, labels):
            yield number, len(members), text
