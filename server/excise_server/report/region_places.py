"""The places of divergent regions: what counts at each, and what matches at other places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.rule import Rule
from rich.text import Text

from excise import DivergentRegion, EditCounts, Score, Segment
from excise_server.report.tables import plural

__all__ = ["Numbered", "by_place", "elsewhere_view", "line_range", "place_head"]

MAX_MATCHES = 20
"""Most pairs of places that are listed. --json has all."""

Numbered = tuple[int, DivergentRegion]
"""A region with its number in the order of the text, from 1."""


def by_place(regions: Sequence[DivergentRegion]) -> dict[int, list[Numbered]]:
    """Return the regions of each place, in the order of the text."""
    groups: dict[int, list[Numbered]] = {}
    for number, region in enumerate(regions, start=1):
        groups.setdefault(region.place, []).append((number, region))
    return groups


def place_head(number: int, of: int, counts: EditCounts, columns: Sequence[str]) -> Text:
    """Return the heading of a place: how much both do alike there, of how much each does."""
    title = Text.assemble((f"place {number} of {of}", "bold"), " · ")
    return title.append(f"{_edits(counts, columns)}, {_here(counts):,} alike here")


def elsewhere_view(
    score: Score, groups: dict[int, list[Numbered]], columns: Sequence[str]
) -> Iterator[RenderableType]:
    """Yield what both add or delete at different places, and what all places add up to."""
    matches = score.elsewhere
    if not matches:
        return
    order = {place: number for number, place in enumerate(groups, start=1)}
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
                lines = [
                    _lines_at(groups[place], side)
                    for place, side in zip((match.a, match.b), sides, strict=True)
                ]
                yield Text(
                    f"{plural(n_grams, 'n-gram')} that {a} {verb} at {lines[0]} (place {at_a}),"
                    f" {b} {verb} at {lines[1]} (place {at_b})"
                )
    if rest := matches[MAX_MATCHES:]:
        more = sum(match.n_grams for match in rest)
        yield Text(f"… and {plural(more, 'n-gram')} at other places: --json has all", "dim")
    moved = sum(match.n_grams for match in matches)
    total = f"{_edits(score.counts, columns)}, {_here(score.counts):,} alike at the same place"
    yield Text(f"in all: {total} and {moved:,} at different places, which count a quarter")


def line_range(segments: Sequence[Segment]) -> str:
    """Return the lines of some segments, counted from 1 as in editors, or "" without lines."""
    lines = [segment.lines for segment in segments if segment.lines is not None]
    if not lines:
        return ""
    first, past = min(lo for lo, _ in lines), max(hi for _, hi in lines)
    return f"{first + 1}" if past <= first + 1 else f"{first + 1}-{past}"


def _lines_at(regions: Sequence[Numbered], side: str) -> str:
    """Return "line 3" or "lines 3-7" of one text at a place."""
    segments = [getattr(region, side) for _, region in regions]
    lines = line_range([segment for segment in segments if segment.tokens] or segments)
    text = " of the origin" if side == "origin" else ""
    return f"line{'s' if '-' in lines else ''} {lines}{text}"


def _edits(counts: EditCounts, columns: Sequence[str]) -> str:
    _, a, b = columns
    by_a, by_b = (sum(count[side] for count in (*counts.add, *counts.delete)) for side in (1, 2))
    return f"{a} adds or deletes {plural(by_a, 'n-gram')}, {b} {by_b:,}"


def _here(counts: EditCounts) -> int:
    return sum(count.here for count in (*counts.add, *counts.delete))
