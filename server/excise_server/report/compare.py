"""The page of ``excise compare``: every pair, the order, and groups of the revisions of a file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from msgspec import UNSET

from excise import ScoreMatrix
from excise.excision import WHITESPACE_ONLY
from excise_server.foundation.inputs import first_few
from excise_server.report.blocks import Cell, HunkOf, PageBlock, differing, left_out, notes, words
from excise_server.report.words import DISAGREE, digits, order_words, plural
from excise_server.wire import documents as d

MOST_PAIRS = 10
"""Most pairs of which a terminal has the words; JSON, Markdown and HTML have all."""


def compare_blocks(
    document: d.CompareDocument,
    *,
    most: int | None = None,
    hunk: HunkOf = lambda first, other: (),
) -> Iterator[PageBlock]:
    """Yield the page.

    - ``most``: pairs of which the words are shown, if there are so few; None: any number.
    - ``hunk``: what differs between two, for a page that shows that.
    """
    matrix, names = document.matrix, document.revisions
    assert matrix is not UNSET
    groups = [] if document.clusters is UNSET else document.clusters.groups
    count = f" in {plural(len(groups), 'group')}" if groups else ""
    yield words(f"{plural(len(names), 'revision')}{count}", "head", kind="title")
    yield PageBlock("matrix", [Cell(name) for name in names], values=matrix.similarity)
    pairs = [*combinations(range(len(names)), 2)]
    if pairs and (most is None or len(pairs) <= most):
        rows = [[Cell(name, "dim") for name in ("pair", "similarity", "")]]
        rows += [
            [Cell(f"{i + 1} and {j + 1}"), Cell(digits(matrix.similarity[i][j]), "number"),
             Cell(matrix.words[i][j])]
            for i, j in pairs
        ]  # fmt: skip
        yield PageBlock("table", rows=rows)
    if ranking := document.ranking or []:
        rows = [[Cell(name, "dim") for name in ("rank", "revision", "tokens", "why")]]
        for ranked in ranking:
            why = [*ranked.why, *(note for note in ranked.notes if note != WHITESPACE_ONLY)]
            rows.append(
                [Cell(str(ranked.rank), "number"), Cell(ranked.id, "name"),
                 Cell(str(ranked.edit_size), "number"), Cell("; ".join(why))]
            )  # fmt: skip
        yield PageBlock("table", rows=rows)
        yield words(f"order: {order_words(str(document.intent))}", "dim")
        yield from [words(DISAGREE, "dim")] * (document.disagree is True)
    index = {name: place for place, name in enumerate(names)}
    for number, group in enumerate(groups, start=1):
        best = group.representative
        head, reasons = plural(len(group.members), "revision"), reasons_text(group)
        cells = Cell(f"{head}:" if reasons else head, "head"), Cell(reasons)
        yield PageBlock("head", cells, mark=str(number))
        yield PageBlock("row", (Cell(best, "name"),), 1, "●")
        for member, word in zip(group.members, group.words, strict=True):
            if member != best:
                value = digits(matrix.similarity[index[best]][index[member]])
                yield PageBlock("fold", (Cell(member, "name"), Cell(value), Cell(word)), 2)
                yield from hunk(best, member)
    about: dict[str, list[str]] = {}
    for name, every in document.notes.items():
        for note in every:
            about.setdefault(note, []).append(name)
    yield from notes(
        f"note: {'all' if len(who) == len(names) else ', '.join(who)}: {note}"
        for note, who in about.items()
    )
    yield from left_out(document.rejected)
    yield words(document.signature, kind="scores")


def reasons_text(group: d.ClusterEntry) -> str:
    """Return the facts about a group as one line, with names where they apply only to some."""
    return "; ".join(
        reason.text
        if len(reason.members) == len(group.members)
        else f"{first_few(reason.members)}: {reason.text}"
        for reason in group.reasons
    )


def hunk_of(matrix: ScoreMatrix) -> HunkOf:
    """Return what finds the first hunk in which two revisions differ."""
    number = {name: place for place, name in enumerate(matrix.ids)}

    def hunk(first: str, other: str) -> list[PageBlock]:
        a, b = number[first], number[other]
        for found in matrix.hunks(sorted({a, b})):
            texts = {member: v.text for v in found.variants for member in v.members}
            if texts[a] == texts[b]:
                continue
            one, two = (texts[member].split("\n") for member in (a, b))
            return differing(f"line {found.lo + 1:,}", one, two)
        return []

    return hunk
