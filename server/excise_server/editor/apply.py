"""Edits that give the buffer the text of a revision, by lines, and what they would break. Pure.

A *site* is the current place of a hunk in the buffer. Text that the user typed elsewhere stays.
Where unsaved edits overlap a hunk and lines next to it, it is unclear which lines belong to the
hunk, and nothing is offered.

Laws (property-tested): all variants of A on an unchanged buffer give exactly A's text. A's variant
in one hunk and B's in another compose. Unsaved edits between the hunks stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

import msgspec

from excise import CancelFlag, Hunk
from excise.text import normalise, raw_lines
from excise_server.editor.analysis import Analysis, decisions_of
from excise_server.editor.findings import listed, names_of
from excise_server.foundation.inputs import SourceError
from excise_server.report.words import place_words
from excise_server.review.mixes import BrokenMixError, Mix, edit_of_line
from excise_server.wire.worker import Site


@dataclass(frozen=True, slots=True)
class LineEdit:
    r"""Lines ``lo`` to ``hi`` (exclusive) of the buffer, and their new text (with ``\n``)."""

    lo: int
    hi: int
    text: str


def buffer_lines(analysis: Analysis) -> list[str]:
    """Return the normalised lines that the editor shows."""
    return raw_lines(normalise(analysis.snapshot.shown))


def shown_at(lines: list[str], site: Site) -> str:
    """Return the current text of a hunk."""
    return "".join(lines[site.lo : site.hi])


def taking(
    analysis: Analysis, lines: list[str], index: int, variant: int, *, split: bool = False
) -> list[LineEdit]:
    """Return the edits that take a variant with the hunks that belong with it, or nothing if done.

    Hunks that belonged with the variant which it replaces return to the origin: who takes another
    way takes all of it. With ``split``, all others stay.

    Raises SourceError if a hunk that belongs with it is decided otherwise, or unsaved edits overlap
    a hunk and lines next to it.
    """
    hunks, sites, decisions = analysis.hunks, analysis.sites, decisions_of(analysis)
    texts, now = dict[int, str](), decisions[index].variant
    if not split and now is not None and (before := analysis.unit(index, now)) is not None:
        for other in before.hunks:
            if shown_at(lines, sites[other]) == _text_of(hunks[other], before.member):
                texts[other] = hunks[other].text
    if not split and (unit := analysis.unit(index, variant)) is not None:
        for other in unit.hunks:
            hunk, text = hunks[other], _text_of(hunks[other], unit.member)
            is_free = not decisions[other].decided or other in texts or other == index
            if not is_free and shown_at(lines, sites[other]) != text:
                where = place_words(hunk.lo, hunk.hi)
                way = "take this hunk alone, or undo that decision first"
                raise SourceError(f"{where}, which belongs with it, is decided otherwise", hint=way)
            texts[other] = text
    texts[index] = hunks[index].variants[variant].text
    return _edits(lines, [(sites[other], text) for other, text in sorted(texts.items())])


def _text_of(hunk: Hunk, member: int) -> str:
    return next(variant.text for variant in hunk.variants if member in variant.members)


def restate(analysis: Analysis, lines: list[str], revision: int) -> list[LineEdit]:
    """Return the edits that give every hunk the text of a revision.

    If the revision leaves the origin's text, and the buffer's text is none of the variants, the
    user typed it, and it stays.

    Raises SourceError if unsaved edits overlap a hunk that would change and lines next to it.
    """
    if revision == analysis.snapshot.own:
        return []
    chosen = []
    for hunk, site in analysis.given:
        shown = shown_at(lines, site)
        text = next(v.text for v in hunk.variants if revision in v.members)
        if text != hunk.text or any(v.text == shown for v in hunk.variants):
            chosen.append((site, text))
    return _edits(lines, chosen)


def _edits(lines: list[str], chosen: Iterable[tuple[Site, str]]) -> list[LineEdit]:
    """Return the edits that put texts into hunks, without equal lines at their ends.

    Edits that touch become one: clients differ in the order of inserts at one position.
    """
    merged: list[LineEdit] = []
    for site, text in chosen:
        if shown_at(lines, site) == text:
            continue
        if site.crossed:
            reason = f"unsaved edits overlap this hunk at line {site.lo + 1}"
            raise SourceError(reason, hint="save or undo them first")
        lo, text_before = site.lo, ""
        if merged and merged[-1].hi == lo:
            before = merged.pop()
            lo, text_before = before.lo, before.text
        merged.append(LineEdit(lo, site.hi, text_before + text))
    return [_fitted(lines, edit) for edit in merged]


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

    - ``name``: the document's name for people, and for its language if ``language`` is None.
    - ``edits``: the edits of each action that is checked.
    - ``others``: who has a text of a hunk, as people call them, and the edit that takes it.
    """

    name: str
    language: str | None
    origin: str
    shown: str
    wholes: tuple[str, ...]
    edits: tuple[tuple[LineEdit, ...], ...]
    others: tuple[tuple[str, LineEdit], ...]


