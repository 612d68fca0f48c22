"""Pages of Markdown, inert: a review; made from their documents alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from excise_server.report.markdown import (
    LONGEST_PAGE,
    bounded,
    code_span,
    inert,
)
from excise_server.report.page import GroupBlock, Page
from excise_server.wire import documents as d

_LONGEST_END = 4_000
_NUMBER = re.compile(r"(#\d[\d+-]*)")

# --- a review ------------------------------------------------------------------------------------

WAY = "excise review -v has everything, --path GLOB some files"


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


def review_markdown(page: Page) -> str:
    """Return the page for deciding as Markdown: for a comment, or for a model that chooses."""
    return "\n\n".join(_overview(page))


def _overview(page: Page) -> Iterator[str]:
    yield f"# {_inert(page.title)}"
    blocks: list[str] = []
    for task in page.rivals:
        if len(page.document.tasks) > 1:
            blocks.append(f"## {_inert(page.task_head(task))}")
        groups = page.blocks(task)
        telling = 3 if len(groups) <= 3 or page.verbose else 1
        blocks += ("\n".join(_block(group, telling)) for group in groups)
    yield from blocks if page.verbose else bounded(blocks, LONGEST_PAGE // 2, WAY)
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
        yield "\n".join(singles if page.verbose else bounded(singles, LONGEST_PAGE // 4, WAY))
    yield from _end(page)


def _block(block: GroupBlock, telling: int) -> Iterator[str]:
    only = block.edits[0] if block.size == 1 else None
    head = block.head if only is None else f"{block.head}: {only.names[0]}"
    yield f"- **{block.letter}** {_inert(head)} {_place(block.where)}".rstrip()
    for line in block.telling(telling):
        yield f"  - {code_span(line)}"
    for edit in block.edits if only is None else ():
        names = ", ".join(bounded(map(_inert, edit.names), _LONGEST_END, WAY))
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


def _end(page: Page) -> Iterator[str]:
    lines = [f"Between tasks: {line}" for line in page.between_tasks()]
    if page.verbose:
        lines += page.details()
        lines += [f"{why}: {', '.join(names)}" for why, names in page.left_out()]
    else:
        lines.append(page.not_looked_at())
    lines += [" ".join(page.next())]
    shown = [f"- {_inert(line)}" for line in lines if line]
    if shown:
        yield "\n".join(shown if page.verbose else bounded(shown, 2 * _LONGEST_END, WAY))
