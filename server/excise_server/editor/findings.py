"""What to tell about an analysis: messages and lines for an editor, without its types. Pure.

Ids come from outside: they are made printable here; how a message is shown is the client's affair.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

from excise.text import Revision
from excise_server.editor.analysis import Analysis
from excise_server.editor.hunk_scores import MAX_PAIRS, HunkScores
from excise_server.report.digits import digits
from excise_server.report.escape import printable
from excise_server.report.order_words import said_of
from excise_server.report.words import between, words_of

__all__ = [
    "MAX_HUNKS",
    "Findings",
    "HunkFinding",
    "find",
    "full_name",
    "name",
    "summary_of",
    "word_of_pair",
]

MAX_HUNKS = 200
"""Most hunks shown as diagnostics; the report has all."""

MAX_RANKED = 20
"""Most revisions listed in the message for the file."""

MAX_DATA = 2000
"""About so many pairs are in the data of all hunks together: they are sent after every pause."""

MAX_MATRIX = 100
"""Most revisions whose whole matrix is in the data of the diagnostic (10,000 numbers)."""

_MAX_NAME = 60


@dataclass(frozen=True, slots=True)
class HunkFinding:
    """One hunk: its lines (from, to; equal: a gap), what to say, and the scores behind it."""

    lines: tuple[int, int]
    message: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Findings:
    """What is shown for one document; nothing to show without revisions."""

    message: str
    data: dict[str, Any]
    hunks: tuple[HunkFinding, ...]


def find(analysis: Analysis, most: int = MAX_HUNKS) -> Findings | None:
    """Return what to show, of so many hunks at most; None without revisions.

    A hunk that was decided carries no mark: what is left to look at is what is shown.
    """
    if not analysis.snapshot.revisions:
        return None
    count = len(analysis.snapshot.texts)
    shown = [at for at, decided in enumerate(analysis.decided) if not decided][:most]
    pairs = min(MAX_PAIRS, max(10, MAX_DATA // max(len(shown), 1)))
    return Findings(
        message=_message(analysis, most),
        data=_data(analysis),
        hunks=tuple(
            HunkFinding(
                analysis.lines[at],
                summary_of(analysis.hunks[at], count),
                _hunk_data(analysis, at, analysis.hunks[at], pairs),
            )
            for at in shown
        ),
    )


def name(identity: str) -> str:
    """Return an id for people: printable, and not longer than a line bears.

    A longer one is cut in the middle, and has a few digits of its own there: ids of a thousand
    characters that differ in one would else look alike.
    """
    shown = printable(identity)
    if len(shown) <= _MAX_NAME:
        return shown
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    half = (_MAX_NAME - len(digest)) // 2 - 1
    return f"{shown[:half]}…{digest}…{shown[-half:]}"


def full_name(revision: Revision) -> str:
    """Return the id, and the label where it says more."""
    if revision.label in ("", revision.id):
        return name(revision.id)
    return f"{name(revision.id)} ({name(revision.label)})"


def summary_of(scores: HunkScores, count: int) -> str:
    """Return one hunk in a line: "3 of 5 revisions agree here, 2 variants, ES 0.62".

    To agree is to have the same text.
    """
    hunk, variants = scores.hunk, len(scores.hunk.variants)
    if count == 1:
        return "the revision differs from the origin here"
    if hunk.agree > 1:
        agree = f"{hunk.agree} of {count} revisions agree here"
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
    if scores.mean is not None:
        compared = len(scores.compared)
        sample = f" (of the first {compared})" if compared < count else ""
        parts.append(f"ES {digits(scores.mean.es)}{sample}")
    if hunk.unchanged:
        leave = "leaves" if hunk.unchanged == 1 else "leave"
        parts.append(f"{hunk.unchanged} {leave} it as it is")
    return ", ".join(parts)


def _message(analysis: Analysis, most: int) -> str:
    """Return the ranking and the pairwise scores, a line each."""
    return "\n".join([_headline(analysis, most), *_ranking(analysis), *_pairs(analysis)])


def _headline(analysis: Analysis, most: int) -> str:
    comparison, count = analysis.comparison, len(analysis.snapshot.revisions)
    hunks, decided = len(analysis.hunks), sum(analysis.decided)
    parts = [
        f"{count} revision{'s' if count > 1 else ''}",
        f"{len(comparison.clusters)} cluster{'s' if len(comparison.clusters) != 1 else ''}",
        f"{hunks} hunk{'s' if hunks != 1 else ''}",
    ]
    if decided:
        parts[-1] = f"{decided} of {parts[-1]} decided"
    if hunks - decided > most:
        parts[-1] += f" (the first {most} are shown)" if most else " (not shown)"
    if deleting := len(analysis.snapshot.deleted):
        parts.append(f"{deleting} delete{'s' if deleting == 1 else ''} the file")
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
        parts.append(f"edit size {ranked.edit_size}, score {ranked.score:.2f}")
        parts += ["changes nothing"] if ranked.no_op else []
        parts += map(printable, said_of(ranked))
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


def _hunk_data(analysis: Analysis, index: int, scores: HunkScores, limit: int) -> dict[str, Any]:
    matrix = analysis.comparison.matrix
    pairs = [
        {
            "a": matrix.ids[p.a],
            "b": matrix.ids[p.b],
            "es": round(p.numbers.es, 4),
            "share": round(p.share, 4),
            "word": matrix.word(p.a, p.b),
        }
        for p in scores.pairs[:limit]
    ]
    return {
        "kind": "hunk",
        "index": index,
        "compared": len(scores.compared),
        "diverging": len(scores.pairs),
        "pairs": pairs,
    }
