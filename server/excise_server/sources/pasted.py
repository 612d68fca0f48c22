"""A pasted version of one document: a whole file, a fenced block or a diff. Pure.

Nothing is guessed: a piece of a file, a text in which lines stand for others, or a diff whose lines
are not the document's is refused with the reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from excise.patches import PatchError
from excise.text import normalise, raw_lines
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError, check_text
from excise_server.sources.patched import patched

__all__ = ["Pasted", "pasted"]

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

    Parameters
    ----------
    origin
        The text of the document.
    path
        Its path, by which a diff of several files is read.

    Raises
    ------
    SourceError
        If it is not a version of the document, or does not apply to it.
    """
    text = normalise(check_text(text))
    if not text.strip():
        raise SourceError("it is empty")
    if not _has_own_fences(normalise(origin), text) and (inner := _fenced(text)) is not None:
        version = _read(origin, inner, path)
        return Pasted(
            "fence" if version.kind == "file" else version.kind,
            version.text,
            version.label,
            version.notes,
        )
    return _read(origin, text, path)


def _read(origin: str, text: str, path: str) -> Pasted:
    if _MAIL.search(text) or (_DIFF.search(text) and not _DIFF.search(normalise(origin))):
        try:
            version = patched(origin, text, path)
        except PatchError as error:
            raise SourceError(str(error)) from error
        return Pasted("patch", version.text, version.label, version.notes)
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

    Raises
    ------
    SourceError
        If there are several, because it is unclear which one is meant.
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
