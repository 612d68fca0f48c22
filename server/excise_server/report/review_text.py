"""A review on a terminal, or as plain text: who agrees, then each file hunk by hunk, as code.

In a pipe or file, every line of code and every sentence is one unbroken line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

from excise_server.foundation.escape import printable, source_text
from excise_server.report.review_parts import (
    NOTHING,
    Folding,
    ShownBatch,
    ShownLine,
    between_tasks,
    idle,
)
from excise_server.report.tables import Sentence, SignatureText, cut, family_rows, filled
from excise_server.report.words import plural
from excise_server.wire.documents import ReviewDocument, ReviewFileEntry, ReviewHunkEntry


def review_lines(
    document: ReviewDocument, folding: Folding, out: Console
) -> Iterator[RenderableType]:
    """Yield the page, line by line."""
    for batch in document.batches:
        yield from _Page(ShownBatch(document, batch, folding), out).lines_of_batch()
    if not document.batches:
        yield Text(NOTHING)
    yield from _about(document, out)


def _about(document: ReviewDocument, out: Console) -> Iterator[RenderableType]:
    for note in document.notes:
        yield Sentence(Text("note: ", "dim"), printable(note))
    for head, ids in idle(document):
        names = [Text(printable(identity)) for identity in ids]
        yield from _row(Text(f"{head.lower()}: ", "dim"), names, out)
    if not out.is_terminal:  # on a terminal, standard error says it
        for rejected in document.rejected:
            reason = f"{printable(rejected.id)}: {printable(rejected.reason)}"
            yield Sentence(Text("left out: ", "dim"), reason)
    for line in between_tasks(document):
        yield Sentence(Text("between tasks: ", "dim"), printable(line))
    if document.other_batches:
        count = sum(map(len, document.other_batches))
        where = f"{plural(count, 'candidate')} of other tasks (--task all)"
        yield Sentence(Text("not shown: ", "dim"), where)
    for head, value in (("origin", document.origin), ("digest", document.digest)):
        yield Text(f"{head}: {cut(printable(value), out.width - len(head) - 2)}", "dim")
    yield SignatureText(document.signature)


def _row(start: Text, parts: Sequence[Text], out: Console) -> Iterator[Text]:
    if out.is_terminal:
        yield from filled(parts, out.width, start, ", ")
    else:
        yield Text.assemble(start, Text(", ").join(parts))


@dataclass(frozen=True, slots=True)
class _Where:
    """The source of a block of lines, as ``--hunk`` names it, and the columns of its numbers."""

    name: str
    gutter: int


@dataclass(frozen=True, slots=True)
class _Page:
    shown: ShownBatch
    out: Console

    def lines_of_batch(self) -> Iterator[RenderableType]:
        shown = self.shown
        yield Sentence(Text(""), printable(shown.head))
        for family in shown.families():
            yield from family_rows(family)
        for line in shown.order:
            yield Sentence(Text("  "), line)
        for file in shown.batch.files:
            yield Text("")
            yield from self.file(file)
        yield Text("")

    def who(self, start: str, ids: Sequence[str], style: str = "") -> Iterator[Text]:
        """Yield names in lines that break between two of them."""
        labels = [self.name(label) for label in self.shown.each(ids)]
        yield from _row(Text(start, style), labels, self.out)

    def name(self, label: str) -> Text:
        width = max(self.out.width - 8, 8) if self.out.is_terminal else len(label)
        return Text(cut(printable(label), width), "bold")

    def file(self, file: ReviewFileEntry) -> Iterator[Text]:
        head = printable(self.shown.file_head(file))
        path = printable(file.path)
        if self.out.is_terminal:
            path = cut(path, max(self.out.width - len(head), self.out.width // 2))
        yield Text.assemble((path, "bold cyan"), (head, ""))
        for fact, labels in self.shown.file_facts(file):
            yield from _row(Text(f"  {printable(fact)}: "), list(map(self.name, labels)), self.out)
        if self.shown.is_folded(file):
            count = plural(len(file.hunks), "hunk")
            yield Text(f"  generated: {count} folded (--whole shows all)", "dim")
            return
        for hunk in file.hunks:
            yield from self.hunk(file, hunk)
        if lines := self.shown.deleted_lines(file):
            yield Text("the file that they delete", "dim")
            yield from self.lines(lines, "red", _Where(file.path, len(str(len(lines)))))

    def hunk(self, file: ReviewFileEntry, hunk: ReviewHunkEntry) -> Iterator[Text]:
        shown = self.shown.hunk(hunk)
        name = Text(f"#{hunk.name}", "cyan")
        if shown.agreed:
            yield Text.assemble(name, f": {shown.agreed}")
            return
        where = _Where(f"{file.path}#{hunk.name}", len(str(hunk.hi)) if hunk.hi > hunk.lo else 1)
        if shown.is_against_origin:
            yield name
        else:
            who = shown.reference.ids
            yield from self.who(f"#{hunk.name}, {self.shown.share(who)}: ", who)
        yield from self.lines(shown.reference.lines, "red", where)
        for words, ids, lines in self.shown.texts_beside(hunk, shown):
            if not ids:
                yield Text(words, "dim")
                continue
            yield from self.who(f"{words}: ", ids, "dim" if ids is hunk.unchanged else "")
            yield from self.lines(lines, "green", where)

    def lines(self, lines: Sequence[ShownLine], style: str, where: _Where) -> Iterator[Text]:
        """Yield lines with their numbers and signs, with a count for the middle of many."""
        for line in self.shown.folded(lines):
            if isinstance(line, ShownLine):
                yield from self.line(line, style, where.gutter)
            else:
                more = f"{line:,} more lines (--hunk {printable(where.name)} --whole shows all)"
                yield Text(f"{'…':>{where.gutter}} {more}", "dim")

    def line(self, line: ShownLine, style: str, width: int) -> Iterator[Text]:
        gutter = Text(f"{line.number or line.sign:>{width}} ", "dim")
        if line.sign in ("=", "\\", " "):
            yield from self.fitted(gutter, Text(source_text(line.text), "dim"))
            return
        text, position = Text(), 0
        for lo, hi in line.marks:
            text.append(source_text(line.text[position:lo]), style)
            text.append(source_text(line.text[lo:hi]), f"{style} reverse")
            position = hi
        text.append(source_text(line.text[position:]), style)
        yield from self.fitted(gutter, text)

    def fitted(self, gutter: Text, text: Text) -> Iterator[Text]:
        """Yield a line of code, on a terminal in pieces that are indented behind the gutter."""
        room = self.out.width - gutter.cell_len
        if not self.out.is_terminal or text.cell_len <= room:
            yield Text.assemble(gutter, text)
            return
        start = gutter
        while text.cell_len > room:
            fitting = min(max(room, 1), len(text))
            while fitting > 1 and cell_len(text.plain[:fitting]) > room:
                fitting -= 1
            yield Text.assemble(start, text[:fitting])
            text, start = text[fitting:], Text(" " * gutter.cell_len)
        if text:
            yield Text.assemble(start, text)
