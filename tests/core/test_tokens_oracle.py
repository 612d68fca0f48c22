"""The walk and the writer give the stream of the definition, as tests/reference/tokens reads it."""

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests import archive
from tests.core.test_syntax import TEXTS
from tests.reference import tokens as reference
from tests.reference.budget import examples

from excise import languages, syntax
from excise.errors import Unparsable

CASES = Path(__file__).parents[1] / "cases"
SOURCES = {path.stem: next(iter(archive.read(path).items())) for path in CASES.glob("tokens/*.txt")}
LINES = archive.read(CASES / "strings" / "lines.txt")
STRINGS = archive.read(CASES / "strings" / "told.txt")


def agree(text: str, grammar: str) -> None:
    tree = syntax.parse(text, grammar)
    found = syntax.tokens_of(text, tree, grammar)
    rows = list(zip(found.tokens, found.lines, found.starts, found.ends, strict=True))
    assert rows == reference.tokens(text, tree, grammar)


@pytest.mark.parametrize("case", SOURCES)
def test_cases_of_tokens(case):
    name, text = SOURCES[case]
    agree(text, languages.resolve(None, name))


@pytest.mark.parametrize("grammar", STRINGS)
def test_cases_of_strings(grammar):
    for white in (" ", "  ", "\t", "\n "):
        agree(STRINGS[grammar].replace("␣", white).replace("␠", " ").replace("␉", " "), grammar)


@pytest.mark.parametrize("grammar", LINES)
def test_cases_of_empty_lines(grammar):
    for lines in ("", "\n", "\n\n", "\n \n\n"):
        agree(LINES[grammar].replace("¶", lines), grammar)


@pytest.mark.slow
@examples(600)
@given(st.sampled_from(languages.names()), TEXTS)
def test_random_texts_of_any_grammar(grammar, text):
    try:
        agree(text, grammar)
    except Unparsable:
        assume(False)


@pytest.mark.slow
@examples(300)
@given(st.data(), st.sampled_from(sorted(STRINGS)))
def test_texts_with_strings_cut_and_filled(data, grammar):
    """A part of a text of that language, so that the tree is rich; white space of any kind."""
    text = STRINGS[grammar].replace("␠", " ")
    low = data.draw(st.integers(0, len(text)))
    high = data.draw(st.integers(low, len(text)))
    whites = st.sampled_from([" ", "  ", "\t", "\n", "\n\n  ", "'", '"', "é "])
    parts = text[low:high].replace("␉", "␣").split("␣")
    filled = parts[0] + "".join(data.draw(whites) + part for part in parts[1:])
    try:
        agree(filled, grammar)
    except Unparsable:
        assume(False)
