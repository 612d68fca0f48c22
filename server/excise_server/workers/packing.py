"""From an analysis to a message, in the worker."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from math import nan
from typing import Any

from excise import Hunk
from excise.agreement import WORDS
from excise_server.editor.analysis import Analysis
from excise_server.editor.hunk_scores import CountedPairs, HunkScores
from excise_server.editor.sites import Site
from excise_server.workers.messages import (
    ClusterFrame,
    HunkFrame,
    PairsFrame,
    RankedFrame,
    Scored,
    ScoresFrame,
    WorkFrame,
    as_bytes,
)

__all__ = ["pack"]

CROSSED, DECIDED = 1, 2


def pack(
    analysis: Analysis, number: int, work: WorkFrame, scores_number: int, *, whole: bool
) -> Scored:
    """Return the message for an analysis; ``whole``: with its scores."""
    hunks = [scores.hunk for scores in analysis.hunks]
    given = [hunk for hunk, _ in analysis.given]
    same = given == hunks
    return Scored(
        number=number,
        work=work,
        scores_number=scores_number,
        scores=_scores(analysis) if whole else None,
        sites=_spans((site.lo, site.hi) for site in analysis.sites),
        flags=memoryview(bytes(map(_flags, analysis.sites, analysis.decided))),
        given=None if same else tuple(map(_hunk, given)),
        given_sites=_spans((site.lo, site.hi) for _, site in analysis.given),
        given_flags=memoryview(bytes(_flags(site, decided=False) for _, site in analysis.given)),
    )


def _scores(analysis: Analysis) -> ScoresFrame:
    comparison, matrix = analysis.comparison, analysis.comparison.matrix
    count = range(len(matrix.ids))
    table: dict[tuple[float, ...], int] = {}
    pairs = tuple(_pairs(scores, table) for scores in analysis.hunks)
    return ScoresFrame(
        signature=as_bytes(comparison.signature),
        values=_plane(matrix.values),
        contained=_plane(matrix.contained),
        words=memoryview(bytes(WORDS.index(matrix.word(i, j)) for i in count for j in count)),
        no_ops=tuple(map(bool, matrix.no_ops)),
        notes=tuple(tuple(map(as_bytes, notes)) for notes in comparison.notes),
        ranking=tuple(
            RankedFrame(
                index=r.index,
                rank=r.rank,
                makers=r.makers,
                mean_similarity=r.mean_similarity,
                edit_size=r.edit_size,
                no_op=r.no_op,
                syntax_errors=r.syntax_errors,
                stub=r.stub,
                broken=tuple(map(as_bytes, r.broken)),
                why=tuple(map(as_bytes, r.why)),
            )
            for r in comparison.ranking
        ),
        clusters=tuple(
            ClusterFrame(c.members, c.representative, c.min_similarity) for c in comparison.clusters
        ),
        hunks=tuple(_hunk(scores.hunk) for scores in analysis.hunks),
        compared=analysis.hunks[0].compared if analysis.hunks else (),
        pairs=pairs,
        table=_bytes("d", (nan if part < 0 else part for four in table for part in four)),
    )


def _pairs(scores: HunkScores, table: dict[tuple[float, ...], int]) -> PairsFrame:
    """Return the pairs of a hunk by columns; numbers are named by their place in the table."""
    assert isinstance(scores.pairs, CountedPairs)
    entries, mean = scores.pairs.entries, scores.mean
    numbers = entries[["value", "keep", "add", "delete"]].tolist()
    return PairsFrame(
        a=memoryview(entries["first"].astype("u1").tobytes()),
        b=memoryview(entries["second"].astype("u1").tobytes()),
        numbers=_bytes("I", (table.setdefault(four, len(table)) for four in numbers)),
        shares=memoryview(entries["share"].tobytes()),
        mean=None if mean is None else (mean.es, mean.keep, mean.add, mean.delete),
        share=scores.share,
    )


def _hunk(hunk: Hunk) -> HunkFrame:
    return HunkFrame(
        hunk.lo,
        hunk.hi,
        memoryview(as_bytes(hunk.text)),
        tuple((v.members, memoryview(as_bytes(v.text))) for v in hunk.variants),
        _spans(hunk.spans),
    )


def _flags(site: Site, decided: bool) -> int:
    return CROSSED * site.crossed | DECIDED * decided


def _spans(spans: Iterable[Sequence[int]]) -> memoryview:
    return _bytes("i", chain.from_iterable(spans))


def _plane(plane: Any) -> memoryview:  # noqa: ANN401 numpy's
    return memoryview(plane.tobytes())


def _bytes(kind: str, numbers: Iterable[Any]) -> memoryview:
    return memoryview(array(kind, numbers).tobytes())
