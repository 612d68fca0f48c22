"""Hunks (7-review, section 1), slowly: which lines everybody keeps, and what lies between them."""

from dataclasses import dataclass

from tests.reference.regions import align_slid
from tests.reference.streams import Stream, units


@dataclass(frozen=True)
class Hunk:
    """Lines of the origin and of each revision (from, to)."""

    lines: tuple[int, int]
    spans: tuple[tuple[int, int], ...]


def kept_lines(origin: Stream, revision: Stream, granularity: str) -> dict[int, int]:
    """The lines with units that a revision keeps: all units matched, and the same raw text."""
    pairs = dict(align_slid(origin, revision, granularity))
    own, other = units(origin, granularity), units(revision, granularity)
    kept = {}
    for line in sorted({unit.line for unit in own}):
        matched = [pairs.get(i) for i, unit in enumerate(own) if unit.line == line]
        if None in matched:
            continue
        there = other[matched[0]].line
        whole = [i for i, unit in enumerate(other) if unit.line == there]
        if matched == whole and origin.raw[line] == revision.raw[there]:
            kept[line] = there
    return kept


def hunks(origin: Stream, revisions: list[Stream], granularity: str) -> list[Hunk]:
    """The maximal runs of origin lines that some revision changes.

    Reading: lines without units (blank ones) are changed if the run of them between two kept
    lines, as a whole, is another text; and they part no hunk, as a region can lie around them.
    Reading: the blank lines that all texts have at both ends of a hunk are no part of it; those at
    its start are left out first.
    """
    kept = [kept_lines(origin, revision, granularity) for revision in revisions]
    everybody = set.intersection(*map(set, kept)) if kept else set()
    found = []
    before = -1
    for line in [*sorted(everybody), len(origin.raw)]:
        spans = [(before + 1, line)]
        for own, revision in zip(kept, revisions, strict=True):
            spans.append((own[before] + 1 if before >= 0 else 0, own.get(line, len(revision.raw))))
        texts = [
            stream.raw[start:stop]
            for stream, (start, stop) in zip([origin, *revisions], spans, strict=True)
        ]
        inside = [
            [unit.value for unit in units(stream, granularity) if start <= unit.line < stop]
            for stream, (start, stop) in zip([origin, *revisions], spans, strict=True)
        ]
        moved = any(values != inside[0] for values in inside[1:])
        if moved or any(text != texts[0] for text in texts[1:]):
            found.append(trimmed([origin, *revisions], spans, granularity))
        before = line
    return found


def trimmed(streams: list[Stream], spans: list[tuple[int, int]], granularity: str) -> Hunk:
    """Leave out the blank lines that all texts share, first at the start."""
    full = [{unit.line for unit in units(stream, granularity)} for stream in streams]

    def shared(lines: list[int]) -> bool:
        raw = {stream.raw[line] for stream, line in zip(streams, lines, strict=True)}
        blank = all(line not in has for line, has in zip(lines, full, strict=True))
        return len(raw) == 1 and blank

    while all(a < b for a, b in spans) and shared([a for a, _ in spans]):
        spans = [(a + 1, b) for a, b in spans]
    while all(a < b for a, b in spans) and shared([b - 1 for _, b in spans]):
        spans = [(a, b - 1) for a, b in spans]
    return Hunk(spans[0], tuple(spans[1:]))
