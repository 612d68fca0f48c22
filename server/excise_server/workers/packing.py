"""From an analysis to a message, in the worker."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from math import nan
from typing import Any

from excise import Hunk
from excise.agreement import WORDS
from excise_server.editor.analysis import Analysis, HunkNumbers, Numbers
from excise_server.editor.places import Site
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
    given = tuple(hunk for hunk, _ in analysis.given)
    same = given == analysis.hunks
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
    numbers = analysis.numbers
    table = numbers[0].pairs.table if numbers else ()
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
        hunks=tuple(map(_hunk, analysis.hunks)),
        compared=numbers[0].compared if numbers else (),
        pairs=tuple(map(_pairs, numbers)),
        table=_bytes("d", (nan if part is None else part for n in table for part in _four(n))),
    )


def _pairs(numbers: HunkNumbers) -> PairsFrame:
    pairs, mean = numbers.pairs, numbers.mean
    return PairsFrame(
        a=pairs.a,
        b=pairs.b,
        numbers=pairs.numbers.cast("B"),
        shares=pairs.shares.cast("B"),
        mean=None if mean is None else _four(mean),
        share=numbers.share,
    )


def _four(numbers: Numbers) -> tuple[float, float | None, float | None, float | None]:
    return numbers.es, numbers.keep, numbers.add, numbers.delete


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
