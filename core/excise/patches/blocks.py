"""Hunks of two texts, and the change blocks of hunks, aligned again canonically (section 8).

A diff tool's own alignment is not canonical: two tools cut the same edit in different places.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from excise.alignment import Edits
from excise.kernels._lcs import edits
from excise.lexical import WORD, only_words
from excise.patches.model import FilePair, Hunk
from excise.text import WHITE
from excise.tokens import Vocabulary

CONTEXT_LONGER_THAN = 3
"""Characters above which a stripped context line tells something about its file."""

AROUND = 3
"""Lines before a block, and behind it, that say where it stands."""

CONTEXT = 3
"""Lines before and behind the edits of a hunk, as git writes it."""

Span = tuple[int, int, int, int]

_HEADING = re.compile(rb"[A-Za-z_$]")
_LONGEST_HEADING = 80
_GROUP = re.compile(rf"(?<!{WORD[:-1]})(func|pub)[{WHITE}]*\([^()]*\)")
_UP_TO_NAME = re.compile(rf"(?:{WORD}|::|[*&~.${WHITE}])+")
_BEGINS = re.compile(r"[A-Za-z_$}]")
_PARAMETERS = re.compile(rf"(?:<[^<>()]*>|\[[^\[\]()]*\])?[{WHITE}]*\(")
_TYPES = frozenset({"class", "interface", "record"})
_DEFINING = (["def"], ["fn"], ["fun"], ["func"], ["function"], ["sub"])


@dataclass(frozen=True, slots=True)
class Block:
    """A maximal run of lines that a patch deletes and inserts.

    ``line`` is the first deleted line of the old file (or the line before which the new ones go),
    from 1. ``around`` are the nearest lines of the hunk's old image that are not blank, stripped:
    up to three before the block and three behind it. ``beside`` are the nearest one of either side,
    as they are; "" where the hunk has none. ``function`` is the name of the function that
    it is in: the one in the last line above it in the hunk that could be a heading for git, else
    the one in the heading; "" if that is not known, as behind a line that begins with ``}``.
    """

    pair: FilePair
    hunk: Hunk
    line: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    around: tuple[str, ...]
    beside: tuple[str, str]
    function: str

    @property
    def heading(self) -> str:
        """The heading of its hunk, decoded, usually a function."""
        return text_of([self.hunk.heading])[0]


def hunks_between(old: bytes, new: bytes, spans: Iterable[Span]) -> Iterator[Hunk]:
    """Yield the hunks of two texts as git writes them, with three lines of context and a heading.

    - ``spans``: the runs of lines that differ, in order: from and to (exclusive) in both texts.
    """
    texts = old.split(b"\n"), new.split(b"\n")
    n_old, n_new = (len(lines) - (not lines[-1]) for lines in texts)
    groups: list[list[Span]] = []
    for span in spans:
        if groups and span[0] - groups[-1][-1][1] <= 2 * CONTEXT:
            groups[-1].append(span)
        else:
            groups.append([span])
    heading, above = b"", 0
    for group in groups:
        first, last = group[0], group[-1]
        o_lo = max(first[0] - CONTEXT, 0)
        o_hi = min(last[1] + CONTEXT, n_old)
        a_lo, a_hi = first[2] - (first[0] - o_lo), last[3] + (o_hi - last[1])
        for line in texts[0][above:o_lo]:
            if _HEADING.match(line):
                heading = line[:_LONGEST_HEADING].rstrip()
        above = at = o_lo
        shown: list[bytes] = []
        for o_start, o_stop, a_start, a_stop in group:
            shown += [b" " + line for line in texts[0][at:o_start]]
            shown += [b"-" + line for line in texts[0][o_start:o_stop]]
            shown += [b"+" + line for line in texts[1][a_start:a_stop]]
            at = o_stop
        shown += [b" " + line for line in texts[0][at:o_hi]]
        yield Hunk(
            o_lo + (o_hi > o_lo),
            a_lo + (a_hi > a_lo),
            b"\n".join(shown),
            line=0,
            old_open=o_lo < o_hi == n_old and bool(texts[0][-1]),
            new_open=a_lo < a_hi == n_new and bool(texts[1][-1]),
            heading=heading,
        )


def text_of(lines: Sequence[bytes]) -> list[str]:
    """Decode lines, each as UTF-8 or else as latin-1, so that equal lines are equal texts."""
    try:
        return b"\n".join(lines).decode().split("\n") if lines else []
    except UnicodeDecodeError:
        return [_decoded(line) for line in lines]


def _decoded(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def function_in(line: str) -> str:
    """Return the name of the function that a line or a heading begins, or "" if it begins none.

    It is the last word in front of a list of parameters, or the one behind a word such as ``def``
    (docs/algorithm.md).

    >>> [function_in(line) for line in ("static int *pull(struct conn *c)", "def pull(self, n):")]
    ['pull', 'pull']
    >>> function_in("func (c *Conn) Pull(n int) error {"), function_in("pub fn pull<T: Read>(x: T)")
    ('Pull', 'pull')
    >>> [function_in(line) for line in ("class Pool(Base):", "struct conn {", "out:")]
    ['', '', '']
    """
    # Parentheses may also hold a receiver (Go) or a visibility (Rust): skip those.
    bare = _GROUP.sub(r"\1 ", line)
    first = re.search(WORD, bare)
    if first is None or (run := _UP_TO_NAME.match(bare, first.start())) is None:
        return ""
    *before, name = only_words(run.group())
    has_parameters = _PARAMETERS.match(bare, run.end()) and _TYPES.isdisjoint(before)
    return name if has_parameters or before[-1:] in _DEFINING else ""


def images(hunk: Hunk) -> tuple[list[str], list[str]]:
    """Return the lines of the old and of the new image, without line ends."""
    lines = text_of(hunk.lines)
    old = [line[1:] for line in lines if line[:1] != "+"]
    new = [line[1:] for line in lines if line[:1] != "-"]
    return old, new


def blocks_of(pair: FilePair, vocabulary: Vocabulary, *, raw: bool = False) -> Iterator[Block]:
    r"""Yield the blocks of a file, in order.

    Lines are aligned by their keys; blank lines have none and end no block. With `raw` a line is
    its text, line end included (``\r\n`` is one), and every line is aligned: guard 2.
    """
    for hunk in pair.hunks:
        old, new = images(hunk)
        solid = _solid(old)
        if raw:
            old, new = _ended(old, hunk.old_open), _ended(new, hunk.new_open)
            aligned: tuple[Sequence[int], Sequence[int]] = range(len(old)), range(len(new))
            flat = edits(vocabulary.intern(old), vocabulary.intern(new))
        else:
            aligned = solid, _solid(new)
            keys = ([lines[at].rstrip(WHITE) for at in places]
                    for lines, places in zip((old, new), aligned, strict=True))  # fmt: skip
            flat = edits(*map(vocabulary.intern, keys))
        function, seen = function_in(text_of([hunk.heading])[0]), 0
        for edit in Edits(flat):
            o, a = aligned[0][edit.o_lo : edit.o_hi], aligned[1][edit.a_lo : edit.a_hi]
            start = aligned[0][edit.o_lo] if edit.o_lo < len(aligned[0]) else len(old)
            for line in old[seen:start]:
                if _BEGINS.match(line):
                    function = function_in(line)
            seen = start
            stop = o[-1] + 1 if o else start
            before, behind = bisect_left(solid, start), bisect_left(solid, stop)
            above = [old[place] for place in solid[max(before - AROUND, 0) : before]]
            below = [old[place] for place in solid[behind : behind + AROUND]]
            yield Block(
                pair,
                hunk,
                hunk.old_start + start,
                tuple([old[place] for place in o]),
                tuple([new[place] for place in a]),
                tuple([line.strip(WHITE) for line in (*above, *below)]),
                (above[-1] if above else "", below[0] if below else ""),
                function,
            )


def _solid(lines: Sequence[str]) -> list[int]:
    return [at for at, line in enumerate(lines) if line.rstrip(WHITE)]


def context_of(pair: FilePair) -> list[str]:
    """Return the context lines that say something, stripped."""
    lines = [line[1:] for hunk in pair.hunks for line in hunk.lines if line[:1] == b" "]
    found = (line.strip(WHITE) for line in text_of(lines))
    return [line for line in found if len(line) > CONTEXT_LONGER_THAN]


def _ended(lines: list[str], is_open: bool) -> list[str]:
    ended = [f"{line.removesuffix(chr(13))}\n" for line in lines]
    if is_open and ended:
        ended[-1] = ended[-1][:-1]
    return ended
