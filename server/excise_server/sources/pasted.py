"""A pasted version of one document: a whole file, pieces of it, a fenced block or a diff. Pure.

Nothing is guessed: a piece that does not begin and end with lines which the document has once, or a
diff whose lines are not the document's, is refused with the reason. A diff need not name the text
that it was made from, so only the lines in its hunks prove the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from excise.patches import FilePair, PatchError, apply, read
from excise.text import normalise, raw_lines
from excise_server.foundation.changes import LINK, SUBMODULE
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError, check_text
from excise_server.review.names import common_start

Kind = Literal["file", "fence", "patch", "piece"]

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^`\n]*)$", re.MULTILINE)
_DIFF = re.compile(r"^(diff --git |Index: |--- [^\n]*\n\+\+\+ |@@ -\d+(,\d+)? \+\d+)", re.MULTILINE)
_MAIL = re.compile(r"\AFrom [0-9a-f]{7,64} |\A(From|Subject|Date|Message-ID): ", re.IGNORECASE)
_WORDS = "rest|remaining|existing|unchanged|other|same|previous|snip|omitted"
_DOTS = r"(\.\.\.|…)"
_ELISION = re.compile(
    rf"^\s*(#|//|--|;|%|/\*|<!--)\s*({_DOTS}\s*(\*/|-->)?|{_DOTS}.*\b({_WORDS})\b.*|"
    rf".*\b({_WORDS})\b.*{_DOTS}\s*(\*/|-->)?)$",
    re.IGNORECASE,
)
_LEAST_SHARED = 0.25
"""The least share of a document's lines in a version of it. A text with less is refused."""

_FEW = 4
"""The most lines of a document of which any text may be a version."""


_ANCHORS = 20
"""The most lines from an end of a piece that say where that is."""


@dataclass(frozen=True, slots=True)
class Pasted:
    """The whole text of a candidate, the form in which it was pasted, its label, and notes."""

    kind: Kind
    text: str
    label: str
    notes: tuple[str, ...]


def pasted(origin: str, text: str, path: str) -> Pasted:
    """Return the version of a document that a pasted text is, or results in as a diff.

    Raises SourceError if it is not a version of the document, or does not apply to it.

    - ``path``: its path, by which a diff of several files is read.
    """
    text = normalise(check_text(text))
    if not text.strip():
        raise SourceError("it is empty")
    if not _has_own_fences(normalise(origin), text) and (inner := _fenced(text)) is not None:
        version = _read(origin, inner, path)
        return replace(version, kind="fence") if version.kind == "file" else version
    return _read(origin, text, path)


def _read(origin: str, text: str, path: str) -> Pasted:
    if _MAIL.search(text) or (_DIFF.search(text) and not _DIFF.search(normalise(origin))):
        try:
            return patched(origin, text, path)
        except PatchError as error:
            raise SourceError(str(error)) from error
    if origin.endswith("\n") and not text.endswith("\n"):
        text += "\n"  # text copied from a chat ends without one
    return _placed(normalise(origin), text) or Pasted("file", text, "", ())


def _has_own_fences(origin: str, text: str) -> bool:
    """Whether the fences are the document's own: it has some, and both begin with the same line."""
    first, own_first = (lines.lstrip("\n").partition("\n")[0] for lines in (text, origin))
    return first == own_first and _FENCE.search(origin) is not None


def _fenced(text: str) -> str | None:
    """Return the content of the only fenced block of a text, or None without any.

    Raises SourceError if there are several, because it is unclear which one is meant.
    """
    blocks: list[str] = []
    end = 0
    while (opening := _FENCE.search(text, end)) is not None:
        mark = re.escape(opening[1][0]) + f"{{{len(opening[1])},}}"
        closing = re.compile(rf"^ {{0,3}}{mark}[ \t]*$", re.MULTILINE).search(
            text, opening.end() + 1
        )
        if closing is None:
            if not blocks:
                return None  # an unclosed fence is part of the text
            break
        blocks.append(text[opening.end() + 1 : closing.start()])
        end = closing.end()
    if len(blocks) > 1:
        raise SourceError(f"it has {len(blocks)} fenced blocks", hint="paste only the one you mean")
    return blocks[0] if blocks else None


