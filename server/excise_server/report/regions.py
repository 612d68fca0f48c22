"""Divergent regions side by side: their exact text, the operations there, and their places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.rule import Rule
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

import excise
from excise import DivergentRegion, EditCounts, Score
from excise.excision import excision
from excise_server.foundation.escape import printable, source_text
from excise_server.report.tables import notes_text, number, summary
from excise_server.report.words import SHARE_ELSEWHERE, plural

MAX_TEXT = 4_000
"""Most characters of a segment that are shown. --format json has all of them."""

CONTEXT = 120
"""Characters that are shown before and after a segment, on its lines."""

MAX_TOKENS = 40
"""Tokens of one cell that are listed."""

_INDENTS = {"\nINDENT": "<indent>", "\nDEDENT": "<dedent>"}

_HANG = 2
"""Columns by which the continuation of a long line is indented further."""


@dataclass(frozen=True, slots=True)
class ColumnTitles:
    """The titles of the three columns, and the texts behind them.

    ``texts`` are normalised, or "" if the score was computed from other texts (without comments):
    then only the segments themselves are shown, without the lines around them.
    """

    columns: tuple[str, str, str]
    texts: tuple[str, str, str] | None = None
    deletion: str = "f1"


def pair_views(
    score: Score,
    names: ColumnTitles,
    ids: Sequence[str],
    title: str,
    notes: Sequence[str],
    out: Console,
) -> Iterator[RenderableType]:
    """Yield which file or revision each column is, the score under its title, and its regions.

    There is one view per divergent region, place by place, then what matches at other places.
    """
    width = max(map(len, names.columns))
    for column, name in zip(names.columns, ids, strict=True):
        yield Text.assemble((column.ljust(width), "bold cyan"), "  ", printable(name))
    yield Text()
    yield summary(score, title, names.columns[1:])
    yield from notes_text("note", notes)
    regions = score.regions
    if not regions:
        yield Text()
        yield Text("No divergent region: what was changed, was changed alike.", "dim")
    groups: dict[int, list[_Numbered]] = {}
    for n, region in enumerate(regions, start=1):
        groups.setdefault(region.place, []).append((n, region))
    counts = score.places if len(groups) > 1 else ()
    for nth, (place, members) in enumerate(groups.items(), start=1):
        if counts:
            head = Text.assemble((f"place {nth} of {len(groups)}", "bold"), " · ")
            at = counts[place].counts
            yield Text()
            yield head.append(f"{_edits(at, names.columns)}, {_here(at):,} alike here")
        for member, region in members:
            share = f"{100 * region.share:.0f} %" if region.share >= 0.005 else "under 1 %"
            region_head = (f"region {member} of {len(regions)}", "bold")
            which = Text.assemble(region_head, f" · {share} of all divergent 1-4-grams")
            yield Text()
            yield from _region(which, region, names, out)
    yield from _elsewhere_view(score, groups, names.columns)


# --- the texts -----------------------------------------------------------------------------------


def _region(
    title: Text, region: DivergentRegion, names: ColumnTitles, out: Console
) -> Iterator[RenderableType]:
    """Yield, above, origin, A and B; below, the edits of both, of only A, and of only B.

    On a terminal the three are side by side. In a pipe or file they are below each other,
    unwrapped, and the operations are rows of cells separated by tabs.
    """
    segments = region.origin, region.a, region.b
    heads = [
        Text.assemble((column, "bold cyan"), (f" {_line_range([segment])}", "dim"))
        for column, segment in zip(names.columns, segments, strict=True)
    ]
    # The exact text of the segments, within the rest of their first and last lines.
    texts = names.texts or (None, None, None)
    sources = [_source(*both) for both in zip(segments, texts, strict=True)]
    lines = (line for source in sources if source != _NOTHING for line in source.lines)
    drop = min((_indentation(line) for line in lines if line.strip()), default=0)
    bodies = [replace(source, drop=drop) for source in sources]
    if not out.is_terminal:
        yield title
        for head, body in zip(heads, bodies, strict=True):
            yield head
            yield from (Text(f"    {line}") for line in body.unwrapped())
        for row in _operations(region, names):
            # A `Text` would expand its tabs.
            yield Segments([Segment("\t".join(cell.plain for cell in row)), Segment.line()])
        return
    yield Rule(title, align="left", style="dim")
    table = Table.grid(padding=(0, 2, 0, 0), expand=True)
    table.add_column(width=7)
    for _ in range(3):
        table.add_column(ratio=1, overflow="fold")
    table.add_row("", *heads)
    table.add_row("", *bodies)
    table.add_row()
    for name, agreed, *cells in _operations(region, names):
        table.add_row(Text("\n").join((name, agreed) if agreed else (name,)), *cells)
    yield table


@dataclass(frozen=True, slots=True)
class _Source:
    """A piece of source text, highlighted within its first and last line."""

    before: str
    piece: str
    after: str
    drop: int = 0
    """Characters of indentation left out of every line."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines, wrapped to the column."""
        text = Text(tab_size=1)
        for part, style in ((self.before, "dim"), (self.piece, "bold"), (self.after, "dim")):
            text.append(source_text(part), style)
        for line in text.split("\n", allow_blank=True):
            yield from _wrapped(line[_dropped(line.plain, self.drop) :], console, options.max_width)

    def unwrapped(self) -> list[str]:
        """Return the lines without the indentation that all share."""
        return [line[_dropped(line, self.drop) :] for line in self.lines]

    @property
    def lines(self) -> list[str]:
        """The lines as they are printed, with their indentation."""
        return source_text(f"{self.before}{self.piece}{self.after}").split("\n")


