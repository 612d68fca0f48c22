"""Divergent regions side by side: their exact text, and the operations there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.rule import Rule
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

import excise
from excise import DivergentRegion, Score
from excise.excision import excision
from excise_server.foundation.escape import printable
from excise_server.report.region_places import (
    Numbered,
    by_place,
    elsewhere_view,
    line_range,
    place_head,
)
from excise_server.report.source import Source, shared_indentation
from excise_server.report.tables import number

__all__ = ["Names", "legend", "region_views"]

MAX_TEXT = 4_000
"""Most characters of a segment that are shown. --json has all of them."""

CONTEXT = 120
"""Characters that are shown before and after a segment, on its lines."""

MAX_TOKENS = 40
"""Tokens of one cell that are listed."""

_INDENTS = {"\nINDENT": "<indent>", "\nDEDENT": "<dedent>"}


@dataclass(frozen=True, slots=True)
class Names:
    """The titles of the three columns, and the texts behind them.

    ``texts`` are normalised, or "" if the score was computed from other texts (without comments):
    then only the segments themselves are shown, without the lines around them.
    """

    columns: tuple[str, str, str]
    texts: tuple[str, str, str] | None = None
    deletion: str = "f1"


def legend(columns: Sequence[str], ids: Sequence[str]) -> Text:
    """Return which file or revision each column is."""
    width = max(map(len, columns))
    lines = [
        Text.assemble((column.ljust(width), "bold cyan"), "  ", printable(name))
        for column, name in zip(columns, ids, strict=True)
    ]
    return Text("\n").join(lines)


def region_views(score: Score, names: Names) -> Iterator[RenderableType]:
    """Yield one view per divergent region, place by place, and what matches at other places."""
    regions = score.regions
    if not regions:
        yield Text()
        yield Text("No divergent region: what was changed, was changed alike.", "dim")
    groups = by_place(regions)
    counts = score.places if len(groups) > 1 else ()
    for number_of_place, (place, members) in enumerate(groups.items(), start=1):
        if counts:
            yield Text()
            yield place_head(number_of_place, len(groups), counts[place].counts, names.columns)
        yield from _regions(members, len(regions), names)
    yield from elsewhere_view(score, groups, names.columns)


def _regions(members: Sequence[Numbered], of: int, names: Names) -> Iterator[RenderableType]:
    for member, region in members:
        share = f"{100 * region.share:.0f} %" if region.share >= 0.005 else "under 1 %"
        head = (f"region {member} of {of}", "bold")
        yield Text()
        yield _Region(Text.assemble(head, f" · {share} of all divergent 1-4-grams"), region, names)


# --- the texts -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Region:
    """Above, origin, A and B. Below, the edits of both, of only A, and of only B.

    On a terminal the three are side by side. In a pipe or file they are below each other,
    unwrapped, and the operations are rows of cells separated by tabs.
    """

    title: Text
    region: DivergentRegion
    names: Names

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if console.is_terminal:
            yield Rule(self.title, align="left", style="dim")
            yield self._side_by_side()
            return
        yield self.title
        for head, body in zip(self._heads(), self._bodies(), strict=True):
            yield head
            yield from (Text(f"    {line}") for line in body.unwrapped())
        for row in _operations(self.region, self.names):
            # A `Text` would expand its tabs.
            yield Segment("\t".join(cell.plain for cell in row))
            yield Segment.line()

    def _side_by_side(self) -> Table:
        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        table.add_column(width=7)
        for _ in range(3):
            table.add_column(ratio=1, overflow="fold")
        table.add_row("", *self._heads())
        table.add_row("", *self._bodies())
        table.add_row()
        for name, agreed, *cells in _operations(self.region, self.names):
            table.add_row(Text("\n").join((name, agreed) if agreed else (name,)), *cells)
        return table

    @property
    def _segments(self) -> tuple[excise.Segment, ...]:
        return self.region.origin, self.region.a, self.region.b

    def _heads(self) -> list[Text]:
        return [
            Text.assemble((column, "bold cyan"), (f" {line_range([segment])}", "dim"))
            for column, segment in zip(self.names.columns, self._segments, strict=True)
        ]

    def _bodies(self) -> list[Source]:
        """Return the exact text of the segments, within the rest of their first and last lines."""
        texts = self.names.texts or (None, None, None)
        sources = [_source(*both) for both in zip(self._segments, texts, strict=True)]
        drop = shared_indentation(source for source in sources if source != _NOTHING)
        return [replace(source, drop=drop) for source in sources]


_NOTHING = Source("(nothing)", "", "")


def _source(segment: excise.Segment, text: str | None) -> Source:
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
    return Source(before, _clipped(segment.text), after)


def _clipped(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[:MAX_TEXT]}… {len(text) - MAX_TEXT:,} more characters"


# --- the operations ------------------------------------------------------------------------------


def _operations(region: DivergentRegion, names: Names) -> Iterator[list[Text]]:
    """Yield each operation, its agreement, and the tokens (1-grams) of both and of each alone."""
    _, a, b = names.columns
    yield [Text(), Text(), *(Text(who, "cyan") for who in ("both", f"only {a}", f"only {b}"))]
    values = excision(region.counts, names.deletion)
    tokens = [_tokens(segment) for segment in (region.origin, region.a, region.b)]
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


def _tokens(segment: excise.Segment) -> list[str]:
    return [str(token) for token in segment.tokens]


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
    return Text(" ".join(map(_shown, shown)) + (f" … {more:,} more" if more else ""))


def _shown(token: str) -> str:
    return _INDENTS.get(token) or printable(token if len(token) <= 200 else f"{token[:200]}…")
