"""Duplicates for people at a terminal: a line a pair, and below it why."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.text import Text

from excise_server.report.duplicate_shapes import DuplicatePair, DuplicatesDocument, ProposalEntry
from excise_server.report.duplicates import numbers_of
from excise_server.report.escape import printable
from excise_server.report.fitting import cut
from excise_server.report.tables import notes_text, plural, signature_text

__all__ = ["duplicates_lines"]

_STYLES = {"likely": "bold red", "possibly": "yellow", "none": "dim"}
_INDENT = "    "


def duplicates_lines(document: DuplicatesDocument, out: Console) -> Iterator[RenderableType]:
    """Yield the lines of what was found; a long one loses its middle on a terminal."""
    width = out.width if out.is_terminal else 1 << 20
    proposals = {proposal.id: proposal for proposal in document.proposals}
    for pair in document.pairs:
        yield from _pair(pair, proposals, width)
        yield Text()
    among = f"{plural(document.among, 'proposal')}" if document.among else "each other"
    asked = f"{plural(document.asked, 'proposal')} compared with {among}"
    said = "nothing related" if not document.pairs else f"{plural(len(document.pairs), 'pair')}"
    yield Text(f"{asked}: {said}")
    yield from notes_text("note", document.notes)
    yield signature_text(document.signature)


def _pair(pair: DuplicatePair, proposals: dict[str, ProposalEntry], width: int) -> Iterator[Text]:
    style = "dim" if pair.otherwise else _STYLES[pair.level]
    otherwise = f" ({pair.otherwise})" if pair.otherwise else ""
    yield Text.assemble((f"{pair.word}{otherwise}", style), f"  {numbers_of(pair)}")
    for name in (pair.new, pair.other):
        proposal = proposals[name]
        state = f" ({proposal.state})" if proposal.state else ""
        shown = cut(printable(name), max(12, width // 3))
        room = max(8, width - len(shown) - len(state) - 4)
        yield Text.assemble("  ", (shown, "bold"), state, "  ",
                            (cut(printable(proposal.title), room), ""))  # fmt: skip
    for line in _reasons(pair):
        yield Text(f"{_INDENT}{cut(line, max(8, width - len(_INDENT)))}", "dim")


def _reasons(pair: DuplicatePair) -> Iterator[str]:
    if pair.reasons is None:
        return
    for line in pair.reasons.where:
        yield printable(f"where  {line.path}:{line.line}  {line.text}")
    if pair.reasons.what:
        yield printable(f"what   {'  '.join(pair.reasons.what)}")
    if pair.reasons.why:
        yield printable(f"why    {', '.join(pair.reasons.why)}")
