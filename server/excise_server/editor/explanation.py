"""One hunk, or the whole file, explained: text, tables and code, without any markup. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from excise import Variant
from excise.agreement import CONTAINS, DIFFERENT, OVERLAPS, WORDS
from excise_server.editor.analysis import Analysis
from excise_server.editor.findings import full_name, name, summary_of, word_of_pair
from excise_server.editor.hunk_scores import MAX_PAIRS, HunkScores, Numbers
from excise_server.report.digits import digits
from excise_server.report.escape import printable
from excise_server.report.order_words import order_words, said_of

__all__ = ["Block", "Code", "Line", "Table", "explain_file", "explain_hunk"]

MAX_VARIANTS = 10
MAX_NAMES = 12
MAX_CODE_LINES = 30
MAX_CODE_WIDTH = 200
MAX_ROWS = 45
MAX_COLUMNS = 12


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table; all rows have as many cells as the head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Source text of a language (may be empty); already printable, line by line."""

    lines: tuple[str, ...]
    language: str


Block = Line | Table | Code


def explain_hunk(analysis: Analysis, index: int) -> list[Block]:
    """Explain one hunk: the code of each variant under who has it, and last the figures."""
    scores = analysis.hunks[index]
    ids = analysis.comparison.matrix.ids
    title = f"Hunk {index + 1} of {len(analysis.hunks)}: "
    blocks: list[Block] = [Line(title + summary_of(scores, len(analysis.snapshot.texts)))]
    for number, variant in enumerate(scores.hunk.variants[:MAX_VARIANTS], start=1):
        blocks += _variant(analysis, scores, f"Variant {number} ({_names(variant, ids)})", variant)
    if (rest := len(scores.hunk.variants) - MAX_VARIANTS) > 0:
        blocks.append(Line(f"… and {rest} more variants: excise/report has all"))
    if scores.mean is not None:
        blocks.append(Line(f"{scores.share:.0%} of all that diverges between two revisions"))
        blocks.append(_variant_table(scores, ids))
    if scores.pairs:
        blocks += _pair_table(analysis, scores)
    return [*blocks, *_without_divergence(scores)]


def explain_file(analysis: Analysis) -> list[Block]:
    """Explain the file: the ranking and the matrix of pairwise scores."""
    comparison = analysis.comparison
    ranking = comparison.ranking[:MAX_ROWS]
    rows = tuple(
        (
            f"{ranked.rank}",
            full_name(analysis.snapshot.revisions[ranked.index]),
            digits(ranked.agreement),
            f"{ranked.edit_size}",
            f"{ranked.score:.2f}",
            ", ".join([*(["changes nothing"] * ranked.no_op), *said_of(ranked), *ranked.notes]),
        )
        for ranked in ranking
    )
    blocks: list[Block] = [
        Line(f"Agreement of {len(comparison.ranking)} revisions (ES, from 0 to 1)"),
        Table(("rank", "revision", "agreement", "tokens", "score", "notes"), rows),
    ]
    if (rest := len(comparison.ranking) - MAX_ROWS) > 0:
        blocks.append(Line(f"… and {rest} more: excise/report has all"))
    if len(ranking) > 1:
        blocks.append(Line(f"Order: {order_words(ranking)}"))
        blocks += _matrix(analysis)
    return [*blocks, Line(comparison.signature)]


def _matrix(analysis: Analysis) -> list[Block]:
    """Return the scores of all pairs, in rank order, up to the columns that can be read."""
    matrix = analysis.comparison.matrix
    order = [ranked.index for ranked in analysis.comparison.ranking][:MAX_COLUMNS]
    rows = tuple(
        (name(matrix.ids[a]), *(digits(float(matrix.values[a, b])) for b in order)) for a in order
    )
    blocks: list[Block] = [Table(("ES", *(name(matrix.ids[b]) for b in order)), rows)]
    if len(matrix.ids) > MAX_COLUMNS:
        blocks.append(Line(f"the first {MAX_COLUMNS} of {len(matrix.ids)}: excise/report has all"))
    return [*blocks, *_words(analysis, order)]


