"""Edits that give the buffer the text of a revision, by lines, and what they would break. Pure.

A *site* is the current place of a hunk in the buffer. Text that the user typed elsewhere stays.
Where unsaved edits overlap a hunk and lines next to it, it is unclear which lines belong to the
hunk, and nothing is offered.

Laws (property-tested): all variants of A on an unchanged buffer give exactly A's text. A's variant
in one hunk and B's in another compose. Unsaved edits between the hunks stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from urllib.parse import unquote

import msgspec

from excise import CancelFlag
from excise.text import normalise, raw_lines
from excise_server.editor.analysis import Analysis
from excise_server.editor.findings import listed, names_of
from excise_server.editor.places import Site
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import first_few
from excise_server.review.hunks import hunk_name
from excise_server.review.mixes import BrokenMixError, Mix, Piece, mending

__all__ = [
    "BlockedError",
    "LineEdit",
    "ToCheck",
    "apply_edits",
    "buffer_lines",
    "check_edits",
    "line_end",
    "replacing",
    "restate",
    "to_check",
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


class ToCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A document, some edits of it, and what the candidates make of it, as texts.

    Attributes
    ----------
    name
        The document's name for people, and for its language if ``language`` is None.
    edits
        The edits of each action that is checked.
    others
        The hunks of candidates that may mend it, with the edit that takes each.
    """

    name: str
    language: str | None
    origin: str
    shown: str
    wholes: tuple[str, ...]
    edits: tuple[tuple[LineEdit, ...], ...]
    others: tuple[tuple[Piece, LineEdit], ...]


def to_check(analysis: Analysis, edits: Sequence[Sequence[LineEdit]]) -> ToCheck | None:
    """Return what has to be checked, or None if each edit gives a text that was there before."""
    snapshot, lines = analysis.snapshot, buffer_lines(analysis)
    revisions = [r for r in snapshot.revisions if r.id not in snapshot.deleted]
    wholes = tuple(dict.fromkeys(normalise(revision.text) for revision in revisions))
    known = {*wholes, normalise(snapshot.origin)}
    if all(apply_edits(lines, edit) in known for edit in edits):
        return None
    path, names = snapshot.path or unquote(snapshot.uri_or_path), names_of(snapshot.revisions)
    return ToCheck(
        name=path.replace("\\", "/").rpartition("/")[2],
        language=snapshot.language,
        origin=normalise(snapshot.origin),
        shown="".join(lines),
        wholes=wholes,
        edits=tuple(tuple(edit) for edit in edits),
        others=tuple(
            (
                Piece(listed(names[m] for m in v.members), hunk.lo, hunk.hi, v.text),
                LineEdit(site.lo, site.hi, v.text),
            )
            for hunk, site in analysis.given
            for v in hunk.variants
            if v.text != shown_at(lines, site) and not site.crossed
        ),
    )


def check_edits(
    document: ToCheck, cancel: CancelFlag | None = None
) -> tuple[BrokenMixError | None, ...]:
    """Return why each edit of a document is refused: it breaks what nothing else has broken.

    Raises
    ------
    excise.errors.Cancelled
        If the flag is raised meanwhile.
    """
    before, lines = [document.origin, document.shown], raw_lines(document.shown)
    mix = Mix(document.name, before, lambda: document.wholes, document.language)
    pieces = dict(document.others)
    errors: list[BrokenMixError | None] = []
    for edits in document.edits:
        if cancel is not None:
            cancel.check()
        check = mix.check(apply_edits(lines, edits))
        if not check.broken:
            errors.append(None)
            continue
        composed = partial(_composed, lines, edits, pieces)
        more = mending(mix, check, list(pieces), composed) or ()
        name = printable(document.name)
        names = [f"{name}#{hunk_name(p.lo, p.hi)} of {p.candidate}" for p in more]
        errors.append(BrokenMixError(check.broken, first_few(names, 8)))
    return tuple(errors)


def _composed(
    lines: list[str],
    edits: Sequence[LineEdit],
    pieces: dict[Piece, LineEdit],
    more: Sequence[Piece],
) -> str | None:
    """Return the text with some more edits, or None if two are in each other's way."""
    every = sorted({*edits, *(pieces[piece] for piece in more)}, key=lambda e: (e.lo, e.hi))
    for edit, after in pairwise(every):
        if after.lo < edit.hi or edit.lo == edit.hi == after.lo == after.hi:
            return None
    return apply_edits(lines, every)