def _indentation(line: str) -> int:
    # A tab is shown as an arrow here.
    return len(line) - len(line.lstrip(" "))


def _dropped(line: str, drop: int) -> int:
    return min(drop, _indentation(line))


def _wrapped(line: Text, console: Console, width: int) -> Iterable[Text]:
    hang = min(_indentation(line.plain) + _HANG, width // 2)
    if line.cell_len <= width:
        yield line
        return
    first, *_ = line.wrap(console, width)
    yield first
    rest = line[len(first.plain) :]
    skip = len(rest.plain) - len(rest.plain.lstrip(" "))
    for part in rest[skip:].wrap(console, width - hang):
        yield Text(" " * hang) + part


_NOTHING = _Source("(nothing)", "", "")


def _source(segment: excise.Segment, text: str | None) -> _Source:
    if not segment.text or segment.span is None:
        return _NOTHING
    before = after = ""
    if text is not None:
        start, stop = segment.span
        # A minified file is one line, so the text around a region is cut.
        before = text[max(start - CONTEXT, 0) : start].rpartition("\n")[2]
        after = text[stop : stop + CONTEXT].partition("\n")[0]
        before = f"…{before}" if len(before) == CONTEXT else before
        after = f"{after}…" if len(after) == CONTEXT else after
    piece, more = segment.text[:MAX_TEXT], len(segment.text) - MAX_TEXT
    return _Source(before, f"{piece}… {more:,} more characters" if more > 0 else piece, after)


# --- the operations ------------------------------------------------------------------------------


def _operations(region: DivergentRegion, names: ColumnTitles) -> Iterator[list[Text]]:
    """Yield each operation, its agreement, and the tokens (1-grams) of both and of each alone."""
    _, a, b = names.columns
    yield [Text(), Text(), *(Text(who, "cyan") for who in ("both", f"only {a}", f"only {b}"))]
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
        if by_a or by_b:
            shared = by_a & by_b
            agreed = number(None if value is None else float(value))
            yield [
                Text(name, "bold"),
                agreed,
                _listed(tokens[from_a], shared),
                _listed(tokens[from_a], by_a - shared),
                _listed(tokens[from_b], by_b - shared),
            ]


def _listed(order: Sequence[str], bag: Counter[str]) -> Text:
    """Return the tokens of a bag in the order in which a text has them."""
    if not bag:
        return Text("–", "dim")
    remaining = bag.copy()
    shown = []
    for token in order:
        if remaining[token] > 0:
            remaining[token] -= 1
            shown.append(token)
        if len(shown) == MAX_TOKENS:
            break
    more = bag.total() - len(shown)
    words = (
        _INDENTS.get(token) or printable(token if len(token) <= 200 else f"{token[:200]}…")
        for token in shown
    )
    return Text(" ".join(words) + (f" … {more:,} more" if more else ""))


MAX_MATCHES = 20
"""Most pairs of places that are listed. --format json has all."""

_Numbered = tuple[int, DivergentRegion]
"""A region with its number in the order of the text, from 1."""


def _elsewhere_view(
    score: Score, groups: dict[int, list[_Numbered]], columns: Sequence[str]
) -> Iterator[RenderableType]:
    """Yield what both add or delete at different places, and what all places add up to."""
    matches = score.elsewhere
    if not matches:
        return
    order = {place: n for n, place in enumerate(groups, start=1)}
    yield Text()
    yield Rule(Text("at different places", "bold"), align="left", style="dim")
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
                yield Text(
                    f"{plural(n_grams, 'n-gram')} that {a} {verb} at {lines[0]} (place {at_a}),"
                    f" {b} {verb} at {lines[1]} (place {at_b})"
                )
    if rest := matches[MAX_MATCHES:]:
        more = sum(match.n_grams for match in rest)
        yield Text(f"… and {plural(more, 'n-gram')} at other places: --format json has all", "dim")
    moved = sum(match.n_grams for match in matches)
    total = f"{_edits(score.counts, columns)}, {_here(score.counts):,} alike at the same place"
    yield Text(f"in all: {total} and {moved:,} at different places, which count {SHARE_ELSEWHERE}")


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
