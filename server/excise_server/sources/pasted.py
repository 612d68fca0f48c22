"""A pasted version of one document: a whole file, a fenced block or a diff. Pure.

Nothing is guessed: a piece of a file, a text in which lines stand for others, or a diff whose lines
are not the document's is refused with the reason. A diff need not name the text that it was made
from, so only the lines in its hunks prove the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from excise.patches import FilePair, PatchError, apply, read
from excise.text import normalise, raw_lines
from excise_server.foundation.changes import LINK, SUBMODULE
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError, check_text
from excise_server.review.names import common_start

Kind = Literal["file", "fence", "patch"]

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
    _check_whole(normalise(origin), text)
    if origin.endswith("\n") and not text.endswith("\n"):
        text += "\n"  # text copied from a chat ends without one
    return Pasted("file", text, "", ())


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


def _check_whole(origin: str, text: str) -> None:
    """Refuse a text that is not a version of the whole document."""
    before, after = raw_lines(origin), raw_lines(text)
    origin_lines = {line.strip() for line in before}
    for number, line in enumerate(after, start=1):
        if line.strip() not in origin_lines and _ELISION.match(line.rstrip("\n")):
            shown = printable(line.strip())[:60]
            raise SourceError(
                f"line {number}, {shown!a}, stands for omitted lines",
                hint="paste the whole file, or a diff",
            )
    old = origin_lines - {""}
    shared = len(old & {line.strip() for line in after})
    if len(old) > _FEW and shared < _LEAST_SHARED * len(old):
        raise SourceError(
            f"it has {shared} of the {len(old)} lines of the document: it is a piece of it, or "
            "another text",
            hint="paste the whole file, or a diff",
        )


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
