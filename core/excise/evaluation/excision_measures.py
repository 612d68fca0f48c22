"""Excision Score as a measure beside the others: directed, as the paper has it."""

from __future__ import annotations

from excise.evaluation.base import Item, Measure, Resources, Result
from excise.excision import excision_score

__all__ = ["MEASURES"]

_SOURCE = "Gruzinov, Sycheva, Barr, Bezzubov: Excision Score, equation 3"


def _es(item: Item, granularity: str) -> Result:
    origin, references, hypothesis = item.texts
    score = excision_score(
        origin=origin,
        reference=list(references),
        hypothesis=hypothesis,
        granularity=granularity,
        comments=item.comments,
        language=item.language,
        path=item.path,
    )
    notes = tuple(note for note in score.notes if note not in item.notes)
    return Result(score.value, score.reference, notes, score.signature)


def es_nested(item: Item, _resources: Resources) -> Result:
    """Excision Score at ``nested``: lines, then tokens between unmatched ones. In [0, 1].

    0/0: an order, and an operation, that is empty on both sides is dropped; nothing left is 1.
    """
    return _es(item, "nested")


def es_line(item: Item, _resources: Resources) -> Result:
    """Excision Score at ``line`` (ES-Line of the paper). In [0, 1]; 0/0 as for `es_nested`."""
    return _es(item, "line")


def es_token(item: Item, _resources: Resources) -> Result:
    """Excision Score at ``token`` (ES-Token of the paper). In [0, 1]; 0/0 as for `es_nested`."""
    return _es(item, "token")


MEASURES = tuple(
    Measure(
        name=name,
        score=score,
        source=_SOURCE,
        key=f"es|gran:{granularity}|lcs:star|del:p|n:4|comments:{{comments}}|v:1",
        needs_origin=True,
    )
    for name, score, granularity in (
        ("es-nested", es_nested, "nested"),
        ("es-line", es_line, "line"),
        ("es-token", es_token, "token"),
    )
)
