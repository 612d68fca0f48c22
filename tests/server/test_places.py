"""The laws of places, on random texts: what an editor applies is exactly what a revision says."""

from itertools import pairwise, permutations

from hypothesis import given
from hypothesis import strategies as st

from excise.text import normalise
from excise_server.places import Place, Ruler, apply_variants, find_places

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


def variant_of(place: Place, index: int) -> str:
    return next(v.text for v in place.variants if index in v.members)


@given(TEXT, REVISIONS)
def test_all_variants_of_a_revision_give_exactly_its_text(origin: str, revisions: list[str]):
    places = find_places(origin, revisions)
    for index, text in enumerate(revisions):
        chosen = {place: variant_of(place, index) for place in places}
        assert apply_variants(origin, chosen) == normalise(text)


@given(TEXT, REVISIONS)
def test_no_variant_gives_the_origin(origin: str, revisions: list[str]):
    assert apply_variants(origin, {}) == normalise(origin)
    places = find_places(origin, revisions)
    assert apply_variants(origin, {place: place.text for place in places}) == normalise(origin)


@given(TEXT, TEXT)
def test_any_order_gives_the_same(origin: str, revision: str):
    places = find_places(origin, [revision])
    for order in permutations(places[:4]):
        text, done = normalise(origin), list[Place]()
        for place in order:
            lines = _lines(text)
            lo = place.lo + sum(_growth(p) for p in done if p.lo < place.lo)
            text = "".join([*lines[:lo], variant_of(place, 0), *lines[lo + place.hi - place.lo :]])
            done.append(place)
        assert text == apply_variants(origin, {p: variant_of(p, 0) for p in places[:4]})


@given(TEXT, TEXT, TEXT, st.lists(st.booleans(), min_size=9, max_size=9))
def test_variants_of_two_revisions_compose(origin: str, a: str, b: str, picks: list[bool]):
    """What is taken from A and from B stands side by side, each exactly as in its revision."""
    places = find_places(origin, [a, b])
    chosen = {p: variant_of(p, int(pick)) for p, pick in zip(places, picks, strict=False)}
    expected, line = [], 0
    origin_lines = _lines(normalise(origin))
    for place in places:
        expected += [*origin_lines[line : place.lo], chosen.get(place, place.text)]
        line = place.hi
    assert apply_variants(origin, chosen) == "".join([*expected, *origin_lines[line:]])


@given(TEXT, REVISIONS)
def test_between_places_stands_a_line_that_all_keep(origin: str, revisions: list[str]):
    places = find_places(origin, revisions)
    lines = _lines(normalise(origin))
    for place, after in pairwise(places):
        assert place.hi < after.lo
    for place in places:
        assert len({i for v in place.variants for i in v.members}) == len(revisions)
        assert any(v.text != place.text for v in place.variants)
    for index, text in enumerate(revisions):
        kept = _lines(normalise(text))
        for place in places:
            start, stop = place.spans[index]
            assert "".join(kept[start:stop]) == variant_of(place, index)
            if place.lo:
                assert kept[start - 1] == lines[place.lo - 1]
            if place.hi < len(lines):
                assert kept[stop] == lines[place.hi]


@given(TEXT, TEXT)
def test_a_ruler_maps_everything_to_everything(origin: str, text: str):
    ruler = Ruler.between(origin, text)
    n, m = len(_lines(normalise(origin))), len(_lines(normalise(text)))
    assert ruler.cover(0, n) == (0, m)
    for lo in range(n + 1):
        for hi in range(lo, n + 1):
            start, stop = ruler.span(lo, hi)
            first, last = ruler.cover(lo, hi)
            assert 0 <= first <= start <= stop <= last <= m


def test_variants_are_grouped_most_frequent_first():
    places = find_places("a\nb\nc\n", ["a\nB\nc\n", "a\nb\nc\n", "a\nB\nc\n"])
    assert [(v.members, v.text) for v in places[0].variants] == [((0, 2), "B\n"), ((1,), "b\n")]
    assert (places[0].lo, places[0].hi, places[0].agree, places[0].unchanged) == (1, 2, 2, 1)


def test_an_edit_of_the_line_between_two_places_belongs_to_neither():
    ruler = Ruler.between("1\n2\n3\n", "1\nnew\n3\n")
    assert ruler.span(0, 1) == (0, 1)
    assert ruler.span(2, 3) == (2, 3)


def test_what_is_typed_beside_a_place_is_no_part_of_it():
    ruler = Ruler.between("1\n2\n", "1\nnew\n2\n")
    assert ruler.span(0, 1) == (0, 1)
    assert ruler.span(1, 2) == (2, 3)
    assert ruler.span(1, 1) == (2, 2)
    assert ruler.cover(1, 1) == (1, 2)


def _lines(text: str) -> list[str]:
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _growth(place: Place) -> int:
    return len(_lines(variant_of(place, 0))) - (place.hi - place.lo)
