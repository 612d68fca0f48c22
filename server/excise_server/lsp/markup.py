r"""Blocks as Markdown or plain text. Text from outside arrives inert.

In Markdown a text can be no link (also no automatic one), no image, no HTML, no emphasis, entity,
formula or table; code stands in a fence longer than any in it. Escapes are few, because some
clients show them: a colon or a dot is escaped only where it could make a link.
"""

from __future__ import annotations

from collections.abc import Sequence

from excise_server.editor.explanation import Block, Code, Line, Table
from excise_server.foundation.escape import printable
from excise_server.report.markdown import fenced, inert

__all__ = ["as_markdown", "as_plain"]


def as_markdown(blocks: Sequence[Block]) -> str:
    """Return the blocks as Markdown."""
    return "\n\n".join(_markdown(block) for block in blocks)


def as_plain(blocks: Sequence[Block]) -> str:
    """Return the blocks as plain text, tables in columns."""
    return "\n\n".join(_plain(block) for block in blocks)


def _markdown(block: Block) -> str:
    match block:
        case Line(text):
            return inert(text)
        case Table(head, rows):
            lines = [head, tuple("---" for _ in head), *rows]
            cells = [
                lines[1] if row is lines[1] else [inert(cell) for cell in row] for row in lines
            ]
            return "\n".join(f"| {' | '.join(row)} |" for row in cells)
        case Code(lines, language):
            return fenced(lines, language)


def _plain(block: Block) -> str:
    match block:
        case Line(text):
            return printable(text)
        case Table(head, rows):
            lines = [[printable(cell) for cell in row] for row in (head, *rows)]
            widths = [max(len(row[at]) for row in lines) for at in range(len(head))]
            return "\n".join(
                "  ".join(
                    cell.ljust(width) for cell, width in zip(row, widths, strict=True)
                ).rstrip()
                for row in lines
            )
        case Code(lines, _):
            return "\n".join(f"    {line}" for line in lines)
