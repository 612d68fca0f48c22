"""Excision Score as a measure among the others: directed, as in the paper, and anchored."""

from __future__ import annotations

from functools import partial

from excise.evaluation.base import Item, Measure, Value
from excise.excision import excision_score
from excise.signature import GRANULARITIES, Options, version

_SOURCE = "Gruzinov, Sycheva, Barr, Bezzubov: Excision Score, equation 3"


def _es(item: Item, granularity: str, deletion: str) -> Value:
    origin, references, hypothesis = item.texts
    score = excision_score(
        origin=origin,
        reference=list(references),
        hypothesis=hypothesis,
        granularity=granularity,
        deletion=deletion,
        comments=item.comments,
        language=item.language,
        strict=False,
        path=item.path,
        timeout=item.timeout,
    )
    notes = tuple(note for note in score.notes if note not in item.notes)
    return Value(score.value, score.signature, score.reference, notes)


def directed(item: Item, *, granularity: str) -> Value:
    """Excision Score of the paper: directed, edits pooled over the whole text. In [0, 1].

    ``line`` and ``token`` are its ES-Line and ES-Token; ``nested`` takes lines, then the tokens
    between unmatched ones.

    0/0: an order, and an operation, that is empty on both sides is dropped; nothing left is 1.
    """
    return _es(item, granularity, "precision")


def anchored(item: Item, *, granularity: str) -> Value:
    """Excision Score, symmetric: equal edits at other places count a quarter. In [0, 1].

    0/0: as for the directed one; with nothing left the raw lines are compared.
    """
    return _es(item, granularity, "f1")


_FORMS = (
    ("es-{}", directed, "pooled", "place:pooled|del:p"),
    ("es-{}-anchored", anchored, "anchored", "place:anchored|del:f1"),
)

MEASURES = tuple(
    Measure(
        name=name.format(granularity),
        score=partial(score, granularity=granularity),
        source=_SOURCE,
        key=f"es|gran:{granularity}|lcs:star|{form}|n:4|comments:{{comments}}"
        f"|v:{version(Options(granularity, place=place))}",
        needs_origin=True,
    )
    for name, score, place, form in _FORMS
    for granularity in GRANULARITIES
)
