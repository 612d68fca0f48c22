"""Whole worktrees and branches as a page: a table for each batch, then its groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from excise import Cluster
from excise.patches import Patch, differences
from excise_server.candidates.worktrees import Worktrees
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import first_few
from excise_server.report.candidate_rows import (
    CandidateRow,
    Lines,
    candidate_rows,
)
from excise_server.report.fitting import cut
from excise_server.report.group_words import group_lines
from excise_server.report.html_clusters import render, table
from excise_server.report.html_model import OWN, TWO, Block, Group, Item, Report
from excise_server.report.html_patches import difference_blocks
from excise_server.report.html_picture import picture_of
from excise_server.report.markup import Child, Markup, element, joined
from excise_server.report.tables import plural
from excise_server.report.words import beside
from excise_server.report.worktree_facts import rejected_names, worktree_facts
from excise_server.report.worktrees import file_status
from excise_server.review.kinds import KINDS
from excise_server.review.ranked import RankedBatch

__all__ = ["worktrees_page"]

_NAME = 32
"""Columns of a name in a table. A longer one loses its middle."""


def worktrees_page(worktrees: Worktrees) -> str:
    """Return the page of batches, ranked and grouped."""
    candidates = worktrees.candidates
    labels = [visible(candidate.label) for candidate in candidates.found]
    by_batch = candidate_rows(worktrees, lambda label: cut(label, _NAME))
    rows = {row.ranked.index: row for _, of_batch in by_batch for row in of_batch}
    reasons = _reasons(worktrees)
    return render(
        Report(
            title=f"{plural(len(labels), 'candidate')} for {visible(worktrees.top)}",
            what="candidates",
            facts=(
                ("candidates", f"{len(labels):,}"),
                ("batches", f"{len(worktrees.batches):,}"),
                ("to read", f"{len(worktrees.clusters):,}"),
                ("landed already", f"{len(candidates.landed):,}"),
                ("unchanged", f"{len(candidates.unchanged):,}"),
                ("replayed onto", candidates.origin[:10]),
            ),
            groups=[
                Group(
                    tuple(_items(worktrees, cluster, rows, reasons.get(number, ""))),
                    cluster.min_similarity,
                    number,
                    reasons.get(number, ""),
                )
                for number, cluster in enumerate(worktrees.clusters, start=1)
            ],
            picture=picture_of(worktrees.values, labels, worktrees.clusters, worktrees.words),
            threshold=worktrees.threshold,
            linkage=worktrees.linkage,
            signature=worktrees.signature,
            notes=[f"{head}: {', '.join(parts)}" for head, parts in worktree_facts(worktrees)],
            rejected=[
                (name, rejected.reason)
                for name, rejected in zip(
                    rejected_names(worktrees), candidates.rejected, strict=True
                )
            ],
            before=(("batches", "Batches", _batches(by_batch)),) if labels else (),
        )
    )


def _batches(by_batch: Sequence[tuple[RankedBatch, list[CandidateRow]]]) -> Markup:
    """Return a table for every batch of several candidates, and one for those that are alone."""
    parts = []
    for number, (batch, rows) in enumerate(by_batch, start=1):
        if batch.is_ranked:
            task = f" ({visible(batch.batch.task)})" if batch.batch.task else ""
            shared = first_few([visible(path) for path in batch.batch.shared])
            paths = f": {shared}" if shared else ""
            groups = plural(len(batch.clusters), "group")
            parts.append(
                _table(f"Batch {number}{task}, {len(rows):,} candidates in {groups}{paths}", rows)
            )
    if alone := [row for batch, rows in by_batch if not batch.is_ranked for row in rows]:
        tasks = "each with a task of its own: " if len(alone) > 1 else "alone with its task: "
        parts.append(_table(f"{plural(len(alone), 'candidate')}, {tasks}listed, not ranked", alone))
    return joined(parts)


def _table(caption: str, rows: Sequence[CandidateRow]) -> Markup:
    kinds = [kind for kind in KINDS if kind == "code" or any(row.lines[kind].files for row in rows)]
    ranked = any(row.is_ranked for row in rows)
    checked = any(row.checks for row in rows)
    names = ["candidate", *["group"] * ranked, *["checks"] * checked, "what it is", *kinds]
    numbers = ["rank", "tokens"] if ranked else ["tokens"]
    return table(
        caption,
        [*names, *numbers],
        [_cells(row, kinds, ranked=ranked, checked=checked) for row in rows],
    )


def _cells(row: CandidateRow, kinds: Sequence[str], *, ranked: bool, checked: bool) -> list[Child]:
    candidate, result = row.candidate, row.ranked
    label, branch = visible(candidate.label), visible(candidate.place)
    about = [cut(branch, _NAME)] if branch not in ("", label) else []
    about += [row.behind] if row.behind else []
    conflicts = [f"{visible(path)}: {why}" for path, why in candidate.conflicts.items()]
    notes = [*conflicts, *(note for note in result.notes if note not in conflicts)]
    notes += (
        [f"{plural(candidate.uncommitted, 'file')} uncommitted"] if candidate.uncommitted else []
    )
    notes += ["still being written"] if candidate.is_written else []
    numbers: list[Child] = [f"{result.edit_size:,}"]
    if ranked:
        numbers = [result.rank, *numbers]
    name = element("span", cut(label, _NAME), class_="id n", title=label)
    return [
        joined((name, element("br"), element("span", ", ".join(about), class_="n dim small"))),
        *([f"{row.group}{' ●' if row.stands else ''}"] if ranked else []),
        *([row.checks or "-"] if checked else []),
        element(
            "div", row.says, element("div", "; ".join(notes), class_="dim small"), class_="says"
        ),
        *(_lines(row.lines[kind]) for kind in KINDS if kind in kinds),
        *(element("span", number, class_="n dim small") for number in numbers),
    ]


def _lines(lines: Lines) -> Markup:
    if not (lines.added or lines.deleted):
        return element("span", plural(lines.files, "file") if lines.files else "")
    plus = element("span", f"+{lines.added:,}", class_="plus")
    return element(
        "span", plus, " ", element("span", f"-{lines.deleted:,}", class_="minus"), class_="n"
    )


def _reasons(worktrees: Worktrees) -> dict[int, str]:
    """Return what sets groups apart, by their numbers."""
    reasons: dict[int, str] = {}
    first = 1
    for index, batch in enumerate(worktrees.batches):
        reasons |= {number: text for number, _, text in group_lines(worktrees, index, batch, first)}
        first += len(batch.clusters)
    return reasons


def _items(
    worktrees: Worktrees, cluster: Cluster, rows: dict[int, CandidateRow], reasons: str
) -> Iterator[Item]:
    """Yield the members of a group, its representative first."""
    best = cluster.representative
    others = (i for i in cluster.members if i != best)
    for i in (best, *sorted(others, key=lambda i: (-worktrees.values[best, i], i))):
        yield _item(worktrees, best, rows[i], "" if len(cluster.members) > 1 else reasons)


def _item(worktrees: Worktrees, best: int, row: CandidateRow, reasons: str) -> Item:
    i, candidate = row.ranked.index, row.candidate
    files = worktrees.patches[i].files
    changed = [f"{visible(pair.path)} ({file_status(pair)})" for pair in files[:12]]
    more = [f"and {len(files) - 12:,} more"] if len(files) > 12 else []
    branch = visible(candidate.place)
    title = f"{row.says[:1].upper()}{row.says[1:]}" if i == best else branch
    contained = (
        float(worktrees.matrix.contained[i, best]),
        float(worktrees.matrix.contained[best, i]),
    )
    return Item(
        name=visible(candidate.label),
        title=", ".join(fact for fact in (title, row.behind) if fact),
        about=(
            ("what sets it apart", reasons),
            ("id", candidate.id),
            ("folder", visible(candidate.folder)),
            ("branch", branch),
            ("commit", candidate.commit),
            ("files", ", ".join([*changed, *more])),
            ("notes", "; ".join(row.ranked.notes)),
        ),
        similarity=float(worktrees.values[best, i]),
        contains=None,
        blocks=partial(_blocks, worktrees, best, i),
        columns=OWN if i == best else TWO,
        word=beside(worktrees.matrix.word(i, best), contained),
    )


def _blocks(worktrees: Worktrees, best: int, i: int) -> Iterator[Block]:
    before = Patch() if i == best else worktrees.patches[best]
    # Ignored files were left out when the candidates were compared.
    return difference_blocks(differences(before, worktrees.patches[i], ignored=()).differing)
