"""Duplicates for people at a terminal: a line for each pair, followed by the reasons."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.text import Text

from excise_server.duplicates.reasons import SharedReasons
from excise_server.foundation.escape import printable
from excise_server.report.duplicates import (
    DuplicatePair,
    DuplicatesDocument,
    ProposalEntry,
    RelatedGroupsDocument,
    numbers_of,
)
from excise_server.report.tables import cut, notes_text, signature_text
from excise_server.report.words import plural

__all__ = ["duplicates_lines", "group_lines"]

_STYLES = {"likely": "bold red", "possibly": "yellow", "none": "dim"}
_INDENT = "    "


def duplicates_lines(document: DuplicatesDocument, out: Console) -> Iterator[RenderableType]:
    """Yield the lines of a report, in which long ones lose their middle on a terminal."""
    width = out.width if out.is_terminal else 1 << 20
    proposals = {proposal.id: proposal for proposal in document.proposals}
    for pair in document.pairs:
        yield Text.assemble(_word(pair), f"  {numbers_of(pair)}")
        for name in (pair.new, pair.other):
            yield _proposal("  ", proposals[name], width)
        reasons = pair.reasons or SharedReasons(where=[], what=[], why=[])
        lines = [f"where  {line.path}:{line.line}  {line.text}" for line in reasons.where]
        lines += [f"what   {'  '.join(reasons.what)}"] if reasons.what else []
        lines += [f"why    {', '.join(reasons.why)}"] if reasons.why else []
        for line in map(printable, lines):
            yield Text(f"{_INDENT}{cut(line, max(8, width - len(_INDENT)))}", "dim")
        yield Text()
    among = f"{plural(document.among, 'proposal')}" if document.among else "each other"
    compared = f"{plural(document.asked, 'proposal')} compared with {among}"
    result = "nothing related" if not document.pairs else f"{plural(len(document.pairs), 'pair')}"
    yield Text(f"{compared}: {result}")
    yield from notes_text("note", document.notes)
    yield signature_text(document.signature)


def group_lines(document: RelatedGroupsDocument, out: Console) -> Iterator[RenderableType]:
    """Yield the groups: the proposal to read, then how each other member relates to it."""
    width = out.width if out.is_terminal else 1 << 20
    proposals = {proposal.id: proposal for proposal in document.proposals}
    pairs = {pair.other: pair for pair in document.pairs}
    groups = [group for group in document.clusters if len(group.members) > 1]
    for number, group in enumerate(groups, start=1):
        yield _proposal(f"{number:>3} ● ", proposals[group.representative], width)
        for name in group.members:
            if name == group.representative:
                continue
            pair = pairs[name]
            yield _proposal("      ", proposals[name], width)
            yield Text.assemble("        ", _word(pair), f"  {numbers_of(pair)}")
        yield Text()
    alone = len(document.clusters) - len(groups)
    about = f"{plural(len(groups), 'group')}, {alone:,} alone; "
    yield Text(f"{about}{document.linkage} linkage, distance {document.threshold:g}")
    yield from notes_text("note", document.notes)
    yield signature_text(document.signature)


def _proposal(start: str, proposal: ProposalEntry, width: int) -> Text:
    state = f" ({proposal.state})" if proposal.state else ""
    shown = cut(printable(proposal.id), max(12, width // 3))
    room = max(8, width - len(start) - len(shown) - len(state) - 2)
    title = cut(printable(proposal.title), room)
    return Text.assemble(start, (shown, "bold"), state, "  ", title)


def _word(pair: DuplicatePair) -> Text:
    style = "dim" if pair.otherwise else _STYLES[pair.level]
    otherwise = f" ({pair.otherwise})" if pair.otherwise else ""
    return Text(f"{pair.word}{otherwise}", style)
