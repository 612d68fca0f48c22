"""Line slides (section 4a): an insertion or deletion of whole lines stands as low as it can."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from tests.reference.lcs import Pairs


@dataclass(frozen=True)
class Side:
    """What is aligned of one text, and the line that each unit stands on."""

    values: Sequence[Hashable]
    lines: Sequence[int]

    def starts_line(self, unit: int) -> bool:
        """Tell whether no earlier unit stands on the line of this one."""
        return unit == 0 or self.lines[unit - 1] != self.lines[unit]

    def line_from(self, unit: int) -> list[Hashable]:
        """The values from a unit to the end of its line."""
        line = self.lines[unit] if unit < len(self.lines) else None
        return [
            value
            for value, other in list(zip(self.values, self.lines, strict=True))[unit:]
            if other == line
        ]

    def is_whole_lines(self, start: int, stop: int) -> bool:
        """Tell whether a run that is not empty starts and ends where lines do."""
        return self.starts_line(start) and (stop == len(self.lines) or self.starts_line(stop))


def slid(pairs: Pairs, origin: Side, revision: Side) -> Pairs:
    """Slide the runs of an alignment, from the last to the first.

    A run lies between two consecutive pairs, or before the first; one behind the last pair has
    nothing below it.
    """
    pairs = list(pairs)
    for behind in range(len(pairs) - 1, -1, -1):
        o_kept, a_kept = pairs[behind - 1] if behind else (-1, -1)
        o_start, a_start = o_kept + 1, a_kept + 1
        o_stop, a_stop = pairs[behind]
        if o_start == o_stop and a_start < a_stop:
            slide_run(pairs, behind, revision, (a_start, a_stop), origin, o_start)
        elif o_start < o_stop and a_start == a_stop:
            mirrored = [(a, o) for o, a in pairs]
            slide_run(mirrored, behind, origin, (o_start, o_stop), revision, a_start)
            pairs = [(o, a) for a, o in mirrored]
    return pairs


def slide_run(
    pairs: Pairs, behind: int, own: Side, run: tuple[int, int], other: Side, before: int
) -> None:
    """Slide the units ``run`` of one text, which stand before the unit ``before`` of the other.

    ``pairs`` are (unit of the other text, unit of the own one); they are changed in place.

    Reading: whole lines are asked for once, before the first step. What the run has slid past can
    be broken into lines otherwise, so that later on the run may end inside a line.
    Reading: "never past the next run" lets the two touch; a run that touches the next one stays
    there, even where the two as one could go on.
    """
    start, stop = run
    if not own.is_whole_lines(start, stop):
        return
    while before < len(other.values) and other.starts_line(before):
        line = other.line_from(before)
        if line != own.line_from(start):
            return
        passed = [(before + i, stop + i) for i in range(len(line))]
        if pairs[behind : behind + len(line)] != passed:  # the next run begins inside this line
            return
        pairs[behind : behind + len(line)] = [(before + i, start + i) for i in range(len(line))]
        start, stop, before = start + len(line), stop + len(line), before + len(line)
        behind += len(line)
