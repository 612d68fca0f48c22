"""Whole worktrees and branches as a page: a table for each batch, then its groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from excise.patches import Patch, differences
from excise_server.candidates.worktrees import Review
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import first_few
from excise_server.report.html_clusters import (
    OWN,
    TWO,
    Block,
    Group,
    Item,
    in_order,
    picture_of,
    render,
    table,
)
from excise_server.report.html_groups import difference_blocks
from excise_server.report.html_page import Child, Markup, element, joined
from excise_server.report.tables import cut
from excise_server.report.words import plural, word_beside
from excise_server.report.worktrees import (
    CandidateRow,
    candidate_rows,
    file_status,
    group_lines,
    rejected_names,
    worktree_facts,
)
from excise_server.review.kinds import KINDS

__all__ = ["worktrees_page"]

_NUMBER = "n dim small"
_NAME = 32
"""Columns of a name in a table. A longer one loses its middle."""


def worktrees_page(worktrees: Review) -> str:
    """Return the page of batches, ranked and grouped."""
    candidates = worktrees.candidates
    labels = [visible(candidate.label) for candidate in candidates.found]
    by_batch = candidate_rows(worktrees)
    rows = {row.ranked.index: row for of_batch in by_batch for row in of_batch}
    reasons = {number: text for _, number, _, text in group_lines(worktrees)}
    return render(
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
                tuple(
                    _item(
                        worktrees,
                        best,
                        rows[i],
                        reasons.get(number, "") if len(cluster.members) == 1 else "",
                    )
                    for i in in_order(cluster, worktrees.values[best].__getitem__)
                ),
                cluster.min_similarity,
                number,
                reasons.get(number, ""),
            )
            for number, cluster in enumerate(worktrees.clusters, start=1)
            for best in (cluster.representative,)
        ],
        picture=picture_of(worktrees.values, labels, worktrees.clusters, worktrees.words),
        threshold=worktrees.threshold,
        linkage=worktrees.linkage,
        signature=worktrees.signature,
        notes=[f"{head}: {', '.join(parts)}" for head, parts in worktree_facts(worktrees)],
        rejected=[
            (name, rejected.reason)
            for name, rejected in zip(rejected_names(worktrees), candidates.rejected, strict=True)
        ],
        before=(("batches", "Batches", _batches(worktrees, by_batch)),) if labels else (),
    )


def _batches(worktrees: Review, by_batch: Sequence[list[CandidateRow]]) -> Markup:
    """Return a table for every batch of several candidates, and one for those that are alone."""
    parts, alone = [], []
    for number, (batch, rows) in enumerate(zip(worktrees.batches, by_batch, strict=True), start=1):
        if not batch.is_ranked:
            alone += rows
            continue
        task = f" ({visible(batch.batch.task)})" if batch.batch.task else ""
        shared = first_few([visible(path) for path in batch.batch.shared])
        paths = f": {shared}" if shared else ""
        groups = plural(len(batch.clusters), "group")
        about = f"Batch {number}{task}, {len(rows):,} candidates in {groups}{paths}"
        parts.append(_table(about, rows))
    if alone:
        tasks = "each with a task of its own: " if len(alone) > 1 else "alone with its task: "
        parts.append(_table(f"{plural(len(alone), 'candidate')}, {tasks}listed, not ranked", alone))
    return joined(parts)


def _table(caption: str, rows: Sequence[CandidateRow]) -> Markup:
    """Return a table without the columns that say nothing."""
    ranked = any(row.entry.rank for row in rows)
    checked = any(row.checks for row in rows)
    kinds = [k for k in KINDS if k == "code" or any(row.entry.lines[k].files for row in rows)]
    columns: list[tuple[bool, str, Callable[[CandidateRow], Child]]] = [
        (True, "candidate", _name),
        (ranked, "group", lambda row: f"{row.entry.cluster}{' ●' if row.stands else ''}"),
        (checked, "checks", lambda row: row.checks or "-"),
        (True, "what it is", _says),
        *((True, kind, partial(_lines, kind)) for kind in kinds),
        (ranked, "rank", lambda row: element("span", row.entry.rank, class_=_NUMBER)),
        (True, "tokens", lambda row: element("span", f"{row.entry.edit_size:,}", class_=_NUMBER)),
    ]
    shown = [(head, cell) for is_shown, head, cell in columns if is_shown]
    cells = [[cell(row) for _, cell in shown] for row in rows]
    return table(caption, [head for head, _ in shown], cells)


def _cut(label: str) -> str:
    return cut(label, _NAME)


def _name(row: CandidateRow) -> Markup:
    label, branch = row.entry.label, visible(row.candidate.place)
    about = [_cut(branch)] if branch not in ("", label) else []
    about += [row.behind] if row.behind else []
    name = element("span", _cut(label), class_="id n", title=label)
    return joined((name, element("br"), element("span", ", ".join(about), class_="n dim small")))


def _says(row: CandidateRow) -> Markup:
    candidate = row.candidate
    conflicts = [f"{visible(path)}: {why}" for path, why in candidate.conflicts.items()]
    notes = [*conflicts, *(note for note in row.entry.notes if note not in conflicts)]
    if candidate.uncommitted:
        notes.append(f"{plural(candidate.uncommitted, 'file')} uncommitted")
    notes += ["still being written"] if candidate.is_written else []
    small = element("div", "; ".join(notes), class_="dim small")
    return element("div", row.says(_cut), small, class_="says")


def _lines(kind: str, row: CandidateRow) -> Markup:
    lines = row.entry.lines[kind]
    if not (lines.added or lines.deleted):
        return element("span", plural(lines.files, "file") if lines.files else "")
    plus = element("span", f"+{lines.added:,}", class_="plus")
    return element(
        "span", plus, " ", element("span", f"-{lines.deleted:,}", class_="minus"), class_="n"
    )


def _item(worktrees: Review, best: int, row: CandidateRow, reasons: str) -> Item:
    i, candidate = row.ranked.index, row.candidate
    files = worktrees.patches[i].files
    changed = [f"{visible(pair.path)} ({file_status(pair)})" for pair in files[:12]]
    more = [f"and {len(files) - 12:,} more"] if len(files) > 12 else []
    branch = visible(candidate.place)
    says = row.says(_cut)
    title = f"{says[:1].upper()}{says[1:]}" if i == best else branch
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
            ("notes", "; ".join(row.entry.notes)),
        ),
        similarity=float(worktrees.values[best, i]),
        contains=None,
        blocks=partial(_blocks, worktrees, best, i),
        columns=OWN if i == best else TWO,
        word=word_beside(worktrees.matrix, best, i),
    )


def _blocks(worktrees: Review, best: int, i: int) -> Iterator[Block]:
    before = Patch() if i == best else worktrees.patches[best]
    # Ignored files were left out when the candidates were compared.
    return difference_blocks(differences(before, worktrees.patches[i], ignored=()).differing)
