"""The page of hunks: of each task its files, and hunk by hunk who has which lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from excise.text import raw_lines
from excise_server.report.blocks import Cell, PageBlock, ShownLine, notes, words
from excise_server.report.page import HunkView, Page
from excise_server.report.words import plural
from excise_server.wire import documents as d

SHOWS_ALL = "-v shows all)"
"""How every note ends that lines of hunks are folded."""


def hunk_blocks(page: Page, against: str, *, is_named: bool = True) -> Iterator[PageBlock]:
    """Yield the title, and the hunks of every task.

    - ``against``: the candidate whose text hunks are compared with, empty for the origin.
    - ``is_named``: whether hunks are called as commands want them, with their file.
    """
    document = page.document
    yield words(page.title, "head", kind="title")
    shown = [task for task in document.tasks if task.files]
    for number, task in enumerate(shown):
        yield from [words("")] * (number > 0)
        if len(shown) > 1:
            yield PageBlock("head", (Cell(page.task_head(task), "head"),))
        yield from task_blocks(page, task, against, is_named=is_named)
    yield from page_notes(page)


def page_notes(page: Page) -> Iterator[PageBlock]:
    """Yield who was not looked at, and on a long page what each candidate is."""
    yield from [words("")] * bool(page.document.tasks)
    lines = [f"Between tasks: {line}" for line in page.between_tasks()]
    lines += [page.not_looked_at(), *(page.details() if page.verbose else ())]
    yield from notes(line for line in lines if line)


def task_blocks(
    page: Page, task: d.TaskEntry, against: str, *, is_named: bool = True
) -> Iterator[PageBlock]:
    """Yield the hunks of a task."""
    yield from map(words, page.outcomes(task))
    hunks = _TaskHunks(page.hunks(task, against), is_named=is_named)
    for place, file in enumerate(task.files):
        yield from [words("")] * (place > 0)
        yield from hunks.file(file, hunk_id(task, place))


def hunk_id(task: d.TaskEntry, file: int, hunk: str = "") -> str:
    """Return the anchor of a hunk, or of its file, in a browser."""
    return f"t{task.number}-f{file}{f'-h{hunk}' if hunk else ''}"


class _TaskHunks:
    def __init__(self, view: HunkView, *, is_named: bool) -> None:
        self.view, self.is_named = view, is_named

    def names(self, start: str, labels: Sequence[str], depth: int = 0) -> PageBlock:
        if not labels:
            return words(start, depth=depth)
        cells = [Cell(start), *(Cell(label, "name") for label in labels)]
        return PageBlock("names", cells, depth)

    def file(self, file: d.ReviewFileEntry, anchor: str) -> Iterator[PageBlock]:
        """Yield a file: what happens to it, and its hunks."""
        head = Cell(file.path, "path"), Cell(self.view.file_head(file).lstrip())
        yield PageBlock("head", head, 1, id=anchor)
        for fact, labels in self.view.file_facts(file):
            yield self.names(fact, labels, 1)
        if self.view.is_folded(file):
            count = plural(len(file.hunks), "hunk")
            yield words(f"generated: {count} folded ({SHOWS_ALL}", "dim", depth=1)
            return
        for hunk in file.hunks:
            yield from self.hunk(file, hunk, f"{anchor}-h{hunk.name}")
        if lines := self.view.deleted_lines(file):
            yield words("the file that they delete", "dim")
            yield self.code(lines, file.path, len(str(len(lines))))

    def hunk(
        self, file: d.ReviewFileEntry, hunk: d.ReviewHunkEntry, anchor: str
    ) -> Iterator[PageBlock]:
        """Yield a hunk: its head and the lines around it, and each text with who has it."""
        gutter = len(str(hunk.hi + len(raw_lines(hunk.after))))
        whole = f"{file.path}#{hunk.name}"
        name = Cell(whole if self.is_named else f"#{hunk.name}", "hunk")
        yield PageBlock("head", (name, Cell(hunk.function, "function")), 2, id=anchor)
        shown: list[ShownLine] = []
        for start, ids, lines in self.view.parts(hunk):
            if ids:
                yield from [self.code(shown, whole, gutter)] * bool(shown)
                yield self.names(start, self.view.each(ids))
                shown = []
            shown += lines
        yield from [self.code(shown, whole, gutter)] * bool(shown)
        start, ids = self.view.leaving(hunk)
        if start:
            yield self.names(start, self.view.each(ids)) if ids else words(start, "dim")

    def code(self, lines: Sequence[ShownLine], name: str, gutter: int) -> PageBlock:
        """Return lines with their numbers and signs, with a count for the middle of many.

        - ``name``: the source of the lines, as ``--path`` names it.
        """
        shown = []
        for line in self.view.folded(lines):
            if isinstance(line, int):
                line = ShownLine("…", f"{line:,} more lines (--path {name} {SHOWS_ALL}")
            shown.append(line)
        return PageBlock("code", lines=shown, gutter=gutter)
