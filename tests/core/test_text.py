"""Decoding, normalising and lines: the one place where a line ends (section 1)."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise.errors import BinaryTextError, ExciseError, UndecodableTextError
from excise.text import (
    WHITE,
    decode,
    line_key,
    normalise,
    raw_lines,
    strip_blank,
)

TEXTS = st.text(st.sampled_from("ab \t\n\r\f\v\x85\u2028\ufeffé😀\ud800"), max_size=30)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("", ""),
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("\r\r\n\n", "\n\n\n"),
        ("\ufeffa\ufeff", "a\ufeff"),
        ("a\x0cb\x0bc\x85d\u2028e", "a\x0cb\x0bc\x85d\u2028e"),
        ("a  \n\n", "a  \n\n"),
    ],
)
def test_normalise(text, normal):
    assert normalise(text) == normal


@given(TEXTS)
def test_a_normal_text_has_one_kind_of_line_end_and_its_own_characters(text):
    normal = normalise(text)
    assert "\r" not in normal
    if not normal.startswith("\ufeff"):
        assert normalise(normal) == normal
    crlf = normal.replace("\n", "\r\n")
    assert normalise(crlf) == normalise(normal)
    assert normal.replace("\n", "") == text.removeprefix("\ufeff").translate({10: "", 13: ""})


@given(TEXTS.map(normalise))
def test_raw_lines_are_the_text_cut_at_line_ends(text):
    lines = raw_lines(text)
    assert "".join(lines) == text
    assert all(lines)
    assert all("\n" not in line[:-1] for line in lines)
    assert all(line.endswith("\n") for line in lines[:-1])


def test_nothing_after_the_final_line_end_is_a_line():
    assert raw_lines("") == []
    assert raw_lines("a\n") == ["a\n"]
    assert raw_lines("\n") == ["\n"]
    assert raw_lines("a\x0cb\x85c\u2028d") == ["a\x0cb\x85c\u2028d"]


def test_a_line_key_is_the_line_without_trailing_white_space():
    assert line_key(f" a b{WHITE}") == " a b"
    assert line_key(WHITE) == ""
    assert line_key("a\xa0") == "a\xa0"
    assert line_key("a\x85\u2028") == "a\x85\u2028"


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("", ""),
        ("\n\n", ""),
        (" \t\n", ""),
        ("a", "a"),
        ("a \t", "a"),
        ("a\n", "a\n"),
        ("a\n  ", "a\n"),
        ("a\n\n\n", "a\n"),
        ("\n a\x0c\n\x0b\nb\xa0\n", " a\nb\xa0\n"),
    ],
)
def test_strip_blank(text, bare):
    assert strip_blank(text) == bare


@given(TEXTS.map(normalise))
def test_strip_blank_keeps_the_keys(text):
    bare = strip_blank(text)
    assert [line_key(line) for line in raw_lines(bare)] == [
        key for line in raw_lines(text) if (key := line_key(line))
    ]
    assert strip_blank(bare) == bare


@pytest.mark.parametrize(
    "data",
    [
        "é😀\n".encode(),
        codecs.BOM_UTF8 + "é😀\n".encode(),
        codecs.BOM_UTF16_LE + "é😀\n".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "é😀\n".encode("utf-16-be"),
        codecs.BOM_UTF32_LE + "é😀\n".encode("utf-32-le"),
        codecs.BOM_UTF32_BE + "é😀\n".encode("utf-32-be"),
    ],
)
def test_a_byte_order_mark_names_the_encoding(data):
    assert normalise(decode(data)) == "é😀\n"


def test_decode_by_a_named_encoding():
    assert decode(b"\xe9", "latin-1") == "é"
    assert normalise(decode(codecs.BOM_UTF8 + b"a", "utf-8")) == "a"


@pytest.mark.parametrize(
    ("data", "encoding", "words"),
    [
        (b"ab\xff", None, "not utf-8: byte 0xff at offset 2"),
        (codecs.BOM_UTF16_LE + b"a", None, "not utf-16"),
        (b"\xff", "ascii", "not ascii: byte 0xff at offset 0"),
        (b"a", "klingon", "unknown encoding 'klingon'"),
        (b"a", "base64", "unknown encoding 'base64'"),
        (b"a", "utf\0", "unknown encoding"),
        (b"xn--a" * 20, "idna", "not idna"),
    ],
)
def test_what_does_not_decode_says_why(data, encoding, words):
    with pytest.raises(UndecodableTextError, match=words) as caught:
        decode(data, encoding)
    assert isinstance(caught.value, ExciseError)


def test_a_nul_is_no_text():
    with pytest.raises(BinaryTextError, match="NUL character at offset 1"):
        decode(b"a\0b")


@given(st.binary(max_size=40))
def test_decode_is_total(data):
    try:
        text = decode(data)
    except ExciseError:
        return
    assert "\0" not in text
