"""The findings of an analysis: messages and lines for an editor, without its types. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from excise.excision import WHITESPACE_ONLY
from excise_server.editor.analysis import MAX_PAIRS, Analysis
from excise_server.editor.wording import changers, group_words, hunk_words, listed, names_of
from excise_server.foundation.escape import printable
from excise_server.report.words import DISAGREE, between, digits, disagree, words_of

__all__ = [
    "MAX_HUNKS",
    "Findings",
    "HunkFinding",
    "find",
    "group_lines",
    "headline",
    "word_of_pair",
]

MAX_HUNKS = 200
"""Most hunks shown as diagnostics. The report has all."""

MAX_GROUPS = 20
"""Most groups listed in the message for the file."""

MAX_LISTED = 8
"""Most candidates whose pairs are all listed in the message for the file: 28 pairs."""

MAX_DATA = 100
"""Most pairs in the data of all hunks together: they are sent after every pause in typing."""

MAX_MATRIX = 100
"""Most candidates whose whole matrix is in the data of the diagnostic (10,000 numbers)."""


@dataclass(frozen=True, slots=True)
class HunkFinding:
    """One hunk: its lines (from, to; equal for a gap), its message, and its scores."""

    lines: tuple[int, int]
    message: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Findings:
    """The message for a document, and the findings of its hunks."""

    message: str
    data: dict[str, Any]
    hunks: tuple[HunkFinding, ...]


def find(analysis: Analysis, most: int = MAX_HUNKS) -> Findings | None:
    """Return the findings, with at most so many hunks, or None without revisions.

    Decided hunks have no mark, so that only the undecided ones are shown.
    """
    if not analysis.snapshot.revisions:
        return None
    names = names_of(analysis.snapshot.revisions)
    shown = [index for index, decided in enumerate(analysis.decided) if not decided][:most]
    pairs = min(MAX_PAIRS, MAX_DATA // max(len(shown), 1))
    return Findings(
        message="\n".join(
            [
                headline(analysis, names, most),
                *group_lines(analysis, names),
                *([DISAGREE] if disagree(analysis.comparison.ranking) else []),
                *_pairs(analysis, names),
            ]
        ),
        data=_data(analysis),
        hunks=tuple(
            HunkFinding(
                analysis.lines[index],
                _summary(analysis, index, names),
                _hunk_data(analysis, index, pairs),
            )
            for index in shown
        ),
    )


def _summary(analysis: Analysis, index: int, names: tuple[str, ...]) -> str:
    """Return one hunk in a line: who makes which change, and the score."""
    numbers, count = analysis.numbers[index], len(analysis.snapshot.texts)
    words = hunk_words(analysis.hunks[index], count, names)
    if numbers.mean is None:
        return words
    compared = len(numbers.compared)
    sample = f" (of the first {compared})" if compared < count else ""
    return f"{words}, ES {digits(numbers.mean.es)}{sample}"


def headline(analysis: Analysis, names: Sequence[str], most: int) -> str:
    """Return how many candidates there are in how many groups, and how much is decided."""
    hunks, decided = len(analysis.hunks), sum(analysis.decided)
    hunk_count = f"{hunks} hunk{'s' if hunks != 1 else ''}"
    if decided:
        hunk_count = f"{decided} of {hunk_count} decided"
    if hunks - decided > most:
        hunk_count += f" (the first {most} are shown)" if most else " (not shown)"
    deleting = len(analysis.snapshot.deleted)
    deletions = [f"{deleting} delete{'s' if deleting == 1 else ''} the file"] if deleting else []
    return ", ".join([changers(analysis, names), hunk_count, *deletions])


def group_lines(analysis: Analysis, names: Sequence[str]) -> list[str]:
    """Return a line for each group in order, with the facts that give its members their places."""
    comparison = analysis.comparison
    lines = []
    for index, cluster in enumerate(comparison.clusters[:MAX_GROUPS]):
        members_by_facts: dict[str, list[str]] = {}
        for ranked in comparison.ranking:
            if ranked.index in cluster.members:
                notes = (note for note in ranked.notes if note != WHITESPACE_ONLY)
                facts = ", ".join(map(printable, (*ranked.why, *notes)))
                members_by_facts.setdefault(facts, []).append(names[ranked.index])
        phrases = [
            facts if len(members_by_facts) == 1 else f"{listed(members)} ({facts})"
            for facts, members in members_by_facts.items()
            if facts
        ]
        if len(names) == 1 and not phrases:
            continue  # the first line already says it
        remarks = f": {'; '.join(phrases)}" if phrases else ""
        lines.append(f"{group_words(analysis, names, index)}{remarks}")
    if (rest := len(comparison.clusters) - MAX_GROUPS) > 0:
        lines.append(f"… and {rest} more groups")
    return lines


def _pairs(analysis: Analysis, names: tuple[str, ...]) -> list[str]:
    """Return the score and the word of every pair, or of many pairs where to find them."""
    matrix = analysis.comparison.matrix
    order = [ranked.index for ranked in analysis.comparison.ranking]
    if len(order) > MAX_LISTED:
        total = len(order) * (len(order) - 1) // 2
        where = "the data of this diagnostic" if len(order) <= MAX_MATRIX else "excise/report"
        return [f"the ES of all {total:,} pairs is in {where}"]
    return [
        f"ES {digits(float(matrix.values[a, b]))} {names[a]} / {names[b]}: "
        f"{word_of_pair(analysis, a, b, names)}"
        for a, b in combinations(order, 2)
    ]


def word_of_pair(analysis: Analysis, a: int, b: int, names: Sequence[str]) -> str:
    """Return the phrase for two revisions as whole texts, by their indices."""
    matrix = analysis.comparison.matrix
    contained = float(matrix.contained[a, b]), float(matrix.contained[b, a])
    return between(matrix.word(a, b), contained, names[a], names[b])


def _data(analysis: Analysis) -> dict[str, Any]:
    matrix = analysis.comparison.matrix
    data: dict[str, Any] = {
        "kind": "file",
        "signature": analysis.comparison.signature,
        "ids": list(matrix.ids),
        "ranking": [ranked.id for ranked in analysis.comparison.ranking],
    }
    if len(matrix.ids) <= MAX_MATRIX:
        data["similarity"] = [[round(x, 4) for x in row] for row in matrix.values.tolist()]
    if len(matrix.ids) <= MAX_LISTED:
        data["words"] = words_of(matrix)
    return data


def _hunk_data(analysis: Analysis, index: int, limit: int) -> dict[str, Any]:
    data: dict[str, Any] = {"kind": "hunk", "index": index}
    if not limit:
        return data
    matrix, numbers = analysis.comparison.matrix, analysis.numbers[index]
    pairs = [
        {
            "a": matrix.ids[p.a],
            "b": matrix.ids[p.b],
            "es": round(p.numbers.es, 4),
            "share": round(p.share, 4),
            "word": matrix.word(p.a, p.b),
        }
        for p in numbers.pairs[:limit]
    ]
    compared, diverging = len(numbers.compared), len(numbers.pairs)
    return data | {"compared": compared, "diverging": diverging, "pairs": pairs}
