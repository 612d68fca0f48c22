"""Worktrees and branches for people: a table of rank, agreement, edit size, files and cluster."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from excise_server.report.escape import printable
from excise_server.report.tables import bar, notes_text, number, signature_text
from excise_server.review.candidate import Candidate
from excise_server.sources.paths import visible
from excise_server.worktrees import Worktrees

__all__ = ["about_worktrees", "worktree_table"]

_NAMED_FROM = 100
"""Columns of a terminal from which files are named."""

_NAMES = 3
"""Files that are named; the others are counted."""


def worktree_table(found: Worktrees, width: int) -> RenderableType:
    """Return the order of suggestions; ● is the representative of its cluster.

    Files are named where the width allows it.
    """
    names = width >= _NAMED_FROM
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("rank", justify="right")
    table.add_column("candidate", overflow="fold")
    table.add_column("agreement", no_wrap=True)
    table.add_column("edit", justify="right", no_wrap=True)
    table.add_column("cluster", no_wrap=True)
    table.add_column("files", no_wrap=True)
    if names:
        table.add_column("", no_wrap=True, overflow="ellipsis", style="dim")
    table.add_column("notes", overflow="fold", style="dim")
    places = {at: (n, c) for n, c in enumerate(found.clusters, start=1) for at in c.members}
    for ranked in found.ranking:
        place, cluster = places[ranked.index]
        stands = cluster.representative == ranked.index
        value = float(found.values[ranked.index, cluster.representative])
        own = Text("●", "green") if stands else number(value)
        table.add_row(
            str(ranked.rank),
            Text(
                printable(visible(found.candidates.found[ranked.index].label)),
                "bold" if ranked.rank == 1 else "",
            ),
            Text.assemble(number(ranked.agreement), " ", bar(ranked.agreement, 10)),
            f"{ranked.edit_size:,}",
            Text.assemble(f"{place} ", own),
            *_files(found, ranked.index)[: 1 + names],
            Text(printable("; ".join(_notes(found, ranked.index, ranked.notes)))),
        )
    return table


def about_worktrees(found: Worktrees) -> list[RenderableType]:
    """Return what is to be known of all: the origin, who changed nothing, the signature."""
    candidates = found.candidates
    how = f"basis origin, {found.linkage} linkage, distance {found.threshold:g}"
    lines = [f"all replayed onto {candidates.origin[:12]} of {visible(found.top)}; {how}"]
    if candidates.unchanged:
        lines.append(f"no edits, not ranked: {', '.join(candidates.unchanged)}")
    if candidates.landed:
        lines.append(f"already in the target, not ranked: {', '.join(candidates.landed)}")
    return [*notes_text("note", [*candidates.notes, *lines]), signature_text(found.signature)]


def _files(found: Worktrees, at: int) -> tuple[Text, Text]:
    """Return how much changed, and where."""
    pairs = found.patches[at].files
    added, deleted = sum(p.added for p in pairs), sum(p.deleted for p in pairs)
    lines = Text.assemble(f"{len(pairs)} ", (f"+{added:,}", "green"), " ", (f"-{deleted:,}", "red"))
    names = ", ".join(printable(visible(pair.path)) for pair in pairs[:_NAMES])
    more = f" and {len(pairs) - _NAMES} more" if len(pairs) > _NAMES else ""
    return lines, Text(f"{names}{more}")


def _notes(found: Worktrees, at: int, notes: tuple[str, ...]) -> list[str]:
    candidate, ranked = found.candidates.found[at], found.ranking
    about = next(r for r in ranked if r.index == at)
    said = ["no change"] if about.no_op else []
    said += ["syntax errors"] if about.syntax_errors else []
    said += [f"behind {candidate.behind}"] if candidate.behind else []
    said += [f"{candidate.uncommitted} uncommitted"] if candidate.uncommitted else []
    said += ["still being written"] if candidate.is_written else []
    said += [f"identical to {_others(found, candidate)}"] if candidate.identical else []
    return [*said, *notes]


def _others(found: Worktrees, candidate: Candidate) -> str:
    labels = [visible(c.label) for c in found.candidates.found if c.id in candidate.identical]
    more = f" and {len(labels) - _NAMES} more" if len(labels) > _NAMES else ""
    return f"{', '.join(labels[:_NAMES])}{more}"