def to_check(analysis: Analysis, edits: Sequence[Sequence[LineEdit]]) -> ToCheck | None:
    """Return what has to be checked, or None if each edit gives a text that was there before."""
    lines = buffer_lines(analysis)
    document = _to_check(analysis, lines, edits, analysis.given)
    known = {*document.wholes, document.origin}
    return None if all(apply_edits(lines, edit) in known for edit in edits) else document


def decided_mix(analysis: Analysis) -> ToCheck | None:
    """Return what the user has taken so far, to be checked, or None if it is no mix.

    The first edits take the same variants into the origin. The second, which is there if the buffer
    is another text, makes it the buffer: what only that breaks was typed, and what only the first
    breaks, the user has mended by hand.
    """
    shown = buffer_lines(analysis)
    there = [(hunk, Site(hunk.lo, hunk.hi)) for hunk, _ in analysis.given]
    texts = [shown_at(shown, site) for _, site in analysis.given]
    chosen = [
        (site, text)
        for (hunk, site), text in zip(there, texts, strict=True)
        if text in {variant.text for variant in hunk.variants}
    ]
    if not chosen:
        return None
    origin = raw_lines(normalise(analysis.snapshot.origin))
    if not (taken := _edits(origin, chosen)):
        return None
    mix, now = apply_edits(origin, taken), "".join(shown)
    edits = [taken] if mix == now else [taken, [LineEdit(0, len(origin), now)]]
    document = _to_check(analysis, origin, edits, there)
    return None if mix in {*document.wholes, document.origin} else document


def _to_check(
    analysis: Analysis,
    lines: list[str],
    edits: Sequence[Sequence[LineEdit]],
    given: Sequence[tuple[Hunk, Site]],
) -> ToCheck:
    """Return edits of a text, in which the hunks have these sites, as what has to be checked."""
    snapshot = analysis.snapshot
    revisions = [r for r in snapshot.revisions if r.id not in snapshot.deleted]
    path, names = snapshot.path or unquote(snapshot.uri_or_path), names_of(snapshot.revisions)
    return ToCheck(
        name=path.replace("\\", "/").rpartition("/")[2],
        language=snapshot.language,
        origin=normalise(snapshot.origin),
        shown="".join(lines),
        wholes=tuple(dict.fromkeys(normalise(revision.text) for revision in revisions)),
        edits=tuple(tuple(edit) for edit in edits),
        others=tuple(
            (listed(names[m] for m in v.members), LineEdit(site.lo, site.hi, v.text))
            for hunk, site in given
            for v in hunk.variants
            if v.text != shown_at(lines, site) and not site.crossed
        ),
    )


def check_edits(
    document: ToCheck, cancel: CancelFlag | None = None
) -> tuple[BrokenMixError | str, ...]:
    """Return why each edit of a document is refused: it breaks what nothing else has broken.

    Of one that is not, what was checked, or an empty string if a whole candidate breaks as much.

    Raises excise.errors.Cancelled if the flag is raised meanwhile.
    """
    before, lines = [document.origin, document.shown], raw_lines(document.shown)
    mix = Mix(document.name, before, lambda: document.wholes, document.language)
    errors: list[BrokenMixError | str] = []
    for edits in document.edits:
        if cancel is not None:
            cancel.check()
        check = mix.check(apply_edits(lines, edits))
        if not check.broken:
            errors.append("" if check.inherited else check.said)
            continue
        broken = [replace(f, candidate=_brings(f.line, edits, document)) for f in check.broken]
        errors.append(BrokenMixError(broken))
    return tuple(errors)


def _brings(line: int, edits: Sequence[LineEdit], document: ToCheck) -> str:
    """Return the candidates that bring a line, or the edit if it is the only one; or nothing."""
    index = edit_of_line([(e.lo, e.hi, len(raw_lines(e.text))) for e in edits], line)
    if index is None and len(edits) > 1:
        return ""
    edit = edits[index or 0]
    for names, whole in document.others:
        is_within = whole.lo <= edit.lo and edit.hi <= whole.hi
        if is_within and edit.text.strip("\n") in whole.text:
            return names
    return ""
