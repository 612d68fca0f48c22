"""What the oracle scores: tokens, each on a line, each line with its key (section 1)."""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

WHITE = " \t\n\v\f\r"


@dataclass(frozen=True)
class Stream:
    """One document: ``lines[i]`` is the line of token i, ``keys[l]`` the key of line l.

    The key of a blank line is None. ``raw`` is the document before tokenising: what guard 1
    compares and what guard 2 scores.
    """

    tokens: Sequence[Hashable]
    lines: Sequence[int]
    keys: Sequence[Hashable | None]
    raw: Sequence[Hashable]

    def keyed_lines(self) -> list[int]:
        """The numbers of the lines that are not blank."""
        return [line for line, key in enumerate(self.keys) if key is not None]

    def tokens_on(self, line: int) -> list[int]:
        """The numbers of the tokens that stand on a line."""
        return [i for i, other in enumerate(self.lines) if other == line]


@dataclass(frozen=True)
class Unit:
    """What is aligned: a token, or a line that is not blank; the tokens it stands for, its line."""

    value: Hashable
    tokens: Sequence[int]
    line: int


def units(stream: Stream, granularity: str) -> list[Unit]:
    """The units of a stream: lines by key at ``line``, else tokens."""
    if granularity == "line":
        return [Unit(stream.keys[n], stream.tokens_on(n), n) for n in stream.keyed_lines()]
    rows = zip(stream.tokens, stream.lines, strict=True)
    return [Unit(token, [i], line) for i, (token, line) in enumerate(rows)]


def given(sequence: Sequence[Hashable], lines: Sequence[int] | None = None) -> Stream:
    """Ready-made tokens: each stands on a line of its own unless lines are given.

    The key of a line is the tuple of its tokens (so that a token None is no blank line).
    Reading: where lines are given, the raw lines of guards 1 and 2 are these tuples.
    """
    if lines is None:
        return Stream(
            list(sequence),
            range(len(sequence)),
            [(token,) for token in sequence],
            list(sequence),
        )
    rows = [
        tuple(token for token, line in zip(sequence, lines, strict=True) if line == number)
        for number in range(max(lines, default=-1) + 1)
    ]
    keys = [row or None for row in rows]
    return Stream(list(sequence), list(lines), keys, rows)


def normalise(text: str) -> str:
    r"""BOM dropped; ``\r\n`` and lone ``\r`` become ``\n``."""
    return re.sub("\r\n?", "\n", re.sub("\\A\ufeff", "", text))


def raw_lines(text: str) -> list[str]:
    r"""Lines with their line end; only ``\n`` ends one, and nothing after the last is a line."""
    return re.findall("[^\n]*\n|[^\n]+", text)


def from_text(text: str, grammar: str | None) -> Stream:
    """A normalised text, tokenised by the library: the one thing that the oracle shares."""
    from excise.tokens import stream

    found = stream(text, grammar)
    keys = [line.rstrip(WHITE) or None for line in raw_lines(text)]
    return Stream(list(found.tokens), list(found.lines), keys, raw_lines(text))
