"""Lexical tokens: words, and every other character alone (section 1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise import lexical
from excise.text import WHITE, normalise

TEXTS = st.text(st.sampled_from("aZ_09 \t\n\r\f\v.+-'#\0\x1c\x7f\x80\x85\xa0é\u2028😀\ud800"))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (WHITE, []),
        ("a_1 += 0x2F;", ["a_1", "+", "=", "0x2F", ";"]),
        ("a--b", ["a", "-", "-", "b"]),
        ("it's", ["it", "'", "s"]),
        ("naïve😀x", ["naïve😀x"]),
        ("a\xa0b\x85c\u2028d", ["a\xa0b\x85c\u2028d"]),
        ("\x80\x7f", ["\x80", "\x7f"]),
        ("a\0b\x1cc", ["a", "\0", "b", "\x1c", "c"]),
        ("a\ud800b", ["a\ud800b"]),
        ("a\fb\vc", ["a", "b", "c"]),
    ],
)
def test_tokens(text, tokens):
    assert lexical.tokenise(text).tokens == tokens


def test_places():
    found = lexical.tokenise("é b\n\n (c\n")
    assert found.tokens == ["é", "b", "(", "c"]
    assert found.lines == [0, 0, 2, 2]
    assert found.starts == [0, 2, 6, 7]
    assert found.ends == [1, 3, 7, 8]
    assert not found.has_errors


@given(TEXTS.map(normalise))
def test_no_text_is_lost_and_no_white_space_kept(text):
    found = lexical.tokenise(text)
    assert "".join(found.tokens) == text.translate(dict.fromkeys(map(ord, WHITE)))
    places = zip(found.tokens, found.lines, found.starts, found.ends, strict=True)
    for token, line, start, end in places:
        assert text[start:end] == token
        assert text.count("\n", 0, start) == line
    assert found.lines == sorted(found.lines)


@given(TEXTS.map(normalise))
def test_two_words_are_always_apart(text):
    found = lexical.tokenise(text)
    for at in range(1, len(found.tokens)):
        if found.ends[at - 1] == found.starts[at]:
            pair = found.tokens[at - 1][-1], found.tokens[at][0]
            assert not all(char.isalnum() or char == "_" or char >= "\x80" for char in pair)
