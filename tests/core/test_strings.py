"""White space in strings tells texts apart, and outside strings it does not, whatever the grammar.

The archives mark white space: ``␣`` in a string, ``␉`` alone in a character literal, ``␠`` outside,
``¶`` where an empty line of a text may stand.
"""

from pathlib import Path

import pytest
from tests import archive

from excise import languages, level, similarity, syntax

CASES = Path(__file__).parents[1] / "cases" / "strings"
TOLD = archive.read(CASES / "told.txt")
LINES = archive.read(CASES / "lines.txt")
HIDDEN = archive.read(CASES / "hidden.txt")
IN_STRING, CHARACTER, OUTSIDE = "␣␉␠"
WAYS = {IN_STRING: (" ", "  ", "\t"), CHARACTER: (" ", "\t"), OUTSIDE: (" ", "   ")}
UNMARKED = str.maketrans(dict.fromkeys(WAYS, " "))


def streams(text: str, place: int, grammar: str) -> set[tuple[str, ...]]:
    """Tokenise with every white space at one mark, and one space at all others."""
    before, after = text[:place].translate(UNMARKED), text[place + 1 :].translate(UNMARKED)
    ways = (before + white + after for white in WAYS[text[place]])
    return {tuple(syntax.tokenise(way, grammar).tokens) for way in ways}


@pytest.mark.parametrize("grammar", TOLD)
def test_white_space_counts_in_strings_and_nowhere_else(grammar):
    text = TOLD[grammar]
    marks = [(place, mark) for place, mark in enumerate(text) if mark in WAYS]
    assert {mark for _, mark in marks} & {IN_STRING, CHARACTER}
    for place, mark in marks:
        told = len(streams(text, place, grammar))
        where = f"{text[:place]}<here>{text[place:]}"
        assert told == (1 if mark == OUTSIDE else len(WAYS[mark])), where


@pytest.mark.parametrize("grammar", TOLD)
def test_the_literals_are_read_as_such(grammar):
    assert not syntax.tokenise(TOLD[grammar].translate(UNMARKED), grammar).has_errors


@pytest.mark.parametrize("grammar", LINES)
def test_an_empty_line_in_a_text_counts(grammar):
    *parts, last = LINES[grammar].split("¶")
    assert parts
    for place in range(len(parts)):
        before, after = "".join(parts[: place + 1]), "".join([*parts[place + 1 :], last])
        ways = [before + "\n" * lines + after for lines in range(3)]
        assert len({tuple(syntax.tokenise(way, grammar).tokens) for way in ways}) == 3
        assert not syntax.tokenise(ways[1], grammar).has_errors
        for a, b in (ways[:2], ways[1:]):
            assert level("", a, b, language=grammar) is None
            assert similarity(origin=last, a=a, b=b, language=grammar).value < 1


@pytest.mark.parametrize("case", HIDDEN)
def test_what_is_hidden_is_known(case):
    """Where this fails the grammar has learnt it: the case moves to the others."""
    text, grammar = HIDDEN[case], case.partition(":")[0]
    assert not syntax.tokenise(text.translate(UNMARKED), grammar).has_errors
    for place in (place for place, mark in enumerate(text) if mark in WAYS):
        assert len(streams(text, place, grammar)) == 1


def test_every_hidden_case_is_documented():
    page = (Path(__file__).parents[2] / "docs" / "algorithm.md").read_text("utf-8")
    for case in HIDDEN:
        grammar, _, reason = case.partition(": ")
        assert f"| {grammar} | {reason} |" in page


def test_at_least_sixty_languages():
    assert len(TOLD) >= 60
    assert len(LINES) >= 40
    assert set(TOLD) <= set(languages.names())
