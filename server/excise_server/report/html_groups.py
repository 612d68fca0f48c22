"""Pages of groups: of patches, and of the revisions of one file."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import UNSET

from excise import Cluster, ScoreMatrix
from excise.patches import Patch, differences
from excise.patches.differences import BlockSide, Difference, Match
from excise.patches.evidence import Evidence, EvidenceReader
from excise.patches.related import Level, relation
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import RevisionSet
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
)
from excise_server.report.likeness import parts, related_words, said
from excise_server.report.tables import reasons_text
from excise_server.report.words import digits, word_beside
from excise_server.wire.documents import ClusterDocument, CompareDocument

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
    levels = {frozenset((pair.new, pair.other)): pair.level for pair in document.pairs}
    groups = []
    for issue, lines in zip(document.issues, issue_lines(document), strict=True):
        best = number_of[issue.representative]
        evidence = grouped.evidence(reader, best)
        others = [number_of[name] for name in issue.members if name != issue.representative]
        scores = {index: pool.score(best, index) for index in others}
        others.sort(key=lambda index: -scores[index])
        items = [_item(grouped, best, best, lambda index: "")]
        related = partial(_related, grouped, reader, evidence, levels, issue.representative)
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


def _related(
    grouped: Grouped,
    reader: EvidenceReader,
    evidence: Evidence,
    levels: Mapping[frozenset[str], Level],
    best: str,
    index: int,
) -> str:
    level = levels.get(frozenset((best, grouped.queue.patches[index].id)))
    return related_words(relation(evidence, grouped.evidence(reader, index)), level)


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
        word=grouped.same(members[best].id, members[index].id) or said(likeness)
        if likeness
        else "",
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
    document: CompareDocument,
    matrix: ScoreMatrix,
    clusters: Sequence[Cluster],
    revision_set: RevisionSet,
) -> str:
    """Return the page of grouped revisions."""
    entry, values = document.clusters, document.matrix
    assert entry is not UNSET
    assert values is not UNSET
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
                reasons=reasons_text(group),
            )
            for cluster, group in zip(clusters, entry.groups, strict=True)
            for best in (cluster.representative,)
        ],
        picture=picture_of(matrix.values, matrix.ids, clusters, values.words),
        threshold=entry.threshold,
        linkage=entry.linkage,
        signature=document.signature,
        notes=[f"{name}: {note}" for name, notes in document.notes.items() for note in notes],
        rejected=[(rejected.id, rejected.reason) for rejected in document.rejected],
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
