"""A review as short, inert Markdown: for a comment, or for a model that chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from excise.languages import resolve
from excise_server.foundation.escape import shortened, source_text
from excise_server.report.markdown import (
    LONGEST_LINE,
    LONGEST_PAGE,
    bounded,
    code_span,
    fenced,
    inert,
)
from excise_server.report.reasons import reasons_text
from excise_server.report.review import (
    ReviewBatchEntry,
    ReviewDocument,
    ReviewFileEntry,
    ReviewHunkEntry,
)
from excise_server.report.review_parts import (
    NOTHING,
    ORIGIN,
    Folding,
    Names,
    ShownLine,
    agreed,
    batch_head,
    file_facts,
    file_head,
    file_lines,
    folded,
    heading,
    hunk_lines,
    idle,
    is_deleted_by_all,
    order_lines,
    places,
    range_words,
    texts_beside,
)
from excise_server.report.words import plural

__all__ = ["markdown_page"]

_LONGEST_END = 4_000
_WAY = "excise review with --path GLOB shows some files, with --whole everything"


def markdown_page(document: ReviewDocument, folding: Folding) -> str:
    """Return the review as one Markdown text."""
    parts = [f"# {inert(heading(document))}"]
    blocks = (block for batch in document.batches for block in _batch(document, batch, folding))
    parts += blocks if folding.is_whole else bounded(blocks, LONGEST_PAGE, _WAY)
    if not document.batches:
        parts.append(NOTHING)
    about = [
        f"{head}: {', '.join(bounded(map(code_span, ids), _LONGEST_END // 2, _WAY))}"
        for head, ids in idle(document)
    ]
    about += [f"Left out: {code_span(r.id)}: {inert(r.reason)}" for r in document.rejected]
    about += [f"Note: {inert(note)}" for note in document.notes]
    if not folding.is_whole:
        about = bounded(about, 2 * _LONGEST_END, _WAY)
    about += [f"{name}: {code_span(value)}" for name, value in (
        ("Origin", document.origin), ("Digest", document.digest), ("Scores", document.signature),
    )]  # fmt: skip
    parts.append("\n".join(f"- {line}" for line in about))
    return "\n\n".join(parts)


def _batch(document: ReviewDocument, batch: ReviewBatchEntry, folding: Folding) -> Iterator[str]:
    names = Names.of(batch)
    yield f"## {inert(batch_head(document, batch))}"
    groups = []
    for group in batch.groups:
        reasons = inert(reasons_text(group.reasons, group.members, names.labels))
        who = _who(f"group {group.number}, {names.share(group.members)}", group.members, names)
        groups.append(f"- {who}{': ' * bool(reasons)}{reasons}")
        for place, ids in places(batch, group):
            groups.append(f"  - {inert(place)}: {', '.join(map(inert, names.each(ids)))}")
    yield "\n".join([*groups, *(f"- {inert(line)}" for line in order_lines(document, batch))])
    for file in batch.files:
        yield from _file(file, names, folding)


def _who(start: str, ids: Sequence[str], names: Names) -> str:
    labels = ", ".join(map(inert, names.each(ids)))
    return f"**{start}** {labels}".rstrip()


def _file(file: ReviewFileEntry, names: Names, folding: Folding) -> Iterator[str]:
    yield f"### {code_span(file.path)}{inert(file_head(file, names))}"
    facts = [
        f"- {inert(fact)}: {', '.join(map(inert, labels))}"
        for fact, labels in file_facts(file, names)
    ]
    if facts:
        yield "\n".join(facts)
    if file.kind == "generated" and not folding.is_whole:
        yield f"Generated: {plural(len(file.hunks), 'hunk')} folded."
        return
    for hunk in file.hunks:
        yield from _hunk(file, hunk, names, folding)
    if file.text and not is_deleted_by_all(file, names, folding):
        yield "The file that they delete:"
        yield _code(file_lines(file.text), file, folding)


def _hunk(
    file: ReviewFileEntry, hunk: ReviewHunkEntry, names: Names, folding: Folding
) -> Iterator[str]:
    shown = hunk_lines(hunk, list(names.labels), folding.against)
    head = f"{range_words(hunk)} ({code_span(f'{file.path}#{hunk.name}')})"
    head = f"{head[:1].upper()}{head[1:]}"
    if shown.is_agreed and not folding.is_whole:
        yield f"{head}: {agreed(shown, len(names.labels))}"
        return
    if shown.reference.ids[0] == ORIGIN:
        yield f"{head}:"
    else:
        yield f"{head}, {_who(names.share(shown.reference.ids), shown.reference.ids, names)}:"
    if shown.reference.lines:
        yield _code(shown.reference.lines, file, folding)
    for words, ids, lines in texts_beside(hunk, shown, names):
        yield _who(words, ids, names) if ids else f"{words[:1].upper()}{words[1:]}."
        if lines:
            yield _difference(lines, folding)


def _code(lines: Sequence[ShownLine], file: ReviewFileEntry, folding: Folding) -> str:
    shown = [
        _line(line, folding) if isinstance(line, ShownLine) else f"… {line:,} more lines"
        for line in folded(lines, folding)
    ]
    return fenced(shown, resolve(None, file.path) or "")


def _line(line: ShownLine, folding: Folding) -> str:
    text = source_text(line.text)
    return text if folding.is_whole else shortened(text, LONGEST_LINE)


def _difference(lines: Sequence[ShownLine], folding: Folding) -> str:
    """Return a variant as a ``diff`` block that names the lines it repeats from the origin."""
    shown = []
    for line in folded(lines, folding):
        if isinstance(line, int):
            shown.append(f"… {line:,} more lines")
        elif line.sign == "=":
            shown.append(f"@@ {line.text} @@")
        else:
            shown.append(f"{line.sign}{_line(line, folding)}")
    return fenced(shown, "diff")
