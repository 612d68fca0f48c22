"""What changed between two versions: its document, and the views of that for people."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from excise_server.foundation.escape import lines_beside, spelled, visible
from excise_server.report.blocks import Cell, PageBlock, lined, notes, words
from excise_server.report.words import LONGEST_LINE, plural
from excise_server.review.hunks import hunk_name
from excise_server.review.since import CHANGED, CONFLICT, DROPPED, NEW, SAME
from excise_server.review.versions import AMENDED, REORDERED, SPLIT, SQUASHED
from excise_server.sources.since import CandidateVersion, ComparedVersions
from excise_server.wire import documents as d

_STATES = (SAME, CHANGED, NEW, DROPPED, CONFLICT)
_OF_SERIES = {
    SAME: "unchanged",
    AMENDED: "amended",
    DROPPED: "dropped",
    NEW: "new",
    REORDERED: "reordered",
    SPLIT: "split",
    SQUASHED: "squashed",
}
_ALWAYS = {_OF_SERIES[state] for state in (SAME, AMENDED, DROPPED, NEW)}
"""Words of a series that are said of none, too."""
_MOST_LINES = 40
_WORDS = {CONFLICT: "the base changed these lines, too; NEW has"}


def since_document(top: str | None, compared: ComparedVersions) -> d.SinceDocument:
    """Return what changed; ``top`` is the folder of the repository, if there is one."""
    counts = Counter(dict.fromkeys(_STATES, 0)) | compared.since.counts
    has_lines = bool(compared.onto)
    series = Counter(pair.status for pair in compared.pairs)
    unread = f"; {plural(compared.unread, 'file')} not compared" if compared.unread else ""
    return d.SinceDocument(
        repository=None if top is None else visible(top),
        summary=f"{_summary(compared)}{unread}",
        old=_version(compared.old, compared.onto),
        new=_version(compared.new, compared.onto),
        onto=compared.onto or None,
        hunks={state: counts[state] for state in _STATES},
        patches={word: series[state] for state, word in _OF_SERIES.items()} if series else {},
        series=[
            d.SincePatchEntry(
                status=pair.status,
                moved=pair.is_moved,
                old=pair.old.number if pair.old else None,
                new=pair.new.number if pair.new else None,
                old_title=visible(pair.old.title) if pair.old else None,
                title=visible(pair.new.title) if pair.new else None,
            )
            for pair in compared.pairs
        ],
        files=[
            d.SinceFileEntry(
                path=spelled(file.path),
                base_path=spelled(file.base_path),
                facts=[d.SinceFactEntry(status=f.status, text=visible(f.text)) for f in file.facts],
                hunks=[
                    d.SinceHunkEntry(
                        status=hunk.status,
                        lo=hunk.new[0] if has_lines else None,
                        hi=hunk.new[1] if has_lines else None,
                        heading=hunk.heading,
                        old=_image(hunk.lines, "-"),
                        new=_image(hunk.lines, "+"),
                        lines=list(hunk.lines),
                    )
                    for hunk in file.hunks
                ],
            )
            for file in compared.since.files
            if file.facts or file.hunks
        ],
        notes=[*compared.notes],
    )


def _version(version: CandidateVersion, onto: str) -> d.SinceVersionEntry:
    candidate, remembered = version.candidate, version.remembered
    seen = None
    if remembered is not None:
        seen = datetime.fromtimestamp(remembered.when, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return d.SinceVersionEntry(
        name=visible(version.name),
        commit=candidate.commit or (remembered.commit if remembered else "") or None,
        base=candidate.base or None,
        door=remembered.door if remembered else None,
        seen=seen,
    )


def _image(lines: Iterable[str], sign: str) -> str:
    """Return the lines of one side, from the first that differs to the last."""
    body = [line for line in lines if line[:1] != "\\"]
    places = [number for number, line in enumerate(body) if line[:1] != " "]
    inner = body[places[0] : places[-1] + 1] if places else []
    return "".join(f"{line[1:]}\n" for line in inner if line[:1] in (" ", sign))


def _summary(compared: ComparedVersions) -> str:
    """Return the first line: what the author did."""
    counts = compared.since.counts
    touched = counts[CHANGED], counts[NEW], counts[DROPPED]
    disputed = counts[CONFLICT]
    also = f"; in {plural(disputed, 'hunk')} the base changed the same lines" if disputed else ""
    if not any(touched):
        old, new = compared.old.candidate, compared.new.candidate
        if disputed:
            return f"no change by the author in {counts[SAME]:,} of {counts.total():,} hunks{also}"
        if old.commit and old.commit == new.commit:
            return "no change: OLD and NEW are one commit"
        if not counts.total():
            return "neither version changes anything"
        is_rebased = bool(old.base and new.base) and old.base != new.base
        return f"{'rebased only: ' if is_rebased else ''}no change by the author"
    parts = [f"{touched[0]:,} of {plural(counts.total(), 'hunk')} changed"]
    parts += [f"{n:,} {word}" for n, word in zip(touched[1:], (NEW, DROPPED), strict=True) if n]
    return f"{', '.join(parts)}{also}"


# --- views ---------------------------------------------------------------------------------------


def _series(document: d.SinceDocument, *, is_whole: bool) -> Iterator[PageBlock]:
    """Yield the line about the patches, and one for each of those of which there are several."""
    if not document.patches:
        return
    titles = defaultdict[str, list[str]](list)
    for pair in document.series:
        if pair.status != SAME or is_whole or _is_retitled(pair):
            titles[_OF_SERIES[pair.status]].append(_titled(pair))
    alone = {word: f" ({own[0]})" for word, own in titles.items() if len(own) == 1}
    counts = ", ".join(
        f"{count:,} {word}{alone.get(word, '')}"
        for word, count in document.patches.items()
        if count or word in _ALWAYS
    )
    yield words(counts)
    for word, own in titles.items():
        yield from (words(f"{word}: {title}", depth=1) for title in own if len(own) > 1)


def _is_retitled(pair: d.SincePatchEntry) -> bool:
    return None not in (pair.title, pair.old_title) and pair.title != pair.old_title


def _titled(pair: d.SincePatchEntry) -> str:
    """Return the title of a patch, and what there is to say of another one."""
    if pair.status == SQUASHED:
        return f"{pair.old_title} into {pair.title}"
    if pair.status == SPLIT:
        return f"{pair.title} from {pair.old_title}"
    was = f" (was: {pair.old_title})" if _is_retitled(pair) else ""
    moved = ", reordered" if pair.moved and pair.status == AMENDED else ""
    return f"{pair.title or pair.old_title}{was}{moved}"


def _versions(document: d.SinceDocument) -> str:
    old = document.old
    seen = f", as you read it on {old.seen} in {old.door}" if old.seen else ""
    onto = f", both on {document.onto[:10]}" if document.onto else ", without a tree"
    return f"{old.name}{seen} to {document.new.name}{onto}"


def _head(file: d.SinceFileEntry, hunk: d.SinceHunkEntry) -> tuple[str, str]:
    """Return the place of a hunk as commands name it, and what became of it."""
    where = "" if hunk.lo is None or hunk.hi is None else f"#{hunk_name(hunk.lo, hunk.hi)}"
    word = _WORDS.get(hunk.status, hunk.status)
    return f"{file.path}{where}", f"{word}{f': {hunk.heading}' if hunk.heading else ''}"


def since_blocks(document: d.SinceDocument, *, is_whole: bool = False) -> Iterator[PageBlock]:
    """Yield the page.

    - ``is_whole``: show every line of a hunk, and every patch of a series.
    """
    title, versions = Cell(document.summary, "head"), Cell(_versions(document), "dim")
    yield PageBlock("title", (title, versions))
    yield from _series(document, is_whole=is_whole)
    for file in document.files:
        moved = f"(from {file.base_path})" if file.base_path != file.path else ""
        if file.facts or moved:
            yield PageBlock("text", (Cell(file.path, "path"), Cell(moved)))
        for fact in file.facts:
            yield words(f"{fact.status}: {fact.text}", depth=1)
        for hunk in file.hunks:
            where, word = _head(file, hunk)
            yield PageBlock("text", (Cell(where, "path"), Cell(word)))
            yield PageBlock("code", lines=lined(_cut(hunk.lines, is_whole=is_whole)))
    yield from notes(f"note: {note}" for note in document.notes)


def _cut(lines: list[str], *, is_whole: bool) -> list[str]:
    if is_whole:
        return lines
    more = len(lines) - _MOST_LINES + 1
    shown = lines_beside(lines[: _MOST_LINES - 1] if more > 1 else lines, LONGEST_LINE)
    return [*shown, f"…{more:,} more lines (-v)"] if more > 1 else shown
