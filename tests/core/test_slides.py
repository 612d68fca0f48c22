"""Line slides (section 4a): where insertions and deletions of whole lines come to stand."""

import pytest

GRANULARITY = pytest.mark.parametrize("granularity", ["token", "line", "nested"])

# Lines are parted by "|"; the edit of p to r keeps the common prefix away from the rest. What is
# expected are the numbers of the inserted tokens of A; exchanging O and A gives deleted ones.
INSERTED = [
    ("a doubled line", "p|k|x|q", "r|k|x|x|q", [3]),
    ("several lines", "p|k|f|g|q", "r|k|f|g|f|g|q", [4, 5]),
    ("as far as lines are equal", "p|k|f|g", "r|k|f|h|f|g", [3, 4]),
    ("more than its own length", "p|k|x|x|x|q", "r|k|x|x|x|x|q", [5]),
    ("to the end", "p|k|x", "r|k|x|x", [3]),
    ("not past the next run", "p|k|x|y|x|q", "r|k|x|x|y|z|x|q", [3, 5]),
    ("a touching run stays", "p|k|x|x|q|x|e", "r|k|x|x|x|s|q|x|e", [4, 5]),
    ("indentation is no token", "p|k|  x|q", "r|k|x|  x|q", [3]),
]


def spans(implementation, origin, a, side, **options):
    """The tokens of O or A, but for the first one, that stand in divergent regions."""
    texts = [text.replace("|", "\n") + "\n" for text in (origin, a, f"{origin}|t")]
    found = implementation.symmetric(*texts, place="anchored", **options)
    segments = [row[side] for row in found.spans if row[side] is not None]
    return [token for start, stop in segments for token in range(start, stop) if token > 0]


@GRANULARITY
@pytest.mark.parametrize(
    ("origin", "a", "expected"), [row[1:] for row in INSERTED], ids=[row[0] for row in INSERTED]
)
def test_insertions_and_deletions(placed_implementation, origin, a, expected, granularity):
    if granularity == "line" and " " in a:
        pytest.skip("a key holds the indentation")
    options = {"granularity": granularity}
    assert spans(placed_implementation, origin, a, 1, **options) == expected
    assert spans(placed_implementation, a, origin, 0, **options) == expected


def test_lines_slide_by_their_keys(placed_implementation):
    """At ``line`` the lines with a key are the units (v:2.1): equal tokens are not enough."""
    options = {"granularity": "line"}
    indented = ("p|k|  x|q", "r|k|x|  x|q")
    assert spans(placed_implementation, *indented, 1, **options) == [2]
    doubled = ("p|k|  x|q", "r|k|  x|  x|q")
    assert spans(placed_implementation, *doubled, 1, **options) == [3]


@GRANULARITY
@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_do_not_matter(placed_implementation, granularity, end):
    origin, a, b = ("p|k|x|q|", "r|k|x|x|q|", "p|k|x|q|t|")
    texts = [text.replace("|", end) for text in (origin, a, b)]
    options = {"granularity": granularity, "place": "anchored"}
    found = placed_implementation.symmetric(*texts, **options)
    assert [row[1] for row in found.spans][:2] == [(0, 1), (3, 4)]


@pytest.mark.parametrize("granularity", ["token", "nested"])
def test_what_does_not_slide(placed_implementation, granularity):
    """Part of a line, and what stands inside a line of the other text."""
    for origin, a, inserted in (
        ("p|z c x y|q", "p|w c x x y|q", [1, 3]),
        ("p|k x|q", "r|k|x|x|q", [2]),
    ):
        assert spans(placed_implementation, origin, a, 1, granularity=granularity) == inserted


@GRANULARITY
def test_pooled_scores_are_not_slid(placed_implementation, granularity):
    origin, a, b = list("pkxq"), list("rkxxq"), list("pkxqt")
    options = {"granularity": granularity}
    pooled = placed_implementation.symmetric(origin, a, b, place="pooled", **options)
    placed = placed_implementation.symmetric(origin, a, b, place="anchored", **options)
    assert [row[1] for row in pooled.spans][:2] == [(0, 1), (2, 3)]
    assert [row[1] for row in placed.spans][:2] == [(0, 1), (3, 4)]
