"""Pages of groups: of patches, of the revisions of one file, and of whole candidates."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from excise import Cluster, ScoreMatrix
from excise.patches import Patch, differences
from excise.patches.differences import BlockSide, Difference, Match
from excise.patches.evidence import Evidence, EvidenceReader
from excise.patches.related import relation
from excise_server.candidates.worktrees import Review
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import RevisionSet, first_few
from excise_server.report.cluster import Grouped, head_line, issue_lines, more_lines
from excise_server.report.html_clusters import (
    OWN,
    TWO,
    PageBlock,
    PageGroup,
    PageItem,
    in_order,
    picture_of,
    render,
    table,
)
from excise_server.report.html_page import Child, Markup, element, joined
from excise_server.report.likeness import parts, related_words, said
from excise_server.report.tables import cut
from excise_server.report.words import digits, plural, word_beside, words_of
from excise_server.report.worktrees import (
    CandidateRow,
    candidate_rows,
    file_status,
    group_lines,
    rejected_names,
    worktree_facts,
)
from excise_server.review.kinds import KINDS
from excise_server.wire.documents import ClusterDocument

if TYPE_CHECKING:
    from excise_server.report.html_clusters import Values

MAX_HEADING = 80
"""Most characters shown of a hunk's heading. Git itself writes no more."""

MAX_MATCHES = 3
"""Most other places named of one row."""


def patches_page(grouped: Grouped, document: ClusterDocument) -> str:
    """Return the page of issues: every patch beside the one of its issue that is to be read."""
    pool, clusters, queue = grouped.pool, grouped.clusters, grouped.queue
    number_of = {member.id: index for index, member in enumerate(queue.patches)}
    reader = EvidenceReader()
    groups = []
    for issue, lines in zip(document.issues, issue_lines(document), strict=True):
        best = number_of[issue.representative]
        evidence = grouped.evidence(reader, best)
        others = [number_of[name] for name in issue.members if name != issue.representative]
        scores = {index: pool.score(best, index) for index in others}
        others.sort(key=lambda index: -scores[index])
        items = [_item(grouped, best, best, lambda index: "")]
        related = partial(_related, grouped, reader, evidence)
        items += (_item(grouped, best, index, related) for index in others)
        said = f"{lines.head}. {lines.evidence}" if lines.evidence else f"{lines.head}."
        groups.append(
            PageGroup(tuple(items), min(scores.values(), default=1.0), reasons=visible(said))
        )
    together = {name for issue in document.issues for name in issue.members}
    alone = [index for name, index in number_of.items() if name not in together]
    groups += (PageGroup((_item(grouped, i, i, lambda index: ""),), 1.0) for i in alone)
    facts = (
        ("patches", f"{len(pool):,}"),
        ("issues", f"{len(document.issues):,}"),
        ("alone", f"{len(alone):,}"),
        ("edits", f"{len(clusters):,}"),
    )

    def dense(shown: list[int]) -> Values:
        import numpy as np

        values = np.ones((len(shown), len(shown)))
        pool.dense(array("i", shown), values)
        return values

    return render(
        title=head_line(document),
        what="patches",
        facts=facts,
        groups=groups,
        picture=picture_of(dense, [visible(member.id) for member in queue.patches], clusters),
        threshold=document.threshold,
        linkage=document.linkage,
        signature=pool.signature,
        notes=[visible(line) for line in more_lines(document, verbose=True)],
        rejected=[(visible(rejection.id), rejection.reason) for rejection in queue.rejected],
    )


def _related(grouped: Grouped, reader: EvidenceReader, evidence: Evidence, index: int) -> str:
    return related_words(relation(evidence, grouped.evidence(reader, index)))


def difference_blocks(
    differing: Sequence[Difference], *, numbers: bool = False
) -> Iterator[PageBlock]:
    """Yield differing change blocks for the page, where `numbers` gives how much matches."""
    for difference in differing:
        a, b = difference.a, difference.b
        places = dict.fromkeys(_place(side) for side in (a, b) if side)
        if a and b and a.path == b.path and a.heading == b.heading:
            places = dict.fromkeys([_place(a)])
        note = _matching(difference) if numbers else ""
        yield PageBlock("; ".join(places), _signed(a), _signed(b), note)


def _place(side: BlockSide | Match) -> str:
    heading = side.heading
    if len(heading) > MAX_HEADING:
        heading = f"{heading[:MAX_HEADING]}…"
    about = f" ({heading})" if heading else ""
    return f"{visible(side.path)}, line {side.line:,}{about}"


