"""Excision Score among the others: the paper's, the same by `star`, and placed ES."""

from __future__ import annotations

from functools import partial

from excise.evaluation.base import Item, Measure, Value
from excise.excision import excision_score
from excise.signature import GRANULARITIES, Options, head, version

_SOURCE = "Gruzinov, Sycheva, Barr, Bezzubov: Excision Score, equation 3"
_PLACED = "this project: equation 3 by place"


def _es(item: Item, granularity: str, lcs: str, deletion: str) -> Value:
    origin, references, hypothesis = item.texts
    score = excision_score(
        origin=origin,
        reference=list(references),
        hypothesis=hypothesis,
        granularity=granularity,
        lcs=lcs,
        deletion=deletion,
        comments=item.comments,
        language=item.language,
        strict=False,
        path=item.path,
        timeout=item.timeout,
    )
    notes = tuple(note for note in score.notes if note not in item.notes)
    return Value(score.value, score.signature, score.reference, notes)


def directed(item: Item, *, granularity: str, lcs: str) -> Value:
    """Excision Score of the paper: directed, edits pooled over the whole text. In [0, 1].

    With ``lcs=paper``, ``line`` and ``token`` are its ES-Line and ES-Token; ``star`` is this
    project's default, and ``nested`` takes lines, then the tokens between unmatched ones.

    0/0: an order, and an operation, that is empty on both sides is dropped; nothing left is 1.
    """
    return _es(item, granularity, lcs, "precision")


def placed(item: Item, *, granularity: str, lcs: str) -> Value:
    """Placed ES, symmetric: equal edits at other places count a quarter. In [0, 1].

    0/0: as for the directed one; with nothing left the raw lines are compared.
    """
    return _es(item, granularity, lcs, "f1")


_FORMS = (
    ("es-{}", directed, _SOURCE, "paper", "pooled", "del:p"),
    ("es-{}-star", directed, _SOURCE, "star", "pooled", "del:p"),
    ("pes-{}", placed, _PLACED, "star", "anchored", "del:f1"),
)

MEASURES = tuple(
    Measure(
        name=name.format(granularity),
        score=partial(score, granularity=granularity, lcs=lcs),
        source=source,
        key=f"{head(place)}|gran:{granularity}|lcs:{lcs}|place:{place}|{deletion}|n:4"
        f"|comments:{{comments}}|v:{version(Options(granularity, place=place))}",
        needs_origin=True,
    )
    for name, score, source, lcs, place, deletion in _FORMS
    for granularity in GRANULARITIES
)
