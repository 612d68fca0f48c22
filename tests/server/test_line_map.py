"""Where lines of the origin are in the buffer: everything is mapped, and nothing beside it."""

from hypothesis import given
from hypothesis import strategies as st

from excise import align
from excise.text import Text
from excise_server.editor.places import LineMap

# Few different lines, so that duplicates, blank lines and white space only matter often; form
# feed, NEL and U+2028 end no line; the last line often has no end.
LINE = st.sampled_from(["a", "b", "  a", "b  ", "", " ", "c\x0cd", "e\u2028f", "x\u0085", "😋"])
END = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])
TEXT = st.builds(
    lambda lines, last: "".join(line + end for line, end in lines) + last,
    st.lists(st.tuples(LINE, END), max_size=8),
    st.sampled_from(["", "", "a", "z"]),
)
REVISIONS = st.lists(TEXT, min_size=1, max_size=4)


@given(TEXT, TEXT)
def test_a_line_map_maps_everything_to_everything(origin: str, text: str):
    lines = LineMap.between(Text.of(origin).lines, Text.of(text).lines)
    n, m = len(Text.of(origin).lines), len(Text.of(text).lines)
    assert lines.cover(0, n) == (0, m)
    for lo in range(n + 1):
        for hi in range(lo, n + 1):
            start, stop = lines.span(lo, hi)
            first, last = lines.cover(lo, hi)
            assert 0 <= first <= start <= stop <= last <= m


def test_an_edit_of_the_line_between_two_hunks_belongs_to_neither():
    lines = LineMap.between(list("123"), ["1", "new", "3"])
    assert lines.span(0, 1) == (0, 1)
    assert lines.span(2, 3) == (2, 3)


def test_what_is_typed_beside_a_hunk_is_not_part_of_it():
    lines = LineMap.between(list("12"), ["1", "new", "2"])
    assert lines.span(0, 1) == (0, 1)
    assert lines.span(1, 2) == (2, 3)
    assert lines.span(1, 1) == (2, 2)
    assert lines.cover(1, 1) == (1, 2)


FEW_LINES = st.lists(st.sampled_from("ab"), max_size=9)


@given(FEW_LINES, FEW_LINES, FEW_LINES, FEW_LINES)
def test_a_line_map_is_the_canonical_alignment(head, tail, old, new):
    """Although what both begin and end with is not aligned."""
    origin, text = [*head, *old, *tail], [*head, *new, *tail]
    aligned = LineMap(align(origin, text).edits)
    lines = LineMap.between(origin, text)
    spans = [(lo, hi) for hi in range(len(origin) + 1) for lo in range(hi + 1)]
    for look in (LineMap.span, LineMap.cover, LineMap.crosses):
        assert [look(lines, *span) for span in spans] == [look(aligned, *span) for span in spans]
