"""Texts without a grammar, read by lines: the same tokens and lines as one regular expression."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise import ScoreMatrix, Tokens
from excise.alignment import units_of
from excise.kernels._lexer import Lexer, token_lines
from excise.preparation import prepare
from excise.signature import Options
from excise.text import normalise
from excise.tokens import Lines, Vocabulary, lexical_lines, lines_of, stream

CHARS = st.sampled_from(
    "aZ_09 \t\n\r\f\v.+-'#\0\x1c\x1f\x7f\x80\x85\xa0é\u0301\u2028\ufeff😀\ud800\udc00"
)
ANY = st.text(st.one_of(CHARS, st.characters(exclude_categories=[])), max_size=60)
FEW = st.lists(st.sampled_from(["a b", "a b  ", "", " ", "x(1)", "\tx (1)", "é\ud83d", "#"]))
TEXTS = st.one_of(ANY, FEW.map("\n".join)).map(normalise)


def both(texts: list[str], *, alone: bool = True) -> list[tuple[Lines, Lines]]:
    """Read texts of one origin by the lexer, and by the definition."""
    vocabulary, slow = Vocabulary(), Vocabulary()
    lexer = Lexer(vocabulary, alone=alone)
    found = [(lexical_lines(text, lexer), lines_of(stream(text, None), slow)) for text in texts]
    lexer.share()
    for text, (lines, _) in zip(texts, found, strict=True):
        assert vocabulary.intern(stream(text, None).tokens) == lines.tokens
    return found


def same_names(ours: list[int], theirs: list[int]) -> None:
    """Equal names on one side are equal names on the other."""
    assert len(ours) == len(theirs)
    assert len(set(zip(ours, theirs, strict=True))) == len(set(ours)) == len(set(theirs))


@given(st.lists(TEXTS, min_size=1, max_size=4), st.booleans())
def test_the_lexer_reads_what_the_definition_says(texts, alone):
    found = both(texts, alone=alone)
    for ours, theirs in found:
        assert ours.first == theirs.first
        assert [name < 0 for name in ours.ids] == [name < 0 for name in theirs.ids]
    sides = list(zip(*found, strict=True))
    for field in ("tokens", "ids"):
        same_names(*([name for own in side for name in getattr(own, field)] for side in sides))


@given(st.lists(TEXTS, min_size=2, max_size=3))
def test_lines_are_aligned_by_the_same_units(texts):
    vocabulary, slow = Vocabulary(), Vocabulary()
    sides = [
        (units_of(ours, "line", vocabulary), units_of(theirs, "line", slow))
        for ours, theirs in both(texts)
    ]
    for ours, theirs in sides:
        assert ours.starts == theirs.starts
        assert ours.token_lines() == theirs.token_lines()
        assert ours.kept is None
        assert theirs.kept.tolist() == list(range(len(ours.tokens)))
    same_names(*([name for own in side for name in own.units] for side in zip(*sides, strict=True)))


@given(TEXTS)
def test_lines_with_tokens_are_numbered_without_gaps(text):
    [(ours, _)] = both([text])
    numbers = token_lines(ours.first, ours.tokens, ours.ids, -1).tolist()
    assert numbers == sorted(numbers)
    assert sorted(set(numbers)) == list(range(len(set(numbers))))
    lines = stream(text, None).lines
    assert [a == b for a, b in pairwise(numbers)] == [a == b for a, b in pairwise(lines)]


@given(TEXTS, st.data())
def test_a_part_of_a_text_is_that_part_of_its_stream(text, data):
    [text_read] = prepare(["", text], Options(), None, None)[1]
    whole = stream(text, None)
    places = st.integers(0, len(whole.tokens))
    start, stop = sorted((data.draw(places), data.draw(places)))
    part = text_read.located(start, stop)
    for field in ("tokens", "lines", "starts", "ends"):
        assert list(getattr(part, field)) == list(getattr(whole, field)[start:stop])


@pytest.mark.parametrize(("granularity", "size"), [("token", 2), ("nested", 2), ("line", 8)])
def test_a_text_beside_ready_made_sequences(granularity, size):
    """Equal tokens are equal, whoever made them; no line of a text equals one without a text."""
    origin, text = "a b\nc d\n", "a b\nc e\n"
    sequence = Tokens(["a", "b", "c", "e"], [0, 0, 1, 1])
    matrix = ScoreMatrix.from_texts(origin, [text, sequence], granularity=granularity)
    assert matrix.values[0, 1] == 1
    assert matrix.edit_sizes == (4 if granularity == "line" else 2, size)


class Interrupted(Vocabulary):
    """Reads another text whenever a lexer asks for names, as another thread may do then."""

    def __init__(self, texts: list[str]) -> None:
        super().__init__()
        self.waiting, self.found = texts, {}

    def interrupt(self) -> None:
        if self.waiting:
            text = self.waiting.pop()
            self.found[text] = self.lexer.read(text)

    def reserve(self, number: int) -> int:
        self.interrupt()
        return super().reserve(number)

    def intern(self, items):
        self.interrupt()
        return super().intern(items)


@pytest.mark.parametrize("alone", [True, False])
@given(st.lists(TEXTS, min_size=2, max_size=6, unique=True))
def test_texts_that_are_read_at_once(alone, texts):
    """Every line and token keeps its one name."""
    first, *others = texts
    vocabulary = Interrupted(others)
    vocabulary.lexer = lexer = Lexer(vocabulary, alone=alone)
    found = {first: lexer.read(first)}
    found |= {text: lexer.read(text) for text in others} | vocabulary.found
    lexer.share()
    for text, (tokens, _, ids) in found.items():
        assert tokens == vocabulary.intern(stream(text, None).tokens)
        assert ids == lexer.read(text)[2]