def _matching(difference: Difference) -> str:
    """Say how much of a block matches at its place, and how much at other places."""
    phrases = [f"{difference.here:,} of {difference.size:,} n-grams match here"]
    shown = difference.elsewhere[:MAX_MATCHES]
    phrases += [f"{match.n_grams:,} at {_place(match)}" for match in shown]
    if rest := sum(match.n_grams for match in difference.elsewhere[MAX_MATCHES:]):
        phrases.append(f"{rest:,} at other places")
    return "; ".join(phrases)


def _signed(side: BlockSide | None) -> list[tuple[str, str]] | None:
    if side is None:
        return None
    return [*(("-", line) for line in side.old), *(("+", line) for line in side.new)]


def _item(grouped: Grouped, best: int, index: int, related: Callable[[int], str]) -> PageItem:
    pool, members = grouped.pool, grouped.queue.patches
    message = members[index].message
    series = message.series
    place = f", {series.index} of {series.total}" if series.numbered else ""
    files = grouped.patch_of(index).files
    facts = [f"{visible(p.path)}: {visible(fact)}" for p in files for fact in p.facts]
    lines = f"+{sum(p.added for p in files):,} -{sum(p.deleted for p in files):,}"
    about = [
        ("from", message.author),
        ("date", message.date),
        ("version", f"v{series.version}{place}" if series.numbered or series.version > 1 else ""),
        ("files", f"{lines} in {', '.join(visible(pair.path) for pair in files[:12])}"
                  + (f" and {len(files) - 12:,} more" if len(files) > 12 else "")),
        ("facts", "; ".join(facts[:12])),
        ("notes", "; ".join(pool.notes[index])),
    ]  # fmt: skip
    same = index == best
    likeness = None if same else pool.likeness(best, index)
    if likeness is not None:
        contained = f"{digits(likeness.contained_in_a)} of what it adds and deletes"
        about += [("share back", f"the representative has {contained}"), ("parts", parts(likeness))]
        about.append(("related", related(index)))
    return PageItem(
        name=visible(members[index].id),
        title=message.title or message.subject,
        about=tuple(about),
        similarity=1.0 if same else pool.score(best, index),
        contains=likeness.contained_in_b if likeness else None,
        blocks=partial(_differing, grouped, best, index),
        columns=OWN if same else TWO,
        word=said(likeness) if likeness else "",
    )


def _differing(grouped: Grouped, best: int, index: int) -> Iterator[PageBlock | str]:
    pool, patch = grouped.pool, grouped.patch_of(index)
    if best == index:
        differ = differences(Patch(), patch, ignored=pool.ignored)
        yield from difference_blocks(differ.differing)
        return
    differ = differences(
        grouped.patch_of(best), patch, ignored=pool.ignored, renamed=pool.rescued(best, index)
    )
    if differ.same and differ.differing:
        alike = f"{differ.same:,} change blocks are alike at the same place"
        yield f"{alike}, {differ.same_size:,} n-grams of both."
    yield from difference_blocks(differ.differing, numbers=True)


def revisions_page(
    matrix: ScoreMatrix,
    clusters: Sequence[Cluster],
    revision_set: RevisionSet,
    reasons: Sequence[str],
    *,
    threshold: float,
    linkage: str,
) -> str:
    """Return the page of grouped revisions."""
    notes = [f"{name}: {note}" for name, all_notes in zip(matrix.ids, matrix.notes, strict=True)
             for note in all_notes]  # fmt: skip
    facts = (
        ("revisions", f"{len(matrix.ids):,}"),
        ("clusters", f"{sum(len(c.members) > 1 for c in clusters):,}"),
        ("alone", f"{sum(len(c.members) == 1 for c in clusters):,}"),
        ("no change", f"{sum(matrix.no_ops):,}"),
    )
    return render(
        title=f"{len(matrix.ids):,} revisions of {revision_set.name}, {len(clusters):,} to read",
        what="revisions",
        facts=facts,
        groups=[
            PageGroup(
                tuple(
                    _revision(matrix, revision_set, best, member)
                    for member in in_order(cluster, matrix.values[best].__getitem__)
                ),
                cluster.min_similarity,
                reasons=line,
            )
            for cluster, line in zip(clusters, reasons, strict=True)
            for best in (cluster.representative,)
        ],
        picture=picture_of(matrix.values, matrix.ids, clusters, words_of(matrix)),
        threshold=threshold,
        linkage=linkage,
        signature=matrix.signature,
        notes=[*notes, *(f"{name}: {note}" for name, note in revision_set.notes)],
        rejected=[(rejected.id, rejected.reason) for rejected in revision_set.rejected],
    )


