"""Edits that give the buffer the text of a revision, by lines, not positions. Pure.

A *site* is the current place of a hunk in the buffer. Text that the user typed elsewhere stays.
Where unsaved edits overlap a hunk and lines next to it, it is unclear which lines belong to the
hunk, and nothing is offered.

Laws (property-tested): all variants of A on an unchanged buffer give exactly A's text. A's variant
in one hunk and B's in another compose. Unsaved edits between the hunks stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from excise.text import normalise, raw_lines
from excise_server.editor.analysis import Analysis
from excise_server.editor.places import Site

__all__ = [
    "BlockedError",
    "LineEdit",
    "apply_edits",
    "buffer_lines",
    "line_end",
    "replacing",
    "restate",
]


@dataclass(frozen=True, slots=True)
class LineEdit:
    r"""Lines ``lo`` to ``hi`` (exclusive) of the buffer, and their new text (with ``\n``)."""

    lo: int
    hi: int
    text: str


class BlockedError(Exception):
    """The error for an edit that could destroy typed text. The message says why."""


def buffer_lines(analysis: Analysis) -> list[str]:
    """Return the normalised lines that the editor shows."""
    return raw_lines(normalise(analysis.snapshot.shown))


def shown_at(lines: list[str], site: Site) -> str:
    """Return the current text of a hunk."""
    return "".join(lines[site.lo : site.hi])


def replacing(analysis: Analysis, lines: list[str], index: int, text: str) -> list[LineEdit]:
    """Return the edit that puts a text into a hunk, or nothing if it is there already.

    Raises
    ------
    BlockedError
        If unsaved edits overlap the hunk and lines next to it.
    """
    site = analysis.sites[index]
    if shown_at(lines, site) == text:
        return []
    if site.crossed:
        raise _blocked(site)
    return _joined(lines, [LineEdit(site.lo, site.hi, text)])


def restate(analysis: Analysis, lines: list[str], revision: int) -> list[LineEdit]:
    """Return the edits that give every hunk the text of a revision.

    If the revision leaves the origin's text, and the buffer's text is none of the variants, the
    user typed it, and it stays.

    Raises
    ------
    BlockedError
        If unsaved edits overlap a hunk that would change and lines next to it.
    """
    if revision == analysis.snapshot.own:
        return []
    edits = []
    for hunk, site in analysis.given:
        shown = shown_at(lines, site)
        text = next(v.text for v in hunk.variants if revision in v.members)
        is_typed = text == hunk.text and not any(v.text == shown for v in hunk.variants)
        if shown == text or is_typed:
            continue
        if site.crossed:
            raise _blocked(site)
        edits.append(LineEdit(site.lo, site.hi, text))
    return _joined(lines, edits)


def apply_edits(lines: list[str], edits: Iterable[LineEdit]) -> str:
    """Return the text after the edits, as an editor makes them."""
    lines = list(lines)
    for edit in reversed(list(edits)):
        lines[edit.lo : edit.hi] = [edit.text]
    return "".join(lines)


def line_end(text: str) -> str:
    r"""Return the most frequent line end of a text, the one to write into it.

    >>> line_end("a\r\nb\r\nc\n"), line_end("a\rb"), line_end("a")
    ('\r\n', '\r', '\n')
    """
    windows = text.count("\r\n")
    counts = {"\n": text.count("\n") - windows, "\r\n": windows, "\r": text.count("\r") - windows}
    return max(counts, key=lambda end: counts[end])


def _blocked(site: Site) -> BlockedError:
    return BlockedError(
        f"unsaved edits overlap this hunk at line {site.lo + 1}; save or undo them first"
    )


def _joined(lines: list[str], edits: list[LineEdit]) -> list[LineEdit]:
    """Return the edits without equal lines at their ends, and never two texts on one line.

    Edits that touch become one: clients differ in the order of inserts at one position.
    """
    merged: list[LineEdit] = []
    for edit in edits:
        if merged and merged[-1].hi == edit.lo:
            before = merged.pop()
            edit = LineEdit(before.lo, edit.hi, before.text + edit.text)
        merged.append(edit)
    return [_fitted(lines, edit) for edit in merged]


def _fitted(lines: list[str], edit: LineEdit) -> LineEdit:
    """Return an edit with the line ends that it needs, without unchanged lines at both ends.

    So cursors and marks there stay.
    """
    text = edit.text
    if text and edit.hi < len(lines) and not text.endswith("\n"):
        text += "\n"
    if text and 0 < edit.lo == len(lines) and not lines[-1].endswith("\n"):
        text = f"\n{text}"
    edit = LineEdit(edit.lo, edit.hi, text)
    new, lo, hi = raw_lines(text), edit.lo, edit.hi
    start, stop = 0, len(new)
    while lo < hi and start < stop and lines[lo] == new[start]:
        lo, start = lo + 1, start + 1
    while lo < hi and start < stop and lines[hi - 1] == new[stop - 1]:
        hi, stop = hi - 1, stop - 1
    text = "".join(new[start:stop])
    if lo == hi == len(lines) and lines and not lines[-1].endswith("\n") and text:
        return edit
    return LineEdit(lo, hi, text)
