"""The lines of a hunk, counted by the kernel and by the reference."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.reference import hunk_lines

from excise.kernels._diff import body

LINE = st.sampled_from(
    [b"", b"\r", b" ", b" a", b"+", b"+b", b"-", b"-c", b"--", b"-- ", b"--\r", b"--- a/x", b"---",
     b"-- 2.40", b"+++ b/x", b"@@ -1 +1 @@", b"\\", b"\\ No newline at end of file", b"\x00",
     b"+\x00", b"\xff", b"\t", b"x", b"\r\r", b"-\r", b"-\x00-"]
)  # fmt: skip
COUNT = st.integers(0, 6) | st.just(10**18 - 1)


@given(st.lists(LINE | st.binary(max_size=3), min_size=1, max_size=12), st.data())
def test_lines_are_counted_as_by_the_reference(lines, data):
    start = data.draw(st.integers(0, len(lines) - 1))
    old, new = data.draw(COUNT), data.draw(COUNT)
    asked: list[list[tuple[int, int, int]]] = [[], []]
    answers = [data.draw(st.booleans()) for _ in lines]

    def ends_early(side, *place):
        asked[side].append(place)
        return answers[place[0]]

    found = body(lines, start, old, new, lambda *place: ends_early(0, *place))
    expected = hunk_lines.body(lines, start, old, new, lambda *place: ends_early(1, *place))
    assert (found, asked[0]) == (expected, asked[1])
