"""The two forms of the score (section 6), for texts and for ready-made tokens."""

from collections.abc import Hashable, Sequence

from tests.reference import regions, score, streams
from tests.reference.lcs import Pairs

Document = str | Sequence[Hashable]
LinesOfThree = tuple[Sequence[int], Sequence[int], Sequence[int]]


def document(
    source: Document,
    grammar: str | None,
    comments: str = "keep",
    lines: Sequence[int] | None = None,
) -> streams.Stream:
    """Read a text or a ready-made sequence; dropping comments comes before everything else."""
    if not isinstance(source, str):
        return streams.given(source, lines)
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
    place: str = "pooled",
    comments: str = "keep",
    grammar: str | None = None,
    lines: LinesOfThree | None = None,
) -> score.Verdict:
    """Score a hypothesis by a reference: the directed form."""
    sources = zip((origin, reference, hypothesis), lines or (None, None, None), strict=True)
    three = [document(source, grammar, comments, rows) for source, rows in sources]
    return score.judge(*three, score.Options(granularity, lcs, deletion, place))


def similarity(
    origin: Document,
    a: Document,
    b: Document,
    *,
    granularity: str = "nested",
    lcs: str = "star",
    place: str = "anchored",
    comments: str = "keep",
    grammar: str | None = None,
    lines: LinesOfThree | None = None,
) -> score.Verdict:
    """Compare two revisions: the symmetric form."""
    return excision_score(
        origin,
        a,
        b,
        granularity=granularity,
        lcs=lcs,
        deletion="f1",
        place=place,
        comments=comments,
        grammar=grammar,
        lines=lines,
    )


def align(
    origin: Document,
    revision: Document,
    *,
    granularity: str = "nested",
    grammar: str | None = None,
) -> Pairs:
    """The pairs of equal units of one revision: tokens, or at ``line`` the lines with a key."""
    return regions.align(document(origin, grammar), document(revision, grammar), granularity)
