"""What changed between two versions: its document, and the views of that for people."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

from excise_server.foundation.escape import printable, source_text, spelled, visible
from excise_server.report.markdown import LONGEST_PAGE, bounded, code_span, fenced, inert
from excise_server.report.page_text import COLUMNS
from excise_server.report.tables import Sentence
from excise_server.report.words import plural
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
_STYLES = {"-": "red", "+": "green", " ": "dim", "\\": "dim"}


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
    words = [f"{touched[0]:,} of {plural(counts.total(), 'hunk')} changed"]
    words += [f"{n:,} {word}" for n, word in zip(touched[1:], (NEW, DROPPED), strict=True) if n]
    return f"{', '.join(words)}{also}"


# --- views ---------------------------------------------------------------------------------------


def _series(document: d.SinceDocument, *, is_whole: bool) -> Iterator[str]:
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
    yield counts
    for word, own in titles.items():
        yield from (f"  {word}: {title}" for title in own if len(own) > 1)


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


def since_lines(
    document: d.SinceDocument, out: Console, *, is_whole: bool = False
) -> Iterator[RenderableType]:
    """Yield the page on a terminal, or as plain text, line by line.

    - ``is_whole``: show every line of a hunk, and every patch of a series.
    """
    title, versions = printable(document.summary), printable(_versions(document))
    gap = min(out.width, COLUMNS) - cell_len(title + versions)
    if gap >= 2:
        yield Text.assemble((title, "bold"), " " * gap, (versions, "dim"))
    else:
        yield Text(title, "bold")
        yield Text(versions, "dim")
    for line in _series(document, is_whole=is_whole):
        yield Text(printable(line))
    for file in document.files:
        moved = f" (from {file.base_path})" if file.base_path != file.path else ""
        if file.facts or moved:
            yield Text(printable(f"{file.path}{moved}"), "bold cyan")
        for fact in file.facts:
            yield Text(f"{fact.status}: {printable(fact.text)}")
        for hunk in file.hunks:
            where, word = _head(file, hunk)
            yield Text.assemble((printable(where), "bold cyan"), f" {printable(word)}")
            for line in _cut(hunk.lines, is_whole=is_whole):
                yield Text(source_text(line), _STYLES.get(line[:1], "dim"))
    for note in document.notes:
        yield Sentence(Text("note: ", "dim"), printable(note))


def _cut(lines: list[str], *, is_whole: bool) -> list[str]:
    if is_whole or len(lines) <= _MOST_LINES:
        return lines
    return [*lines[: _MOST_LINES - 1], f"… {len(lines) - _MOST_LINES + 1:,} more lines (-v)"]


def since_markdown(document: d.SinceDocument, *, is_whole: bool = False) -> str:
    """Return the page as Markdown, inert whatever it contains, of bounded length."""
    parts = [f"**{inert(document.summary)}**", inert(_versions(document))]
    if series := [*_series(document, is_whole=is_whole)]:
        parts.append("\n".join(f"- {inert(line.strip())}" for line in series))
    for file in document.files:
        moved = f" (from {code_span(file.base_path)})" if file.base_path != file.path else ""
        facts = "".join(f"\n- {fact.status}: {inert(fact.text)}" for fact in file.facts)
        parts += [f"{code_span(file.path)}{moved}{facts}"] if facts or moved else []
        for hunk in file.hunks:
            lines = [source_text(line) for line in _cut(hunk.lines, is_whole=is_whole)]
            where, word = _head(file, hunk)
            parts.append(f"{code_span(where)} {inert(word)}\n\n{fenced(lines, 'diff')}")
    parts += [f"note: {inert(note)}" for note in document.notes]
    return "\n\n".join(bounded(parts, LONGEST_PAGE, "excise since -v shows all"))
