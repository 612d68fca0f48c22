"""Pages of Markdown, inert: a review; made from their documents alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from excise_server.foundation.escape import lines_beside, source_text
from excise_server.report.blocks import ShownLine
from excise_server.report.markdown import (
    LONGEST_LINE,
    LONGEST_PAGE,
    bounded,
    code_span,
    fenced,
    inert,
)
from excise_server.report.page import GroupBlock, HunkView, Page
from excise_server.report.words import place_words, plural
from excise_server.wire import documents as d

_LONGEST_END = 4_000
_NUMBER = re.compile(r"(#\d[\d+-]*)")

# --- a review ------------------------------------------------------------------------------------

_WAY = "excise review -v has everything, --path GLOB some files"


def _inert(text: str) -> str:
    """Return a text that means only itself; a host makes links of numbers that are no code."""
    parts = _NUMBER.split(text)
    return "".join(code_span(part) if n % 2 else inert(part) for n, part in enumerate(parts))


def candidates_markdown(answer: d.Plain) -> str:
    """Return the page of what `excise/candidates` answers, for an editor that shows Markdown."""
    document = msgspec.convert(answer, d.CandidatesDocument)
    aside = [f"- {_inert(entry.label)} is {entry.state}" for entry in document.set_aside]
    page = Page(document)
    return "\n\n".join([*_overview(page), *(["\n".join(aside)] if aside else []), ""])


def review_markdown(page: Page, against: str | None) -> str:
    """Return the page as Markdown, or its hunks: for a comment, or for a model that chooses.

    - ``against``: the candidate whose text hunks are compared with, empty for the origin; None
      for the page without hunks.
    """
    if against is None:
        return "\n\n".join(_overview(page))
    parts = [f"# {_inert(page.title)}"]
    blocks: list[str] = []
    for task in page.document.tasks:
        if len(page.document.tasks) > 1:
            blocks.append(f"## {_inert(page.task_head(task))}")
        if outcomes := page.outcomes(task):
            blocks.append("\n".join(f"- {_inert(line)}" for line in outcomes))
        shown = page.hunks(task, against)
        blocks += (block for file in task.files for block in _file(shown, file))
    parts += blocks if page.verbose else bounded(blocks, LONGEST_PAGE, _WAY)
    return "\n\n".join([*parts, *_end(page, next=False)])


def _overview(page: Page) -> Iterator[str]:
    yield f"# {_inert(page.title)}"
    blocks: list[str] = []
    for task in page.rivals:
        if len(page.document.tasks) > 1:
            blocks.append(f"## {_inert(page.task_head(task))}")
        groups = page.blocks(task)
        telling = 3 if len(groups) <= 3 or page.verbose else 1
        blocks += ("\n".join(_block(group, telling)) for group in groups)
    yield from blocks if page.verbose else bounded(blocks, LONGEST_PAGE // 2, _WAY)
    singles = []
    for task in page.alone:
        block = page.single(task)
        line = code_span("".join(block.telling(1))) if block.lines else ""
        label = page.labels[block.edits[0].ids[0]]
        said = block.edits[0].names[0].removeprefix(label)
        name = f"**{_inert(label)}**{_inert(said)}"
        parts = (name, _place(block.where[:1]), line)
        singles.append(f"- {' '.join(part for part in parts if part)}")
    if singles:
        if page.rivals:
            yield "## Alone in their tasks"
        yield "\n".join(singles if page.verbose else bounded(singles, LONGEST_PAGE // 4, _WAY))
    yield from _end(page)


def _block(block: GroupBlock, telling: int) -> Iterator[str]:
    only = block.edits[0] if block.size == 1 else None
    head = block.head if only is None else f"{block.head}: {only.names[0]}"
    yield f"- **{block.letter}** {_inert(head)} {_place(block.where)}".rstrip()
    for line in block.telling(telling):
        yield f"  - {code_span(line)}"
    for edit in block.edits if only is None else ():
        names = ", ".join(bounded(map(_inert, edit.names), _LONGEST_END, _WAY))
        yield f"  - {_inert(edit.says)}: {names}{f' {code_span(edit.line)}' * bool(edit.line)}"
    yield from (f"  - {_inert(line)}" for line in block.about)


def _place(where: Sequence[tuple[str, str]]) -> str:
    """Return where a group changes something: the file and the function."""
    if not where:
        return ""
    path, function = where[0]
    name = f" {code_span(function)}" if function else ""
    more = f" and {len(where) - 1:,} more" if len(where) > 1 else ""
    return f"{code_span(path)}{name}{more}"


def _end(page: Page, *, next: bool = True) -> Iterator[str]:
    lines = [f"Between tasks: {line}" for line in page.between_tasks()]
    if page.verbose:
        lines += page.details()
        lines += [f"{why}: {', '.join(names)}" for why, names in page.left_out()]
    else:
        lines.append(page.not_looked_at())
    lines += [" ".join(page.next())] if next else []
    shown = [f"- {_inert(line)}" for line in lines if line]
    if shown:
        yield "\n".join(shown if page.verbose else bounded(shown, 2 * _LONGEST_END, _WAY))


def _who(shown: HunkView, start: str, ids: Sequence[str]) -> str:
    labels = ", ".join(map(_inert, shown.each(ids)))
    return f"**{start}** {labels}".rstrip()


def _file(shown: HunkView, file: d.ReviewFileEntry) -> Iterator[str]:
    yield f"### {code_span(file.path)}{_inert(shown.file_head(file))}"
    facts = [
        f"- {_inert(fact)}: {', '.join(map(_inert, labels))}"
        for fact, labels in shown.file_facts(file)
    ]
    if facts:
        yield "\n".join(facts)
    if shown.is_folded(file):
        yield f"Generated: {plural(len(file.hunks), 'hunk')} folded."
        return
    for hunk in file.hunks:
        yield from _hunk(shown, file, hunk)
    if lines := shown.deleted_lines(file):
        yield "The file that they delete:"
        yield _code(shown, lines)


def _hunk(view: HunkView, file: d.ReviewFileEntry, hunk: d.ReviewHunkEntry) -> Iterator[str]:
    parts = view.parts(hunk)
    (_, _, above), (share, reference, lines) = next(parts), next(parts)
    head = f"{place_words(hunk.lo, hunk.hi)} ({code_span(f'{file.path}#{hunk.name}')})"
    where = f" in {_inert(hunk.function)}" if hunk.function else ""
    head = f"{head[:1].upper()}{head[1:]}{where}"
    if reference:
        head += f", {_who(view, share, reference)}"
    yield f"{head}:"
    if first := [*above, *lines]:
        yield _code(view, first)
    for words, ids, lines in parts:
        if ids:
            yield _who(view, words, ids)
        if lines:
            yield _code(view, lines)
    words, ids = view.leaving(hunk)
    if words:
        yield _who(view, words, ids) if ids else f"{words[:1].upper()}{words[1:]}."


def _code(view: HunkView, lines: Sequence[ShownLine]) -> str:
    """Return lines as a ``diff``, in which those that are repeated from the origin are named."""
    shown = []
    for line in view.folded(lines):
        if isinstance(line, int):
            shown.append(f"… {line:,} more lines")
        elif line.sign == "=":
            shown.append(f"@@ {line.text} @@")
        else:
            shown.append(f"{line.sign}{source_text(line.text)}")
    return fenced(shown if view.is_whole else lines_beside(shown, LONGEST_LINE), "diff")
