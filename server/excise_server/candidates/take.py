"""The take of chosen parts, for the command and for the server's workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from excise_server.candidates.chosen import check_digest, chosen_batches, members_of
from excise_server.review.candidate import Candidate, review_digest
from excise_server.review.git_patch import git_patch
from excise_server.review.taking import Choice, Taken, take
from excise_server.sources.candidates import Candidates

__all__ = ["TakenFromReview", "take_from_review"]


@dataclass(frozen=True, slots=True)
class TakenFromReview:
    """The result of a take, and the review in which the parts were chosen.

    Attributes
    ----------
    origin
        The commit that the patch is for.
    digest
        The digest of the review.
    taken
        The files as they become.
    patch
        The same as a git patch.
    """

    origin: str
    digest: str
    taken: Taken
    patch: bytes


def take_from_review(
    candidates: Candidates,
    choose: Callable[[Sequence[Candidate]], Sequence[Choice]],
    *,
    batch: str = "",
    digest: str | None = None,
    anyway: bool = False,
    sha256: bool = False,
) -> TakenFromReview:
    """Put the chosen parts of some candidates together.

    Parameters
    ----------
    choose
        Returns the choices among the candidates of the review.
    batch
        The only batch that is reviewed: its number, its task or a candidate in it. Empty: all.
    digest
        The digest of the review in which the choice was made, where it is known.
    anyway
        Whether a mix that cannot work is taken all the same.
    sha256
        Whether the repository that the patch is for names its objects by SHA-256.

    Raises
    ------
    SourceError
        If no batch has that name, the review has another digest by now, or a choice cannot be made.
    BrokenMixError
        If what was chosen cannot work together.
    """
    reviewed, batches, _ = chosen_batches(candidates, batch)
    companies = [members_of(reviewed, members) for members in batches]
    if digest is not None:
        check_digest(digest, reviewed, companies)
    taken = take(companies, choose(reviewed.found), anyway=anyway)
    patch = git_patch(taken.files, sha256=sha256)
    return TakenFromReview(
        reviewed.origin, review_digest(reviewed.origin, reviewed.found), taken, patch
    )
