"""The page for deciding: of each task its groups, who is in them, and the lines that tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import msgspec

from excise_server.foundation.escape import shared_start
from excise_server.report.blocks import Cell, PageBlock, markdown, notes, words
from excise_server.report.html_page import blocks_page
from excise_server.report.hunk_page import hunk_id, page_notes, task_blocks
from excise_server.report.markdown import LONGEST_PAGE
from excise_server.report.page import GroupBlock, Page
from excise_server.report.words import plural
from excise_server.wire import documents as d

MOST = 60
"""Most candidates that a page has which is not asked for all."""

MOST_ROOMY = 3
"""Most groups of the only task of which more than one line is shown."""

_MOST_BESIDE = 2_000
"""Most lines of the origin that lines which tell are compared with."""

WAY = "excise review -v has everything, --path GLOB some files"


def overview_blocks(page: Page) -> Iterator[PageBlock]:
    """Yield the page: tasks, groups and who is in them, and what to do next."""
    yield from overview(page)
    yield from _foot(page)


def _foot(page: Page) -> Iterator[PageBlock]:
    """Yield what is beside the candidates, and what to do next."""
    yield from page_notes(page)
    if page.verbose:
        yield from notes(f"{why}: {', '.join(names)}" for why, names in page.left_out())
    *said, review, take = page.next() or ("", "")
    yield from notes(line for line in (" ".join(said), f"{review} {take}".strip()) if line)


def overview(page: Page) -> Iterator[PageBlock]:
    """Yield the title and the candidates, without what is beside them."""
    onto = f"onto {page.document.origin[:8]}" if page.entries else ""
    yield PageBlock("title", (Cell(page.title, "head"), *[Cell(onto, "dim")] * bool(onto)))
    several = len(page.document.tasks) > 1
    room = len(page.entries) if page.verbose else MOST
    for task in page.rivals:
        if several:
            yield PageBlock("head", (Cell(page.task_head(task), "head"),))
        groups = page.blocks(task)
        is_roomy = len(groups) <= MOST_ROOMY and not several
        others = None if is_roomy else _lines(task, groups)
        hidden = 0
        for group in groups:
            if room > 0:
                yield from _group(page, task, group, room, others)
            else:
                hidden += group.size
            room -= group.size
        if hidden:
            yield words(f"and {hidden:,} more: excise review --task {task.number} -v", "dim")
    if page.alone and page.rivals:
        alone = plural(len(page.alone), "candidate")
        head = f"{alone} in tasks of their own: nobody competes; excise land says how they fit"
        head = "Alone in its task:" if len(page.alone) == 1 else head
        yield PageBlock("head", (Cell(head, "head"),))
    singles = [(task, page.single(task)) for task in page.alone[: max(room, 0)]]
    rows = [(_alone(page, task, group), group) for task, group in singles]
    gutter = max((len(cells[0].text + cells[0].behind) for cells, _ in rows), default=0)
    for cells, group in rows:
        cells += [*_place(group.where[:1]), *map(_changed, group.telling(1))]
        yield PageBlock("row", cells, gutter=min(gutter, 20))
    if (more := len(page.alone) - len(singles)) > 0:
        yield words(f"and {more:,} more, each alone in its task: -v", "dim")


def _lines(task: d.TaskEntry, groups: Sequence[GroupBlock]) -> set[str]:
    """Return the lines that tell groups, and those of the origin that they change."""
    hunks = (hunk for file in task.files for hunk in file.hunks)
    origin = (f"- {row.strip()}" for hunk in hunks for row in hunk.origin.split("\n"))
    return {*(line for group in groups for line in group.lines), *islice(origin, _MOST_BESIDE)}


def _group(
    page: Page, task: d.TaskEntry, group: GroupBlock, most: int, others: Iterable[str] | None
) -> Iterator[PageBlock]:
    """Yield a group, with the edits of so many candidates.

    - ``others``: the lines of all groups, if one line of each is shown.
    """
    only = group.edits[0] if group.size == 1 else None
    cells = [Cell(group.head)] if only is None else _alone(page, task, group)
    cells, lines = [*cells, *_place(group.where)], group.telling(3)
    if others is None:
        yield PageBlock("head", cells, 1, group.letter)
        yield from (PageBlock("row", (_changed(line),), 1) for line in lines)
    else:
        cells += (_changed(line, others) for line in group.telling(1))
        yield PageBlock("row", cells, mark=group.letter)
    shown = 0
    lines_of_edits = {edit.line for edit in group.edits}
    for edit in group.edits if only is None else ():
        if shown >= most:
            yield words(f"and {group.size - shown:,} more: -v", "dim", depth=1)
            break
        shown += len(edit.ids)
        names = [_name(page, task, *both) for both in zip(edit.ids, edit.facts, strict=True)]
        if edit.says == "1" and edit.line:
            yield PageBlock("row", (*names, _changed(edit.line, lines_of_edits)), 1)
            continue
        yield PageBlock("names", (Cell(edit.says), *names), 1)
        if edit.line:
            yield PageBlock("row", (_changed(edit.line),), 2)
    yield from (words(line, depth=1) for line in group.about)


def _alone(page: Page, task: d.TaskEntry, group: GroupBlock) -> list[Cell]:
    """Return the candidate of a group of one, and how many lines of code it adds and deletes.

    Of one that changes no code: how many of all.
    """
    (identity,), (said,) = group.edits[0].ids, group.edits[0].facts
    every = page.entries[identity].lines
    counted = [every["code"]] if every["code"].files else list(every.values())
    added, deleted = sum(of.added for of in counted), sum(of.deleted for of in counted)
    return [_name(page, task, identity, said), Cell(f"+{added:,} -{deleted:,}", "dim")]


def _name(page: Page, task: d.TaskEntry, identity: str, said: str) -> Cell:
    """Return a candidate with what is said of it, which leads to the first file it changes."""
    files = (
        index
        for index, file in enumerate(task.files)
        if any(change.id == identity for change in file.changes)
    )
    first = next(files, None)
    link = "" if first is None else hunk_id(task, first)
    return Cell(page.labels[identity], "name", link, after=said)


def _place(where: Sequence[tuple[str, str]]) -> list[Cell]:
    """Return where a group changes something: the file and the function."""
    if not where:
        return []
    path, function = where[0]
    more = f"and {len(where) - 1:,} more" if len(where) > 1 else ""
    return [Cell(path, "path"), Cell(function, "function"), Cell(more, "dim")]


def _changed(line: str, others: Iterable[str] = ()) -> Cell:
    """Return a changed line, of which what others have, too, may be cut."""
    shared = (shared_start(line[1:], other[1:]) for other in others if other != line)
    return Cell(line, line[:1], tells=1 + max(shared, default=0))


def review_page(page: Page, against: str = "") -> str:
    """Return the page for a browser: the overview, then the hunks of each task."""

    def blocks() -> Iterator[PageBlock]:
        yield from overview(page)
        for task in (task for task in page.document.tasks if task.files):
            is_alone = len(task.members) == 1
            of = page.labels[task.members[0]] if is_alone else f"task {task.number}"
            yield PageBlock("head", (Cell(f"Hunks of {of}"),))
            yield from task_blocks(page, task, against)
        yield from _foot(page)

    return blocks_page(blocks())


def candidates_markdown(answer: d.Plain) -> str:
    """Return the page of what `excise/candidates` answers, for an editor that shows Markdown."""
    document = msgspec.convert(answer, d.CandidatesDocument)
    aside = notes(f"{entry.label} is {entry.state}" for entry in document.set_aside)
    return markdown([*overview_blocks(Page(document)), *aside], LONGEST_PAGE, WAY) + "\n"
