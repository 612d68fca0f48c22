"""A review on a terminal, or as plain text: who agrees, then each file hunk by hunk, as code.

In a pipe or file, every line of code and every sentence is one unbroken line.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

from excise_server.foundation.escape import printable, source_text
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
    hunk_lines,
    idle,
    is_deleted_by_all,
    order_lines,
    places,
    texts_beside,
)
from excise_server.report.tables import UNWRAPPED, Sentence, cut, filled, signature_text
from excise_server.report.words import plural

__all__ = ["review_lines", "text_page"]


def review_lines(
    document: ReviewDocument, folding: Folding, out: Console
) -> Iterator[RenderableType]:
    """Yield the page, line by line."""
    page = _Page(folding, out)
    for batch in document.batches:
        yield from page.batch(document, batch)
    if not document.batches:
        yield Text(NOTHING)
    yield from _about(document, out)


def text_page(document: ReviewDocument, folding: Folding) -> str:
    """Return the page as plain text, nothing wrapped."""
    out = Console(
        file=io.StringIO(), width=UNWRAPPED, soft_wrap=True,
        markup=False, highlight=False, emoji=False,
    )  # fmt: skip
    for line in review_lines(document, folding, out):
        out.print(line)
    assert isinstance(out.file, io.StringIO)
    return "\n".join(line.rstrip(" ") for line in out.file.getvalue().split("\n")).rstrip("\n")


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
    if document.other_batches:
        count = sum(map(len, document.other_batches))
        where = f"{plural(count, 'candidate')} of other batches (--batch all)"
        yield Sentence(Text("not shown: ", "dim"), where)
    for head, value in (("origin", document.origin), ("digest", document.digest)):
        yield Text(f"{head}: {cut(printable(value), out.width - len(head) - 2)}", "dim")
    yield signature_text(document.signature)


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
    folding: Folding
    out: Console

    def batch(self, document: ReviewDocument, batch: ReviewBatchEntry) -> Iterator[RenderableType]:
        names = Names.of(batch)
        yield Sentence(Text(""), printable(batch_head(document, batch)))
        for group in batch.groups:
            of_group = list(places(batch, group))
            if len(of_group) == 1:
                [(place, _)] = of_group
                start = f"  group {group.number}, {place}: "
                yield from self.who(start, group.members, names)
            else:
                start = f"  group {group.number}, {names.share(group.members)}: "
                yield from self.who(start if of_group else "  ", group.members, names)
                for place, ids in of_group:
                    yield from self.who(f"    {place}: ", ids, names)
            if text := reasons_text(group.reasons, group.members, names.labels):
                yield Sentence(Text("    "), printable(text))
        for line in order_lines(document, batch):
            yield Sentence(Text("  "), line)
        for file in batch.files:
            yield Text("")
            yield from self.file(file, names)
        yield Text("")

    def who(self, start: str, ids: Sequence[str], names: Names, style: str = "") -> Iterator[Text]:
        """Yield names in lines that break between two of them."""
        labels = [self.name(label) for label in names.each(ids)]
        yield from _row(Text(start, style), labels, self.out)

    def name(self, label: str) -> Text:
        width = max(self.out.width - 8, 8) if self.out.is_terminal else len(label)
        return Text(cut(printable(label), width), "bold")

    def file(self, file: ReviewFileEntry, names: Names) -> Iterator[Text]:
        head = printable(file_head(file, names))
        path = printable(file.path)
        if self.out.is_terminal:
            path = cut(path, max(self.out.width - len(head), self.out.width // 2))
        yield Text.assemble((path, "bold cyan"), (head, ""))
        for fact, labels in file_facts(file, names):
            yield from _row(Text(f"  {printable(fact)}: "), list(map(self.name, labels)), self.out)
        if file.kind == "generated" and not self.folding.is_whole:
            count = plural(len(file.hunks), "hunk")
            yield Text(f"  generated: {count} folded (--whole shows all)", "dim")
            return
        for hunk in file.hunks:
            yield from self.hunk(file, hunk, names)
        if file.text and not is_deleted_by_all(file, names, self.folding):
            lines = file_lines(file.text)
            yield Text("the file that they delete", "dim")
            yield from self.lines(lines, "red", _Where(file.path, len(str(len(lines)))))

    def hunk(self, file: ReviewFileEntry, hunk: ReviewHunkEntry, names: Names) -> Iterator[Text]:
        shown = hunk_lines(hunk, list(names.labels), self.folding.against)
        name = Text(f"#{hunk.name}", "cyan")
        if shown.is_agreed and not self.folding.is_whole:
            yield Text.assemble(name, f": {agreed(shown, len(names.labels))}")
            return
        where = _Where(f"{file.path}#{hunk.name}", len(str(hunk.hi)) if hunk.hi > hunk.lo else 1)
        if shown.reference.ids[0] == ORIGIN:
            yield name
        else:
            start = f"#{hunk.name}, {names.share(shown.reference.ids)}: "
            yield from self.who(start, shown.reference.ids, names)
        yield from self.lines(shown.reference.lines, "red", where)
        for words, ids, lines in texts_beside(hunk, shown, names):
            if not ids:
                yield Text(words, "dim")
                continue
            yield from self.who(f"{words}: ", ids, names, "dim" if ids is hunk.unchanged else "")
            yield from self.lines(lines, "green", where)

    def lines(self, lines: Sequence[ShownLine], style: str, where: _Where) -> Iterator[Text]:
        """Yield lines with their numbers and signs, with a count for the middle of many."""
        for line in folded(lines, self.folding):
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
