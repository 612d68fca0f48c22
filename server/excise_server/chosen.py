"""Who is meant by choices of candidates, and in which review they were made."""

from __future__ import annotations

from collections.abc import Sequence

from excise_server.review.batches import Batch
from excise_server.review.candidate import Candidate
from excise_server.review.digest import review_digest
from excise_server.sources import SourceError
from excise_server.sources.candidates import Candidates
from excise_server.sources.paths import visible

__all__ = ["check_digest", "members_of"]


def members_of(candidates: Candidates, batch: Batch) -> list[Candidate]:
    """Return the candidates of a batch."""
    return [candidate for candidate in candidates.found if candidate.id in batch.members]


def check_digest(wanted: str, every: Candidates, batches: Sequence[Sequence[Candidate]]) -> None:
    """Refuse choices that were made in another review than this one, or one of its batches.

    Raises
    ------
    SourceError
        Naming both digests.
    """
    known = [review_digest(every.origin, company) for company in (every.found, *batches)]
    if wanted not in known:
        raise SourceError(
            f"the review has changed: its digest is {known[0]}, and not {visible(wanted)[:80]}",
            hint="look at it again with excise review, and choose anew",
        )
