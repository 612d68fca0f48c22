"""Clusters of the revisions of one file as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from excise import Cluster, ScoreMatrix
from excise_server.foundation.inputs import RevisionSet
from excise_server.report.html_clusters import (
    OWN,
    TWO,
    Block,
    Group,
    Item,
    in_order,
    picture_of,
    render,
)
from excise_server.report.words import digits, word_beside, words_of

__all__ = ["revisions_page"]


def revisions_page(
    matrix: ScoreMatrix,
    clusters: Sequence[Cluster],
    revision_set: RevisionSet,
    reasons: Sequence[str],
    *,
    threshold: float,
    linkage: str,
) -> str:
    """Return the page of grouped revisions."""
    notes = [f"{name}: {note}" for name, all_notes in zip(matrix.ids, matrix.notes, strict=True)
             for note in all_notes]  # fmt: skip
    facts = (
        ("revisions", f"{len(matrix.ids):,}"),
        ("clusters", f"{sum(len(c.members) > 1 for c in clusters):,}"),
        ("alone", f"{sum(len(c.members) == 1 for c in clusters):,}"),
        ("no change", f"{sum(matrix.no_ops):,}"),
    )
    return render(
        title=f"{len(matrix.ids):,} revisions of {revision_set.name}, {len(clusters):,} to read",
        what="revisions",
        facts=facts,
        groups=[
            Group(
                tuple(
                    _item(matrix, revision_set, best, member)
                    for member in in_order(cluster, matrix.values[best].__getitem__)
                ),
                cluster.min_similarity,
                reasons=line,
            )
            for cluster, line in zip(clusters, reasons, strict=True)
            for best in (cluster.representative,)
        ],
        picture=picture_of(matrix.values, matrix.ids, clusters, words_of(matrix)),
        threshold=threshold,
        linkage=linkage,
        signature=matrix.signature,
        notes=[*notes, *(f"{name}: {note}" for name, note in revision_set.notes)],
        rejected=[(rejected.id, rejected.reason) for rejected in revision_set.rejected],
    )


def _item(matrix: ScoreMatrix, revision_set: RevisionSet, best: int, index: int) -> Item:
    edit = "no change" if matrix.no_ops[index] else f"{matrix.edit_sizes[index]:,} tokens"
    about = [("edit", edit), ("notes", "; ".join(matrix.notes[index]))]
    if index != best and matrix.anchored[best, index] != matrix.anywhere[best, index]:
        anchored, anywhere = (float(m[best, index]) for m in (matrix.anchored, matrix.anywhere))
        parts = f"{digits(anchored)} at the same place, {digits(anywhere)} anywhere"
        about.append(("similarity", parts))
    return Item(
        name=matrix.ids[index],
        title=revision_set.revisions[index].label,
        about=tuple(about),
        similarity=float(matrix.values[best, index]),
        contains=None,
        blocks=partial(_blocks, matrix, best, index),
        columns=OWN if index == best else TWO,
        word="" if index == best else word_beside(matrix, best, index),
    )


def _blocks(matrix: ScoreMatrix, best: int, index: int) -> Iterator[Block]:
    """Yield the hunks where a revision does not have the representative's exact lines."""
    for hunk in matrix.hunks(sorted({best, index})):
        texts = {member: v.text for v in hunk.variants for member in v.members}
        if index != best and texts[best] == texts[index]:
            continue
        where = f"line {hunk.lo + 1:,}" + (f" to {hunk.hi:,}" if hunk.hi > hunk.lo + 1 else "")
        a, b = (_signed(hunk.text, texts[member]) for member in (best, index))
        yield Block(where, None if index == best else a, b)


def _signed(origin: str, text: str) -> list[tuple[str, str]]:
    if origin == text:
        return [(" ", line) for line in _lines(origin)]
    return [*(("-", line) for line in _lines(origin)), *(("+", line) for line in _lines(text))]


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