def _revision(matrix: ScoreMatrix, revision_set: RevisionSet, best: int, index: int) -> PageItem:
    edit = "no change" if matrix.no_ops[index] else f"{matrix.edit_sizes[index]:,} tokens"
    about = [("edit", edit), ("notes", "; ".join(matrix.notes[index]))]
    if index != best and matrix.anchored[best, index] != matrix.anywhere[best, index]:
        anchored, anywhere = (float(m[best, index]) for m in (matrix.anchored, matrix.anywhere))
        parts = f"{digits(anchored)} at the same place, {digits(anywhere)} anywhere"
        about.append(("similarity", parts))
    return PageItem(
        name=matrix.ids[index],
        title=revision_set.revisions[index].label,
        about=tuple(about),
        similarity=float(matrix.values[best, index]),
        contains=None,
        blocks=partial(_hunks, matrix, best, index),
        columns=OWN if index == best else TWO,
        word="" if index == best else word_beside(matrix, index, best),
    )


def _hunks(matrix: ScoreMatrix, best: int, index: int) -> Iterator[PageBlock]:
    """Yield the hunks where a revision does not have the representative's exact lines."""
    for hunk in matrix.hunks(sorted({best, index})):
        texts = {member: v.text for v in hunk.variants for member in v.members}
        if index != best and texts[best] == texts[index]:
            continue
        where = f"line {hunk.lo + 1:,}" + (f" to {hunk.hi:,}" if hunk.hi > hunk.lo + 1 else "")
        a, b = (_both(hunk.text, texts[member]) for member in (best, index))
        yield PageBlock(where, None if index == best else a, b)


def _both(origin: str, text: str) -> list[tuple[str, str]]:
    if origin == text:
        return [(" ", line) for line in _lines(origin)]
    return [*(("-", line) for line in _lines(origin)), *(("+", line) for line in _lines(text))]


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


# --- whole candidates ----------------------------------------------------------------------------

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
            ("tasks", f"{len(worktrees.batches):,}"),
            ("to read", f"{len(worktrees.clusters):,}"),
            ("landed already", f"{len(candidates.landed):,}"),
            ("unchanged", f"{len(candidates.unchanged):,}"),
            ("replayed onto", candidates.origin[:10]),
        ),
        groups=[
            PageGroup(
                tuple(
                    _candidate(
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
        before=(("tasks", "Tasks", _batches(worktrees, by_batch)),) if labels else (),
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
        about = f"Task {number}{task}, {len(rows):,} candidates in {groups}{paths}"
        parts.append(_candidate_table(about, rows))
    if alone:
        tasks = "each with a task of its own: " if len(alone) > 1 else "alone with its task: "
        about = f"{plural(len(alone), 'candidate')}, {tasks}listed, not ranked"
        parts.append(_candidate_table(about, alone))
    return joined(parts)


def _candidate_table(caption: str, rows: Sequence[CandidateRow]) -> Markup:
    """Return a table without the columns that say nothing."""
    ranked = any(row.entry.rank for row in rows)
    checked = any(row.checks for row in rows)
    kinds = [k for k in KINDS if k == "code" or any(row.entry.lines[k].files for row in rows)]
    columns: list[tuple[bool, str, Callable[[CandidateRow], Child]]] = [
        (True, "candidate", _name),
        (ranked, "group", lambda row: f"{row.entry.cluster}{' ●' if row.stands else ''}"),
        (checked, "checks", lambda row: row.checks or "-"),
        (True, "what it is", _says),
        *((True, kind, partial(_changed_lines, kind)) for kind in kinds),
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


def _changed_lines(kind: str, row: CandidateRow) -> Markup:
    lines = row.entry.lines[kind]
    if not (lines.added or lines.deleted):
        return element("span", plural(lines.files, "file") if lines.files else "")
    plus = element("span", f"+{lines.added:,}", class_="plus")
    return element(
        "span", plus, " ", element("span", f"-{lines.deleted:,}", class_="minus"), class_="n"
    )


def _candidate(worktrees: Review, best: int, row: CandidateRow, reasons: str) -> PageItem:
    i, candidate = row.ranked.index, row.candidate
    files = worktrees.patches[i].files
    changed = [f"{visible(pair.path)} ({file_status(pair)})" for pair in files[:12]]
    more = [f"and {len(files) - 12:,} more"] if len(files) > 12 else []
    branch = visible(candidate.place)
    says = row.says(_cut)
    title = f"{says[:1].upper()}{says[1:]}" if i == best else branch
    return PageItem(
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
        blocks=partial(_candidate_blocks, worktrees, best, i),
        columns=OWN if i == best else TWO,
        word="" if i == best else word_beside(worktrees.matrix, i, best),
    )


def _candidate_blocks(worktrees: Review, best: int, i: int) -> Iterator[PageBlock]:
    before = Patch() if i == best else worktrees.patches[best]
    # Ignored files were left out when the candidates were compared.
    return difference_blocks(differences(before, worktrees.patches[i], ignored=()).differing)
