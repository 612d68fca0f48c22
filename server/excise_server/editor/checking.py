"""The check of an edit before the editor makes it: what it would break. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from urllib.parse import unquote

import msgspec

from excise import CancelFlag
from excise.text import normalise, raw_lines
from excise_server.editor.analysis import Analysis
from excise_server.editor.apply import LineEdit, apply_edits, buffer_lines, shown_at
from excise_server.editor.findings import listed, names_of
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import first_few
from excise_server.review.hunks import hunk_name
from excise_server.review.mixes import BrokenMixError, Mix, Piece, mending

__all__ = ["ToCheck", "check_edits", "to_check"]


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
