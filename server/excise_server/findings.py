"""What to tell about an analysis: messages and lines for an editor, without its types. Pure.

Ids come from outside: they are made printable here; how a message is shown is the client's affair.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

from excise.text import Revision
from excise_server.analysis import Analysis
from excise_server.report.digits import digits
from excise_server.report.escape import printable
from excise_server.report.words import between, words_of
from excise_server.standing import MAX_PAIRS, Standing

__all__ = [
    "MAX_PLACES",
    "Findings",
    "PlaceFinding",
    "find",
    "full_name",
    "name",
    "summary_of",
    "word_of_pair",
]

MAX_PLACES = 200
"""Most places shown as diagnostics; the report has all."""

MAX_RANKED = 20
"""Most revisions listed in the message for the file."""

MAX_DATA = 2000
"""About so many pairs are in the data of all places together: they are sent after every pause."""

MAX_MATRIX = 100
"""Most revisions whose whole matrix is in the data of the diagnostic (10,000 numbers)."""

_MAX_NAME = 60


@dataclass(frozen=True, slots=True)
class PlaceFinding:
    """One place: its lines (from, to; equal: a gap), what to say, and the scores behind it."""

    lines: tuple[int, int]
    message: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Findings:
    """What is shown for one document; nothing to show without revisions."""

    message: str
    data: dict[str, Any]
    places: tuple[PlaceFinding, ...]


def find(analysis: Analysis, most: int = MAX_PLACES) -> Findings | None:
    """Return what to show, of so many places at most; None without revisions."""
    if not analysis.snapshot.revisions:
        return None
    count = len(analysis.snapshot.revisions)
    shown = list(zip(analysis.standings[:most], analysis.lines, strict=False))
    pairs = min(MAX_PAIRS, max(10, MAX_DATA // max(len(shown), 1)))
    return Findings(
        message=_message(analysis, most),
        data=_data(analysis),
        places=tuple(
            PlaceFinding(
                lines, summary_of(standing, count), _place_data(analysis, at, standing, pairs)
            )
            for at, (standing, lines) in enumerate(shown)
        ),
    )


def name(identity: str) -> str:
    """Return an id for people: printable, and not longer than a line bears."""
    shown = printable(identity)
    return shown if len(shown) <= _MAX_NAME else f"{shown[: _MAX_NAME - 1]}…"


def full_name(revision: Revision) -> str:
    """Return the id, and the label where it says more."""
    if revision.label in ("", revision.id):
        return name(revision.id)
    return f"{name(revision.id)} ({name(revision.label)})"


def summary_of(standing: Standing, count: int) -> str:
    """Return one place in a line: "3 of 5 revisions agree here, 2 variants, ES 0.62".

    To agree is to have the same text.
    """
    place, variants = standing.place, len(standing.place.variants)
    if count == 1:
        return "the revision differs from the origin here"
    if place.agree > 1:
        agree = f"{place.agree} of {count} revisions agree here"
    else:
        agree = (
            f"no two of {count} revisions agree here"
            if count > 2
            else "the two revisions differ here"
        )
    parts = [
        agree,
        f"{variants} variant{'s' if variants > 1 else ''}",
    ]
    if standing.mean is not None:
        compared = len(standing.compared)
        sample = f" (of the first {compared})" if compared < count else ""
        parts.append(f"ES {digits(standing.mean.es)}{sample}")
    if place.unchanged:
        leave = "leaves" if place.unchanged == 1 else "leave"
        parts.append(f"{place.unchanged} {leave} it as it is")
    return ", ".join(parts)


def _message(analysis: Analysis, most: int) -> str:
    """Return the ranking and the pairwise scores, a line each."""
    return "\n".join([_headline(analysis, most), *_ranking(analysis), *_pairs(analysis)])


def _headline(analysis: Analysis, most: int) -> str:
    comparison, count = analysis.comparison, len(analysis.snapshot.revisions)
    places = len(analysis.standings)
    parts = [
        f"{count} revision{'s' if count > 1 else ''}",
        f"{len(comparison.clusters)} cluster{'s' if len(comparison.clusters) != 1 else ''}",
        f"{places} place{'s' if places != 1 else ''}",
    ]
    if places > most:
        parts[-1] += f" (the first {most} are shown)" if most else " (not shown)"
    if count > 1:
        agreements = [ranked.agreement or 0.0 for ranked in comparison.ranking]
        parts.append(f"mean ES {digits(sum(agreements) / count)}")
    return ", ".join(parts)


def _ranking(analysis: Analysis) -> list[str]:
    clusters = {
        member: number
        for number, cluster in enumerate(analysis.comparison.clusters, start=1)
        for member in cluster.members
    }
    lines = []
    for ranked in analysis.comparison.ranking[:MAX_RANKED]:
        parts = [f"cluster {clusters[ranked.index]}"]
        if ranked.agreement is not None:
            parts.append(f"agreement {digits(ranked.agreement)}")
        parts.append(f"edit size {ranked.edit_size}")
        parts += ["changes nothing"] if ranked.no_op else []
        parts += [printable(note) for note in ranked.notes]
        who = full_name(analysis.snapshot.revisions[ranked.index])
        lines.append(f"#{ranked.rank} {who}: {', '.join(parts)}")
    if (rest := len(analysis.comparison.ranking) - MAX_RANKED) > 0:
        lines.append(f"… and {rest} more")
    return lines


def _pairs(analysis: Analysis) -> list[str]:
    """Return the score and the word of every pair, best ranked first, up to the limit."""
    matrix = analysis.comparison.matrix
    order = [ranked.index for ranked in analysis.comparison.ranking]
    lines = [
        f"ES {digits(float(matrix.values[a, b]))} {name(matrix.ids[a])} / {name(matrix.ids[b])}: "
        f"{word_of_pair(analysis, a, b)}"
        for a, b in islice(combinations(order, 2), MAX_PAIRS)
    ]
    total = len(order) * (len(order) - 1) // 2
    if total > MAX_PAIRS:
        lines.append(f"… and {total - MAX_PAIRS} more pairs: excise/report has all")
    return lines


def word_of_pair(analysis: Analysis, a: int, b: int) -> str:
    """Return what is said of two revisions as whole texts, by their indices."""
    matrix = analysis.comparison.matrix
    contained = float(matrix.contained[a, b]), float(matrix.contained[b, a])
    return between(matrix.word(a, b), contained, name(matrix.ids[a]), name(matrix.ids[b]))


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
        data["words"] = words_of(matrix)
    return data


def _place_data(analysis: Analysis, index: int, standing: Standing, limit: int) -> dict[str, Any]:
    matrix = analysis.comparison.matrix
    pairs = [
        {
            "a": matrix.ids[p.a],
            "b": matrix.ids[p.b],
            "es": round(p.numbers.es, 4),
            "share": round(p.share, 4),
            "word": matrix.word(p.a, p.b),
        }
        for p in standing.pairs[:limit]
    ]
    return {
        "kind": "place",
        "index": index,
        "compared": len(standing.compared),
        "diverging": len(standing.pairs),
        "pairs": pairs,
    }
