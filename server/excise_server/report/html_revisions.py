"""Clusters of the revisions of one file as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from excise import Cluster, ScoreMatrix
from excise_server.foundation.inputs import RevisionSet
from excise_server.report.digits import digits
from excise_server.report.html_clusters import render
from excise_server.report.html_model import OWN, TWO, Block, Group, Item, Report
from excise_server.report.html_picture import picture_of
from excise_server.report.words import word_beside, words_of

__all__ = ["revisions_page"]


def revisions_page(
    matrix: ScoreMatrix,
    clusters: Sequence[Cluster],
    found: RevisionSet,
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
        Report(
            title=f"{len(matrix.ids):,} revisions of {found.name}, {len(clusters):,} to read",
            what="revisions",
            facts=facts,
            groups=[
                _group(matrix, cluster, found, line)
                for cluster, line in zip(clusters, reasons, strict=True)
            ],
            picture=picture_of(matrix.values, matrix.ids, clusters, words_of(matrix)),
            threshold=threshold,
            linkage=linkage,
            signature=matrix.signature,
            notes=[*notes, *(f"{name}: {note}" for name, note in found.notes)],
            rejected=[(rejected.id, rejected.reason) for rejected in found.rejected],
        )
    )


def _group(matrix: ScoreMatrix, cluster: Cluster, found: RevisionSet, reasons: str) -> Group:
    best = cluster.representative
    others = sorted(
        (at for at in cluster.members if at != best), key=lambda at: (-matrix.values[best, at], at)
    )
    items = [_item(matrix, found, best, at) for at in (best, *others)]
    return Group(tuple(items), cluster.min_similarity, reasons=reasons)


def _item(matrix: ScoreMatrix, found: RevisionSet, best: int, at: int) -> Item:
    said = "no change" if matrix.no_ops[at] else f"{matrix.edit_sizes[at]:,} tokens"
    about = [("edit", said), ("notes", "; ".join(matrix.notes[at]))]
    if at != best and matrix.anchored[best, at] != matrix.anywhere[best, at]:
        anchored, anywhere = (float(m[best, at]) for m in (matrix.anchored, matrix.anywhere))
        parts = f"{digits(anchored)} at the same place, {digits(anywhere)} anywhere"
        about.append(("similarity", parts))
    return Item(
        name=matrix.ids[at],
        title=found.revisions[at].label,
        about=tuple(about),
        similarity=float(matrix.values[best, at]),
        contains=None,
        blocks=partial(_blocks, matrix, best, at),
        columns=OWN if at == best else TWO,
        word="" if at == best else word_beside(matrix, best, at),
    )


def _blocks(matrix: ScoreMatrix, best: int, at: int) -> Iterator[Block]:
    """Yield the hunks where a revision does not have the representative's exact lines."""
    for hunk in matrix.hunks(sorted({best, at})):
        texts = {member: v.text for v in hunk.variants for member in v.members}
        if at != best and texts[best] == texts[at]:
            continue
        where = f"line {hunk.lo + 1:,}" + (f" to {hunk.hi:,}" if hunk.hi > hunk.lo + 1 else "")
        a, b = (_signed(hunk.text, texts[member]) for member in (best, at))
        yield Block(where, None if at == best else a, b)


def _signed(origin: str, text: str) -> list[tuple[str, str]]:
    if origin == text:
        return [(" ", line) for line in _lines(origin)]
    return [*(("-", line) for line in _lines(origin)), *(("+", line) for line in _lines(text))]


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
