"""A review as a page: the blocks, then each file hunk by hunk, as code. One file, no script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from excise_server.report.html_page import Child, Markup, block_parts, element, joined, page, source
from excise_server.report.hunk_page import hunk_id, task_blocks
from excise_server.report.page import EditLine, GroupBlock, Page
from excise_server.wire import documents as d

_LINKS = 12
"""Most links to hunks of a candidate."""


def review_page(review: Page, against: str = "") -> str:
    """Return the page of a review: the overview, then the hunks of each task."""
    document = review.document
    tasks = [_TaskPage(review, task, against) for task in document.tasks]
    overview: list[Child] = []
    for task in tasks:
        if len(task.task.members) > 1:
            several = len(tasks) > 1
            head = element("h2", review.task_head(task.task)) if several else ""
            overview += [head, *map(task.block, review.blocks(task.task))]
    if alone := [task for task in tasks if len(task.task.members) == 1]:
        if len(alone) < len(tasks):
            overview.append(element("h2", "Alone in their tasks"))
        rows = [task.single() for task in alone]
        overview.append(element("article", element("ul", *rows, class_="who"), class_="card"))
    facts = [line for line in (review.not_looked_at(), " ".join(review.next())) if line]
    facts = [f"Between tasks: {line}" for line in review.between_tasks()] + facts
    overview += [element("p", line, class_="small dim") for line in facts]
    notes = [*review.details(), *(f"{w}: {', '.join(names)}" for w, names in review.left_out())]
    details = element("ul", *(element("li", line) for line in notes), class_="small")
    links = [
        element("li", element("a", text, href=f"#{target}"))
        for target, text in (
            *((task.name, task.title) for task in tasks), ("notes", "Everything else"),
        )
    ]  # fmt: skip
    return page(
        review.title,
        element("ul", *links),
        joined(
            [
                element("section", *overview),
                *(task.section() for task in tasks),
                element("section", _fold("Everything else", details), id="notes"),
            ]
        ),
        joined([f"Onto {document.origin[:8]}, for {document.repository}"]),
        skip=(tasks[0].name, "Skip to the hunks") if tasks else ("notes", "Skip to the notes"),
        more_style=STYLE,
    )


STYLE = """
:root { --add-mark: #a9dfb5; --del-mark: #f6bdb8 }
@media (prefers-color-scheme: dark) { :root { --add-mark: #23663a; --del-mark: #7a2f2b } }
ul.who, ul.files { list-style: none; margin: 0; padding: 0 }
article > pre, article > ul { margin: 0 }
.who .where { margin-left: 8px }
header + main > section:first-child { margin-top: 20px }
ul.who li { padding: 8px 16px; border-top: 1px solid var(--line) }
ul.who a { white-space: nowrap; margin-left: 2px }
ul.files li { padding: 2px 0 }
.file { margin: 28px 0 10px }
.hunk > .head { padding-bottom: 8px; justify-content: space-between; flex-wrap: wrap }
.hunk .variant { padding: 8px 16px 4px; border-top: 1px solid var(--line) }
.hunk .variant a { margin-left: 8px }
.hunk pre { padding: 2px 0 6px; background: none }
.hunk pre span { padding: 0 10px 0 56px; min-height: 1.5em; position: relative }
.hunk pre i { position: absolute; left: 0; width: 46px; text-align: right; font-style: normal;
  color: var(--dim); user-select: none }
.hunk mark { color: inherit; border-radius: 2px }
.a mark { background: var(--add-mark) } .d mark { background: var(--del-mark) }
.fold > summary { grid-template-columns: 14px 1fr }
:target { outline: 2px solid var(--accent) }
@media (max-width: 760px) { .hunk pre span { padding-left: 40px } .hunk pre i { width: 32px } }
"""


class _TaskPage:
    """A task: its blocks, and its files, where `name` begins every id."""

    def __init__(self, review: Page, task: d.TaskEntry, against: str) -> None:
        self.review, self.task, self.against = review, task, against
        self.name = f"t{task.number}"
        self.shown = review.hunks(task, against)
        is_alone = len(task.members) == 1
        self.title = review.labels[task.members[0]] if is_alone else f"Hunks of task {task.number}"
        self._numbers = {identity: index for index, identity in enumerate(self.shown.labels)}

    def candidate_id(self, identity: str) -> str:
        return f"{self.name}-c{self._numbers[identity]}"

    def block(self, block: GroupBlock) -> Markup:
        """Return a group: where, the lines that tell, and its candidates edit by edit."""
        title = element("h3", element("span", block.letter, class_="badge"), f" {block.head} ")
        head = element("div", title, self._where(block.where), class_="head")
        rows = []
        for edit in block.edits:
            says = element("span", f"{edit.says}: ", class_="small dim")
            line = [_changed_lines([edit.line])] if edit.line else []
            rows.append(element("li", says, *self._names(edit), *line))
        rows += [element("li", line, class_="small") for line in block.about]
        lines = _changed_lines(block.lines) if block.lines else ""
        return element("article", head, lines, element("ul", *rows, class_="who"), class_="card")

    def single(self) -> Markup:
        """Return the row of the candidate that is alone in its task."""
        block = self.review.single(self.task)
        where, edit = self._where(block.where[:1]), block.edits[0]
        return element("li", *self._names(edit), where, _changed_lines(block.telling(1)))

    def _where(self, where: Sequence[tuple[str, str]]) -> Markup:
        places = (
            child
            for path, function in where
            for child in (" ", element("span", path, class_="id"), _function(function))
        )
        return element("span", *places, class_="where small")

    def _names(self, edit: EditLine) -> Iterator[Child]:
        for number, (identity, name) in enumerate(zip(edit.ids, edit.names, strict=True)):
            label = self.review.labels[identity]
            yield ", " if number else ""
            yield element("b", label, id=self.candidate_id(identity), class_="id")
            yield element("span", name.removeprefix(label), class_="small")
            shown = ""
            for link, path, hunk in self.links(identity)[:_LINKS]:
                yield " "
                text = f"{'' if path == shown and hunk else path}{hunk}"
                yield element("a", text, href=f"#{link}", class_="id small")
                shown = path

    def section(self) -> Markup:
        blocks = task_blocks(self.review, self.task, self.against)
        return element("section", element("h2", self.title), *block_parts(blocks), id=self.name)

    def links(self, identity: str) -> list[tuple[str, str, str]]:
        """Return id, path and name of every hunk that a candidate changes, or to its files."""
        links = []
        for index, file in enumerate(self.task.files):
            if all(change.id != identity for change in file.changes):
                continue
            hunks = [
                (hunk_id(self.task, index, hunk.name), file.path, f"#{hunk.name}")
                for hunk in file.hunks * (not self.shown.is_folded(file))
                if any(identity in variant.ids for variant in hunk.variants)
            ]
            links += hunks or [(hunk_id(self.task, index), file.path, "")]
        return links


def _fold(title: str, *children: Child) -> Markup:
    summary = element("summary", element("span", title))
    return element("details", summary, *children, class_="card fold hunk")


def _function(name: str) -> Child:
    return element("i", f" {name}", class_="dim") if name else ""


def _changed_lines(lines: Sequence[str]) -> Markup:
    kinds = ((line, "a" if line.startswith("+") else "d") for line in lines)
    spans = (element("span", source(line), class_=kind) for line, kind in kinds)
    return element("pre", *spans, class_="small")