def _words(analysis: Analysis, order: Sequence[int]) -> list[Block]:
    """Return a line for each word that says more than the number, with the pairs it is said of."""
    matrix = analysis.comparison.matrix
    pairs: dict[str, list[str]] = {word: [] for word in WORDS if word not in (OVERLAPS, DIFFERENT)}
    for a, b in combinations(order, 2):
        if (word := matrix.word(a, b)) == CONTAINS:
            pairs[word].append(word_of_pair(analysis, a, b))
        elif word in pairs:
            pairs[word].append(f"{name(matrix.ids[a])} / {name(matrix.ids[b])}")
    blocks: list[Block] = []
    for word, said in pairs.items():
        more = [f"and {len(said) - MAX_NAMES} more"] if len(said) > MAX_NAMES else []
        if said:
            head = "" if word == CONTAINS else f"{word}: "
            blocks.append(Line(f"{head}{', '.join([*said[:MAX_NAMES], *more])}"))
    return blocks


def _variant_table(scores: HunkScores, ids: Sequence[str]) -> Table:
    head = ("variant", "revisions", "ES", "keep", "add", "delete")
    rows = []
    for number, variant in enumerate(scores.hunk.variants[:MAX_VARIANTS], start=1):
        mean = scores.mean_of(variant.members)
        rows.append((f"{number}", _names(variant, ids), *_cells(mean)))
    return Table(head, tuple(rows))


def _pair_table(analysis: Analysis, scores: HunkScores) -> list[Block]:
    """Return the pairs that diverge here, best ranked first, up to the limit.

    The numbers are those of this hunk, the word is that of the whole revisions.
    """
    ids = analysis.comparison.matrix.ids
    head = ("revision", "revision", "ES", "keep", "add", "delete", "share", "in the whole file")
    rows = tuple(
        (
            name(ids[p.a]),
            name(ids[p.b]),
            *_cells(p.numbers),
            f"{p.share:.0%}",
            word_of_pair(analysis, p.a, p.b),
        )
        for p in scores.pairs[:MAX_PAIRS]
    )
    blocks: list[Block] = [Table(head, rows)]
    if (rest := len(scores.pairs) - len(rows)) > 0:
        blocks.append(Line(f"… and {rest} more pairs that diverge here"))
    return blocks


def _without_divergence(scores: HunkScores) -> list[Block]:
    """Return how many pairs have equal text here, and how many differ without diverging tokens."""
    if not scores.pairs:
        return []
    compared, diverging = set(scores.compared), {(p.a, p.b) for p in scores.pairs}
    variant_of = {
        member: number
        for number, variant in enumerate(scores.hunk.variants)
        for member in compared.intersection(variant.members)
    }
    others = [pair for pair in combinations(scores.compared, 2) if pair not in diverging]
    equal = sum(variant_of[a] == variant_of[b] for a, b in others)
    lines = (
        ("pairs with the same text here", equal),
        ("pairs whose text differs here without a divergent region", len(others) - equal),
    )
    return [Line(f"{said}: {number}") for said, number in lines if number]


def _variant(analysis: Analysis, scores: HunkScores, who: str, variant: Variant) -> list[Block]:
    """Return the exact text of a variant under who has it, cut to what a hover can hold."""
    if variant.text == scores.hunk.text:
        return [Line(f"{who}: the origin's text")]
    if not variant.text:
        return [Line(f"{who}: these lines are deleted")]
    lines = variant.text.removesuffix("\n").split("\n")
    shown = [_source(line) for line in lines[:MAX_CODE_LINES]]
    blocks: list[Block] = [Line(f"{who}:"), Code(tuple(shown), _language(analysis))]
    if len(lines) > MAX_CODE_LINES:
        blocks.append(Line(f"… and {len(lines) - MAX_CODE_LINES} more lines"))
    return blocks


def _source(line: str) -> str:
    """Return a line of source in printable characters; indentation stays."""
    shown = "\t".join(printable(part) for part in line.split("\t"))
    return shown if len(shown) <= MAX_CODE_WIDTH else f"{shown[:MAX_CODE_WIDTH]}…"


def _language(analysis: Analysis) -> str:
    """Return a word for the highlighter, if the client's language id is one."""
    language = analysis.snapshot.language or ""
    return language if language.isascii() and language.replace("-", "").isalnum() else ""


def _names(variant: Variant, ids: Sequence[str]) -> str:
    names = [name(ids[member]) for member in variant.members[:MAX_NAMES]]
    rest = len(variant.members) - MAX_NAMES
    return ", ".join([*names, f"and {rest} more"] if rest > 0 else names)


def _cells(numbers: Numbers | None) -> tuple[str, ...]:
    if numbers is None:
        return ("–",) * 4
    return tuple(digits(x) for x in (numbers.es, numbers.keep, numbers.add, numbers.delete))
