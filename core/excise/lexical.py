"""Lexical tokens: what a text without a grammar is made of (definition, section 1)."""

from __future__ import annotations

import re

from excise.text import TokenList

# A word, or any other character that is not white space (`excise.text.WHITE`) on its own.
WORD = r"[0-9A-Za-z_\x80-\U0010ffff]+"
_TOKEN = re.compile(rf"{WORD}|[^ \t\n\v\f\r]")
_WORDS = re.compile(WORD)


def tokenise(text: str) -> TokenList:
    r"""Split a normalised text into words and single characters, without white space.

    ``[0-9A-Za-z_]`` and all non-ASCII characters form words; every other character that is not
    white space stands alone. A word never spans lines, because a line end is white space.

    - ``text``: a text as `excise.text.normalise` returns it.

    Returns: parallel lists, one entry per token; ``has_errors`` is always False.

    Definition, section 1 ("No grammar ..."): the signature calls this tokeniser ``lexical``.

    >>> tokenise("naïve_1 += f(x)\n").tokens
    ['naïve_1', '+', '=', 'f', '(', 'x', ')']
    """
    tokens = TokenList()
    start = 0
    for number, line in enumerate(text.split("\n")):
        for match in _TOKEN.finditer(line):
            tokens.tokens.append(match.group())
            tokens.lines.append(number)
            tokens.starts.append(start + match.start())
            tokens.ends.append(start + match.end())
        start += len(line) + 1
    return tokens


def words(text: str) -> list[str]:
    """Return the same tokens without their places.

    >>> words("a+b")
    ['a', '+', 'b']
    """
    return _TOKEN.findall(text)


def only_words(text: str) -> list[str]:
    """Return those of the tokens that are words.

    >>> only_words("if (a + b1) {")
    ['if', 'a', 'b1']
    """
    return _WORDS.findall(text)


def count_words(text: str) -> int:
    """Return how many of the tokens are words.

    >>> count_words("if (a + b1) {")
    3
    """
    return len(_WORDS.findall(text))
