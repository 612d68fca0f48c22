"""A review as short, inert Markdown: for a comment, or for a model that chooses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from excise.languages import resolve
from excise_server.foundation.escape import source_text
from excise_server.report.group_words import reasons_text
from excise_server.report.markdown import code_span, fenced, inert
from excise_server.report.review_lines import (
    ORIGIN,
    Folding,
    ShownLine,
    file_lines,
    folded,
    hunk_lines,
)
from excise_server.report.review_shapes import (
    ReviewBatchEntry,
    ReviewDocument,
    ReviewFileEntry,
    ReviewHunkEntry,
)
from excise_server.report.review_words import (
    NOTHING,
    Names,
    agreed,
    batch_head,
    file_facts,
    file_head,
    has_words,
    heading,
    idle,
    is_deleted_by_all,
    leave,
    range_words,
    rest_words,
)
from excise_server.report.tables import plural

__all__ = ["markdown_page"]


def markdown_page(document: ReviewDocument, folding: Folding) -> str:
    """Return the review as one Markdown text."""
    parts = [f"# {inert(heading(document))}"]
    for batch in document.batches:
        parts += _batch(document, batch, folding)
    if not document.batches:
        parts.append(NOTHING)
    about = [f"{head}: {', '.join(map(code_span, ids))}" for head, ids in idle(document)]
    about += [f"Left out: {code_span(r.id)}: {inert(r.reason)}" for r in document.rejected]
    about += [f"Note: {inert(note)}" for note in document.notes]
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
    yield "\n".join(groups)
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
    for block in shown.others:
        yield _who(has_words(block, names), block.ids, names)
        if block.lines:
            yield _difference(block.lines, folding)
    if shown.reference.ids[0] == ORIGIN and hunk.unchanged:
        leaving = f"{names.share(hunk.unchanged)} {leave(len(hunk.unchanged))} it"
        rest = rest_words(hunk, names)
        yield f"{rest[:1].upper()}{rest[1:]}." if rest else _who(leaving, hunk.unchanged, names)


def _code(lines: Sequence[ShownLine], file: ReviewFileEntry, folding: Folding) -> str:
    shown = [
        source_text(line.text) if isinstance(line, ShownLine) else f"… {line:,} more lines"
        for line in folded(lines, folding)
    ]
    return fenced(shown, resolve(None, file.path) or "")


def _difference(lines: Sequence[ShownLine], folding: Folding) -> str:
    """Return a variant as a ``diff`` block that names the lines it repeats from the origin."""
    shown = []
    for line in folded(lines, folding):
        if isinstance(line, int):
            shown.append(f"… {line:,} more lines")
        elif line.sign == "=":
            shown.append(f"@@ {line.text} @@")
        else:
            shown.append(f"{line.sign}{source_text(line.text)}")
    return fenced(shown, "diff")
