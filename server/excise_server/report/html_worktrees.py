"""Whole worktrees and branches as a page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from excise import Cluster, Ranked
from excise.patches import Patch, differences
from excise_server.report.digits import digits
from excise_server.report.html_clusters import render, table
from excise_server.report.html_model import OWN, TWO, Block, Group, Item, Report
from excise_server.report.html_patches import difference_blocks
from excise_server.report.html_picture import picture_of
from excise_server.report.markup import Child, Markup, element
from excise_server.report.worktrees import file_status
from excise_server.sources.paths import visible
from excise_server.worktrees import Worktrees

__all__ = ["worktrees_page"]


def worktrees_page(found: Worktrees) -> str:
    """Return the page of ranked and grouped worktrees or branches."""
    candidates = found.candidates
    ids = [candidate.id for candidate in candidates.found]
    notes = [
        f"all replayed onto {candidates.origin}",
        f"basis origin, {found.linkage} linkage, distance {found.threshold:g}",
        *candidates.notes,
    ]
    if candidates.unchanged:
        notes.append(f"no edits, not ranked: {', '.join(candidates.unchanged)}")
    if candidates.landed:
        notes.append(f"already in the target, not ranked: {', '.join(candidates.landed)}")
    return render(
        Report(
            title=f"{len(ids):,} worktrees and branches of {visible(found.top)}",
            what="worktrees and branches",
            facts=(
                ("compared", f"{len(ids):,}"),
                ("to read", f"{len(found.clusters):,}"),
                ("without edits", f"{len(candidates.unchanged):,}"),
                ("replayed onto", candidates.origin[:10]),
            ),
            groups=[_group(found, cluster) for cluster in found.clusters],
            picture=picture_of(found.values, ids, found.clusters),
            threshold=found.threshold,
            linkage=found.linkage,
            signature=found.signature,
            notes=notes,
            rejected=[(r.id, r.reason) for r in candidates.rejected],
            before=(("ranking", "Ranking", _ranking(found)),) if ids else (),
        )
    )


def _ranking(found: Worktrees) -> Markup:
    places = {at: n for n, cluster in enumerate(found.clusters, start=1) for at in cluster.members}
    head = ("rank", "revision", "agreement", "edit size", "cluster", "files", "notes")
    rows = [_row(found, ranked, places[ranked.index]) for ranked in found.ranking]
    return table("By agreement and the smaller edit; the order is advice", head, rows)


def _row(found: Worktrees, ranked: Ranked, place: int) -> list[Child]:
    files = found.patches[ranked.index].files
    candidate = found.candidates.found[ranked.index]
    said = ["no change"] if ranked.no_op else []
    said += ["syntax errors"] if ranked.syntax_errors else []
    said += [f"behind {candidate.behind}"] if candidate.behind else []
    said += [f"{candidate.uncommitted} uncommitted"] if candidate.uncommitted else []
    lines = element(
        "span",
        f"{len(files):,} ",
        element("span", f"+{sum(pair.added for pair in files):,}", class_="plus"),
        " ",
        element("span", f"-{sum(pair.deleted for pair in files):,}", class_="minus"),
    )
    return [
        ranked.rank,
        element("span", ranked.id, class_="id"),
        digits(ranked.agreement),
        f"{ranked.edit_size:,}",
        place,
        lines,
        "; ".join([*said, *ranked.notes]),
    ]


def _group(found: Worktrees, cluster: Cluster) -> Group:
    best = cluster.representative
    others = sorted(
        (at for at in cluster.members if at != best), key=lambda at: (-found.values[best, at], at)
    )
    items = [_item(found, best, at) for at in (best, *others)]
    return Group(tuple(items), cluster.min_similarity)


def _item(found: Worktrees, best: int, at: int) -> Item:
    candidate, files = found.candidates.found[at], found.patches[at].files
    ranked = next(ranked for ranked in found.ranking if ranked.index == at)
    changed = [f"{visible(pair.path)} ({file_status(pair)})" for pair in files[:12]]
    more = [f"and {len(files) - 12:,} more"] if len(files) > 12 else []
    return Item(
        name=candidate.id,
        title=f"rank {ranked.rank}, {visible(candidate.branch) or 'detached'}",
        about=(
            ("folder", visible(candidate.folder)),
            ("commit", candidate.commit),
            ("files", ", ".join([*changed, *more])),
            ("notes", "; ".join(ranked.notes)),
        ),
        similarity=float(found.values[best, at]),
        contains=None,
        blocks=partial(_blocks, found, best, at),
        columns=OWN if at == best else TWO,
    )


def _blocks(found: Worktrees, best: int, at: int) -> Iterator[Block]:
    before = Patch() if at == best else found.patches[best]
    # What is to be left out was left out when these were read.
    return difference_blocks(differences(before, found.patches[at], ignored=()).differing)