def _placed(origin: str, text: str) -> Pasted | None:
    """Put pieces of a document where they belong; None for a version of the whole document.

    Raises SourceError if an end of a piece is nowhere in the document, or in several places.
    """
    before, after = raw_lines(origin), raw_lines(text)
    known = {line.strip() for line in before}
    old = known - {""}
    shared = len(old & {line.strip() for line in after})
    marks = [
        number
        for number, line in enumerate(after)
        if line.strip() not in known and _ELISION.match(line.rstrip("\n"))
    ]
    if not marks and (len(old) <= _FEW or shared >= _LEAST_SHARED * len(old)):
        return None
    made, notes, done = list[str](), list[str](), 0
    for start, stop in pairwise([-1, *marks, len(after)]):
        numbers = [number for number in range(start + 1, stop) if after[number].strip()]
        if not numbers:
            continue
        lo, hi = numbers[0], numbers[-1] + 1
        try:
            first = _anchor(before, done, after[lo:hi], 1)
            last = _anchor(before, first, after[lo:hi][::-1], -1)
        except SourceError as error:
            is_one = "it is a piece of the document, or another text"
            if marks:
                is_one = f"line {marks[0] + 1} stands for omitted lines"
            hint = "begin and end each piece with lines of the document, or paste the whole file"
            raise SourceError(f"{is_one}: {error.reason}", hint=hint) from error
        made += [*before[done:first], *after[lo:hi]]
        if last + 1 < len(before) and not made[-1].endswith("\n"):
            made.append("\n")
        notes.append(f"placed at lines {first + 1} to {last + 1}")
        done = last + 1
    return Pasted("piece", "".join([*made, *before[done:]]), "", tuple(notes))


def _anchor(before: Sequence[str], least: int, lines: Sequence[str], step: Literal[1, -1]) -> int:
    """Return the only line of a document, not before `least`, at which a piece begins or ends.

    Raises SourceError if there is none, or several that all lines inside do not tell apart.

    - ``lines``: those of the piece, from this end on.
    """
    places: Sequence[int] = range(least, len(before))
    for number, line in enumerate(lines[:_ANCHORS]):
        wider = [
            place
            for place in places
            if least <= (other := place + step * number) < len(before)
            and before[other].rstrip() == line.rstrip()
        ]
        if len(wider) == 1:
            return wider[0]
        if not wider:
            break
        places = wider
    shown = f"its line {printable(lines[0].strip())[:60]!a}"
    if isinstance(places, range):
        raise SourceError(f"{shown} is not in the document")
    raise SourceError(f"{shown} may be line {places[0] + 1} or {places[1] + 1} of the document")


def patched(origin: str, patch: str, path: str) -> Pasted:
    """Apply the part of a patch that is about a document: a diff, a mail, a series of mails.

    Raises SourceError if the patch cannot be read, or is not about the document. Raises
    excise.patches.PatchError if it does not apply.

    - ``path``: its path. The file of the patch with the longest common end is used, or the only
      one.
    """
    messages = read(normalise(check_text(patch)).encode(), as_utf8=True)
    for message in messages:
        if message.error:
            raise SourceError(message.error)
    text = normalise(origin).encode()
    notes: list[str] = []
    for pair in _about(path, [pair for message in messages for pair in message.patch.files]):
        if {pair.old_mode, pair.new_mode} & {LINK, SUBMODULE}:
            raise SourceError("a link or a submodule, not a text file")
        applied = apply(pair, None if pair.old is None else text)
        if applied.text is None:
            raise SourceError("it deletes the file")
        text = applied.text
        notes += _moved(applied.offsets)
    subject = next((message.subject for message in messages if message.patch.files), "")
    return Pasted("patch", text.decode("utf-8", "replace"), subject, tuple(notes))


def _about(path: str, pairs: Sequence[FilePair]) -> list[FilePair]:
    """Return what a patch does to a document, in its order."""
    if not pairs:
        raise SourceError("it contains no unified diff")
    names = {pair.path for pair in pairs}
    if len(names) == 1:
        return list(pairs)
    ends = [[(name or "").split("/")[::-1] for name in (pair.old, pair.new)] for pair in pairs]
    own = path.split("/")[::-1]
    common = [max(common_start(own, end) for end in both) for both in ends]
    chosen = [pair for pair, parts in zip(pairs, common, strict=True) if parts == max(common)]
    name = path.rpartition("/")[2]
    if not max(common):
        raise SourceError(f"it does not change {name}")
    if len({pair.path for pair in chosen}) > 1:
        raise SourceError(f"it changes several files called {name}")
    return chosen


def _moved(offsets: Sequence[int]) -> Iterator[str]:
    for number, offset in enumerate(offsets, start=1):
        if offset:
            lines = "1 line" if abs(offset) == 1 else f"{abs(offset)} lines"
            where = "down" if offset > 0 else "up"
            yield f"hunk {number} applied {lines} further {where} than it says"
