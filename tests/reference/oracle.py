"""The two forms of the score (section 6), for texts and for ready-made tokens."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tests.reference import regions, score, streams
from tests.reference.lcs import Pairs

Document = str | Sequence[Hashable]


def document(source: Document, grammar: str | None, comments: str = "keep") -> streams.Stream:
    """Read a text or a ready-made sequence; dropping comments comes before everything else."""
    if not isinstance(source, str):
        return streams.given(source)
    text = streams.normalise(source)
    return streams.from_text(
        without_comments(text, grammar) if comments == "drop" else text, grammar
    )


def without_comments(text: str, grammar: str | None) -> str:
    """Comment nodes go, then trailing white space, then blank lines: a change of the text."""
    from excise.syntax import drop_comments
    from excise.text import strip_blank

    return strip_blank(text if grammar is None else drop_comments(text, grammar))


def excision_score(
    origin: Document,
    reference: Document,
    hypothesis: Document,
    *,
    granularity: str = "nested",
    lcs: str = "star",
    deletion: str = "precision",
    comments: str = "keep",
    grammar: str | None = None,
) -> score.Verdict:
    """Score a hypothesis by a reference: the directed form."""
    three = [document(source, grammar, comments) for source in (origin, reference, hypothesis)]
    return score.judge(*three, score.Options(granularity, lcs, deletion))


def similarity(
    origin: Document,
    a: Document,
    b: Document,
    *,
    granularity: str = "nested",
    lcs: str = "star",
    comments: str = "keep",
    grammar: str | None = None,
) -> score.Verdict:
    """Compare two revisions: the symmetric form."""
    three = [document(source, grammar, comments) for source in (origin, a, b)]
    return score.judge(*three, score.Options(granularity, lcs, "f1"))


def align(
    origin: Document,
    revision: Document,
    *,
    granularity: str = "nested",
    grammar: str | None = None,
) -> Pairs:
    """The pairs of equal units of one revision: tokens, or at ``line`` the lines with a key."""
    return regions.align(document(origin, grammar), document(revision, grammar), granularity)
