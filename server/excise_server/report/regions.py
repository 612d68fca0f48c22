"""Divergent regions: their exact text, the operations there, and their places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import excise
from excise import DivergentRegion, EditCounts, Score
from excise.excision import excision
from excise_server.report.blocks import Cell, PageBlock, ShownLine, notes, words
from excise_server.report.words import SHARE_ELSEWHERE, digits, level_words, plural

MAX_TEXT = 4_000
"""Most characters of a segment that are shown. --format json has all of them."""

CONTEXT = 120
"""Characters that are shown before and after a segment, on its lines."""

MAX_TOKENS = 40
"""Tokens of one side that are listed."""

_INDENTS = {"\nINDENT": "<indent>", "\nDEDENT": "<dedent>"}


@dataclass(frozen=True, slots=True)
class ColumnTitles:
    """The titles of the three columns, and the texts behind them.

    ``texts`` are normalised, or "" if the score was computed from other texts (without comments):
    then only the segments themselves are shown, without the lines around them.
    """

    columns: tuple[str, str, str]
    texts: tuple[str, str, str] | None = None
    deletion: str = "f1"


def pair_blocks(
    score: Score,
    names: ColumnTitles,
    ids: Sequence[str],
    title: str,
    remarks: Sequence[str],
) -> Iterator[PageBlock]:
    """Yield the score under its title, which revision each column is, and its regions.

    There is one part for each divergent region, place by place, then what matches elsewhere.
    """
    yield words(f"{title} {digits(score.value)}", "head", kind="title")
    for column, name in zip(names.columns, ids, strict=True):
        yield PageBlock("text", (Cell(column, "dim"), Cell(name, "name")), 1, gutter=_GUTTER)
    yield from _summary(score, names.columns[1:])
    regions = score.regions
    if not regions:
        yield words("No divergent region: what was changed, was changed alike.", "dim")
    groups: dict[int, list[_Numbered]] = {}
    for n, region in enumerate(regions, start=1):
        groups.setdefault(region.place, []).append((n, region))
    counts = score.places if len(groups) > 1 else ()
    for nth, (place, members) in enumerate(groups.items(), start=1):
        if counts:
            at = counts[place].counts
            about = f"{_edits(at, names.columns)}, {_here(at):,} alike here"
            yield words(f"place {nth} of {len(groups)}: {about}", "head", kind="head")
        for member, region in members:
            share = f"{100 * region.share:.0f} %" if region.share >= 0.005 else "under 1 %"
            which = f"region {member} of {len(regions)}: {share} of all divergent 1-4-grams"
            yield words(which, "head", kind="head")
            yield from _region(region, names)
    yield from _elsewhere(score, groups, names.columns)
    yield from notes(f"note: {note}" for note in (*score.notes, *remarks))
    yield words(score.signature, kind="scores")


_GUTTER = 10
"""Columns of the words before texts and numbers."""


def _summary(score: Score, names: Sequence[str]) -> Iterator[PageBlock]:
    """Yield the operations, and the word for A and B."""
    for name in ("keep", "add", "delete"):
        value: float | None = getattr(score, name)
        undefined = "undefined: neither revision has any" if value is None else digits(value)
        yield PageBlock("text", (Cell(name, "dim"), Cell(undefined)), 1, gutter=_GUTTER)
    level, (a, b) = score.level, names
    word = score.text_word
    if level is not None:
        word = level_words(level.word, level.renamed, f"{{}} in {a} is {{}} in {b}")
    if score.anchored != score.anywhere:
        anchored, anywhere = digits(float(score.anchored)), digits(float(score.anywhere))
        word += f": at the same place {anchored}, anywhere {anywhere}"
    yield words(word, "head")


# --- the texts -----------------------------------------------------------------------------------


def _region(region: DivergentRegion, names: ColumnTitles) -> Iterator[PageBlock]:
    """Yield origin, A and B, and the edits of both, of only A, and of only B."""
    segments = region.origin, region.a, region.b
    texts = names.texts or (None, None, None)
    sources = [_source(*both) for both in zip(segments, texts, strict=True)]
    for column, segment, source in zip(names.columns, segments, sources, strict=True):
        yield PageBlock("text", (Cell(column, "head"), Cell(_line_range([segment]), "dim")), 1)
        nothing = words("(nothing)", "dim", depth=2)
        yield PageBlock("code", depth=2, lines=source) if source else nothing
    yield from _operations(region, names)


def _source(segment: excise.Segment, text: str | None) -> list[ShownLine]:
    """Return the lines of a segment, which is marked within its first and last line."""
    if not segment.text or segment.span is None:
        return []
    before = after = ""
    if text is not None:
        start, stop = segment.span
        # A minified file is one line, so the text around a region is cut.
        before = text[max(start - CONTEXT, 0) : start].rpartition("\n")[2]
        after = text[stop : stop + CONTEXT].partition("\n")[0]
        before = f"…{before}" if len(before) == CONTEXT else before
        after = f"{after}…" if len(after) == CONTEXT else after
    piece, more = segment.text[:MAX_TEXT], len(segment.text) - MAX_TEXT
    pieces = piece.split("\n")
    lines = []
    for n, part in enumerate(pieces):
        head, tail = before * (n == 0), after * (n == len(pieces) - 1)
        marks = ((len(head), len(head) + len(part)),) if (head or tail) and part else ()
        lines.append(ShownLine(" ", f"{head}{part}{tail}", marks=marks))
    return [*lines, ShownLine("…", f"{more:,} more characters")] if more > 0 else lines


# --- the operations ------------------------------------------------------------------------------


def _operations(region: DivergentRegion, names: ColumnTitles) -> Iterator[PageBlock]:
    """Yield each operation, its agreement, and the tokens (1-grams) of both and of each alone."""
    _, a, b = names.columns
    values = excision(region.counts, names.deletion)
    segments = region.origin, region.a, region.b
    tokens = [[str(token) for token in segment.tokens] for segment in segments]
    origin, left, right = (Counter(row) for row in tokens)
    acts = (
        ("kept", values.keep, origin & left, origin & right, (0, 0)),
        ("added", values.add, left - origin, right - origin, (1, 2)),
        ("deleted", values.delete, origin - left, origin - right, (0, 0)),
    )
    for name, value, by_a, by_b, (from_a, from_b) in acts:
        if not (by_a or by_b):
            continue
        agreed = digits(None if value is None else float(value))
        yield PageBlock("text", (Cell(name, "head"), Cell(agreed)), 1)
        shared = by_a & by_b
        for who, order, bag in (
            ("both", tokens[from_a], shared),
            (f"only {a}", tokens[from_a], by_a - shared),
            (f"only {b}", tokens[from_b], by_b - shared),
        ):
            if bag:
                yield PageBlock(
                    "text",
                    (Cell(who, "dim"), Cell(_listed(order, bag), "quoted")),
                    2,
                    gutter=_GUTTER,
                )


def _listed(order: Sequence[str], bag: Counter[str]) -> str:
    """Return the tokens of a bag in the order in which a text has them."""
    remaining = bag.copy()
    shown = []
    for token in order:
        if remaining[token] > 0:
            remaining[token] -= 1
            shown.append(token)
        if len(shown) == MAX_TOKENS:
            break
    more = bag.total() - len(shown)
    names = (
        _INDENTS.get(token) or (token if len(token) <= 200 else f"{token[:200]}…")
        for token in shown
    )
    return " ".join(names) + (f" … {more:,} more" if more else "")


MAX_MATCHES = 20
"""Most pairs of places that are listed. --format json has all."""

_Numbered = tuple[int, DivergentRegion]
"""A region with its number in the order of the text, from 1."""


def _elsewhere(
    score: Score, groups: dict[int, list[_Numbered]], columns: Sequence[str]
) -> Iterator[PageBlock]:
    """Yield what both add or delete at different places, and what all places add up to."""
    matches = score.elsewhere
    if not matches:
        return
    order = {place: n for n, place in enumerate(groups, start=1)}
    yield PageBlock("head", (Cell("at different places", "head"),))
    _, a, b = columns
    for match in matches[:MAX_MATCHES]:
        at_a, at_b = order[match.a], order[match.b]
        # Deleted text is in the origin, on the side of the revision that deletes it.
        for verb, n_grams, sides in (
            ("adds", match.added, ("a", "b")),
            ("deletes", match.deleted, ("origin", "origin")),
        ):
            if n_grams:
                lines = []
                for place, side in zip((match.a, match.b), sides, strict=True):
                    segments = [getattr(region, side) for _, region in groups[place]]
                    at = _line_range(
                        [segment for segment in segments if segment.tokens] or segments
                    )
                    text = " of the origin" if side == "origin" else ""
                    lines.append(f"line{'s' if '-' in at else ''} {at}{text}")
                yield words(
                    f"{plural(n_grams, 'n-gram')} that {a} {verb} at {lines[0]} (place {at_a}),"
                    f" {b} {verb} at {lines[1]} (place {at_b})", depth=1,
                )  # fmt: skip
    if rest := matches[MAX_MATCHES:]:
        more = sum(match.n_grams for match in rest)
        yield words(f"and {plural(more, 'n-gram')} at other places: --format json has all", depth=1)
    moved = sum(match.n_grams for match in matches)
    total = f"{_edits(score.counts, columns)}, {_here(score.counts):,} alike at the same place"
    yield words(f"in all: {total} and {moved:,} at different places, which count {SHARE_ELSEWHERE}")


def _line_range(segments: Sequence[excise.Segment]) -> str:
    """Return the lines of some segments, counted from 1 as in editors, or "" without lines."""
    lines = [segment.lines for segment in segments if segment.lines is not None]
    if not lines:
        return ""
    first, past = min(lo for lo, _ in lines), max(hi for _, hi in lines)
    return f"{first + 1}" if past <= first + 1 else f"{first + 1}-{past}"


def _edits(counts: EditCounts, columns: Sequence[str]) -> str:
    _, a, b = columns
    by_a, by_b = (sum(count[side] for count in (*counts.add, *counts.delete)) for side in (1, 2))
    return f"{a} adds or deletes {plural(by_a, 'n-gram')}, {b} {by_b:,}"


def _here(counts: EditCounts) -> int:
    return sum(count.here for count in (*counts.add, *counts.delete))
