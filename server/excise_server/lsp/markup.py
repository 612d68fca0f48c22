"""Blocks as Markdown or plain text. Texts of others are made inert (`report.markdown`)."""

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
            widths = [max(len(row[column]) for row in lines) for column in range(len(head))]
            return "\n".join(
                "  ".join(
                    cell.ljust(width) for cell, width in zip(row, widths, strict=True)
                ).rstrip()
                for row in lines
            )
        case Code(lines, _):
            return "\n".join(f"    {line}" for line in lines)
