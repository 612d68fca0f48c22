"""Explanations of one hunk or the whole file: code, text and tables, without markup. Pure.

The variants' code comes first, below the names of its candidates. A few figures come last; the
report has all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from excise import Hunk, Variant
from excise.agreement import CONTAINS, DIFFERENT, OVERLAPS, WORDS
from excise_server.editor.analysis import Analysis, HunkNumbers
from excise_server.editor.findings import MAX_HUNKS, group_lines, headline, word_of_pair
from excise_server.editor.wording import (
    code_language,
    hunk_words,
    listed,
    names_of,
    share_of,
    without_code,
)
from excise_server.foundation.escape import printable
from excise_server.report.words import DISAGREE, digits, disagree, order_words

__all__ = ["Block", "Code", "Line", "Table", "explain_file", "explain_hunk"]

MAX_VARIANTS = 10
MAX_NAMES = 12
MAX_CODE_LINES = 30
MAX_CODE_WIDTH = 200
MAX_COLUMNS = 4
"""Most candidates whose scores are shown as a table, which takes one line for each."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows all have as many cells as the head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Printable lines of source text, and their language (may be empty)."""

    lines: tuple[str, ...]
    language: str


Block = Line | Table | Code


def explain_hunk(analysis: Analysis, index: int) -> list[Block]:
    """Explain one hunk: the code of each variant below its candidates, then the figures."""
    hunk, names = analysis.hunks[index], names_of(analysis.snapshot.revisions)
    count = len(analysis.snapshot.texts)
    blocks: list[Block] = []
    for variant in sorted(hunk.variants[:MAX_VARIANTS], key=lambda v: v.text == hunk.text):
        blocks += _variant(analysis, hunk, variant, names)
    if (rest := len(hunk.variants) - MAX_VARIANTS) > 0:
        blocks.append(Line(f"… and {rest} more variants: excise/report has all"))
    where = f"hunk {index + 1} of {len(analysis.hunks)}"
    blocks.append(Line(f"{hunk_words(hunk, count, names)} ({where})"))
    return [*blocks, *map(Line, _figures(analysis.numbers[index], names))]


def _figures(numbers: HunkNumbers, names: Sequence[str]) -> list[str]:
    """Return the scores of a hunk in two lines."""
    mean, pairs = numbers.mean, numbers.pairs
    if mean is None:
        return []
    total = len(numbers.compared) * (len(numbers.compared) - 1) // 2
    lines = [f"ES {digits(mean.es)}"]
    if total > 1:
        lines = [f"mean ES {digits(mean.es)}, {len(pairs)} of {total} pairs diverge here"]
    if len(pairs) > 1:
        ends = [pick(pairs, key=lambda pair: pair.numbers.es) for pick in (min, max)]
        shown = [f"{digits(pair.numbers.es)} ({names[pair.a]} / {names[pair.b]})" for pair in ends]
        if ends[0].numbers.es != ends[1].numbers.es:
            lines[0] += f": {' to '.join(shown)}"
    operations = ("keep", mean.keep), ("add", mean.add), ("delete", mean.delete)
    parts = [f"{word} {digits(x)}" for word, x in operations if x is not None]
    return [*lines, ", ".join([*parts, f"{numbers.share:.0%} of all that diverges is here"])]


def explain_file(analysis: Analysis) -> list[Block]:
    """Explain the file: its groups, the words of its pairs, their order, and the scores."""
    comparison, names = analysis.comparison, names_of(analysis.snapshot.revisions)
    order = [ranked.index for ranked in comparison.ranking]
    blocks: list[Block] = [Line(headline(analysis, names, MAX_HUNKS))]
    blocks += map(Line, group_lines(analysis, names))
    if len(order) > 1:
        blocks += _words(analysis, order, names)
        blocks.append(Line(f"Best first: {listed((names[index] for index in order), MAX_NAMES)}"))
        blocks.append(Line(f"Order: {order_words(analysis.snapshot.intent)}"))
        blocks += [Line(DISAGREE)] * disagree(comparison.ranking)
        blocks.append(_scores(analysis, order, names))
    return [*blocks, Line(comparison.signature)]


def _scores(analysis: Analysis, order: Sequence[int], names: Sequence[str]) -> Block:
    """Return the scores of all pairs, or only their range if there are many."""
    matrix = analysis.comparison.matrix
    if len(order) <= MAX_COLUMNS:
        rows = tuple(
            (names[a], *(digits(float(matrix.values[a, b])) for b in order)) for a in order
        )
        return Table(("ES", *(names[b] for b in order)), rows)
    values = sorted(float(matrix.values[a, b]) for a, b in combinations(order, 2))
    mean = sum(values) / len(values)
    return Line(
        f"ES of {len(values):,} pairs: {digits(values[0])} to {digits(values[-1])}, "
        f"mean {digits(mean)}; the diagnostic of the first line has all"
    )


def _words(analysis: Analysis, order: Sequence[int], names: Sequence[str]) -> list[Block]:
    """Return a line for each word that says more than the number, with its pairs."""
    matrix = analysis.comparison.matrix
    pairs: dict[str, list[str]] = {word: [] for word in WORDS if word not in (OVERLAPS, DIFFERENT)}
    for a, b in combinations(order, 2):
        if (word := matrix.word(a, b)) == CONTAINS:
            pairs[word].append(word_of_pair(analysis, a, b, names))
        elif word in pairs:
            pairs[word].append(f"{names[a]} / {names[b]}")
    return [
        Line(f"{'' if word == CONTAINS else f'{word}: '}{listed(phrases, MAX_NAMES)}")
        for word, phrases in pairs.items()
        if phrases
    ]


def _variant(analysis: Analysis, hunk: Hunk, variant: Variant, names: Sequence[str]) -> list[Block]:
    """Return the exact text of a variant below its candidates, cut to the size of a hover."""
    who = listed((names[member] for member in variant.members), MAX_NAMES)
    if (count := len(analysis.snapshot.texts)) > 1:
        who = f"{who} ({share_of(variant.members, count)})"
    if (words := without_code(hunk, variant)) is not None:
        return [Line(f"{who} {words}")]
    lines = variant.text.removesuffix("\n").split("\n")
    shown = [_source(line) for line in lines[:MAX_CODE_LINES]]
    blocks: list[Block] = [Line(f"{who}:"), Code(tuple(shown), code_language(analysis))]
    if len(lines) > MAX_CODE_LINES:
        blocks.append(Line(f"… and {len(lines) - MAX_CODE_LINES} more lines"))
    return blocks


def _source(line: str) -> str:
    """Return a line of source in printable characters; indentation stays."""
    shown = "\t".join(printable(part) for part in line.split("\t"))
    return shown if len(shown) <= MAX_CODE_WIDTH else f"{shown[:MAX_CODE_WIDTH]}…"
