"""Groups of patches, for people, for programs and for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import UNSET
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from excise import Cluster
from excise.patches import Likeness, Message, Pool
from excise_server.foundation.escape import printable
from excise_server.queue.reading import Member, Queue
from excise_server.report.fitting import cut
from excise_server.report.groups import Grouped
from excise_server.report.likeness import said
from excise_server.report.patch_shapes import CoverEntry, PatchDocument, PatchEntry
from excise_server.report.records import Records, name_column
from excise_server.report.shapes import GroupEntry, RejectedEntry
from excise_server.report.tables import bar, number

__all__ = ["patch_csv", "patch_document", "patch_table"]

Row = tuple[int, int, Likeness | None]
"""Cluster, patch, and what it has in common with the representative; None: it is that."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def patch_document(grouped: Grouped, *, scores: bool) -> PatchDocument:
    """Return the clusters, the largest first, and what is known of each patch."""
    pool, clusters, queue = grouped.pool, grouped.clusters, grouped.queue
    ids = [member.id for member in queue.patches]
    notes: dict[str, list[str]] = {}
    own = [(name, note) for name, said in zip(ids, pool.notes, strict=True) for note in said]
    for name, note in [*own, *queue.notes]:
        notes.setdefault(name, []).append(note)
    near = pool.near(0.0) if scores else ()
    return PatchDocument(
        signature=pool.signature,
        basis=pool.basis,
        threshold=grouped.threshold,
        linkage=grouped.linkage,
        clusters=[
            GroupEntry(
                members=[ids[at] for at in cluster.members],
                representative=ids[cluster.representative],
                min_similarity=cluster.min_similarity,
            )
            for cluster in clusters
        ],
        patches=[_patch(queue.patches[row[1]], pool, row) for row in _rows(pool, clusters)],
        covers=[CoverEntry(id=m.id, subject=m.message.subject) for m in queue.covers],
        notes=notes,
        rejected=[RejectedEntry(id=left.id, reason=left.reason) for left in queue.rejected],
        new=UNSET if grouped.new is None else [name for name in ids if name in grouped.new],
        state=UNSET if grouped.new is None else list(grouped.about),
        scores=[(ids[i], ids[j], value) for i, j, value in near if value > 0] if scores else UNSET,
    )


def patch_table(
    pool: Pool,
    clusters: Sequence[Cluster],
    queue: Queue,
    new: frozenset[str] | None = None,
    every: Sequence[Cluster] = (),
) -> RenderableType:
    """Return the clusters, with ● for the representative and each member's similarity to it.

    ``new`` ids are marked; a cluster has its number among ``every``, where some are not shown.
    """
    numbers = {cluster.members: place for place, cluster in enumerate(every, start=1)}
    rows = list(_rows(pool, clusters))

    def build(length: int) -> Table:
        names = [cut(printable(queue.patches[at].id), length) for _, at, _ in rows]
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
        table.add_column("cluster", justify="right")
        table.add_column("", width=1)
        name_column(table, "patch", [f"{name} new" for name in names] if new else names)
        table.add_column("similarity", no_wrap=True)
        table.add_column("word")
        table.add_column("contains", justify="right", no_wrap=True)
        table.add_column("version", justify="right", no_wrap=True)
        table.add_column("subject", overflow="fold")
        for name, (place, at, likeness) in zip(names, rows, strict=True):
            message = queue.patches[at].message
            stands = likeness is None
            value = 1.0 if likeness is None else likeness.value
            table.add_row(
                str(numbers.get(clusters[place - 1].members, place)) if stands else "",
                Text("●", "green") if stands else "",
                Text.assemble(
                    (name, "bold" if stands else ""),
                    (" new" if new and queue.patches[at].id in new else "", "yellow"),
                ),
                Text() if stands else Text.assemble(number(value), " ", bar(value, 8)),
                Text(said(likeness) if likeness else ""),
                number(likeness.contained_in_b) if likeness else Text(),
                _version(message),
                Text(printable(message.title or message.subject), "dim"),
            )
        return table

    return Records(build, is_grouped=True)


def patch_csv(pool: Pool, clusters: Sequence[Cluster], queue: Queue) -> str:
    """Return a line per patch, with cells quoted that a spreadsheet would run as a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = "cluster id representative similarity contains contained version subject author date"
    writer.writerow([*names.split(), *_SHARES])
    for place, at, likeness in _rows(pool, clusters):
        message = queue.patches[at].message
        texts = message.subject, message.author, message.date
        known = _shares(likeness)
        first = [known.pop(name) for name in ("similarity", "contains", "contained")]
        cells = [place, _cell(queue.patches[at].id), int(likeness is None), *first]
        writer.writerow([*cells, message.series.version, *map(_cell, texts), *known.values()])
    return out.getvalue()


def _rows(pool: Pool, clusters: Iterable[Cluster]) -> Iterator[Row]:
    """Yield a row a patch, representatives first."""
    for place, cluster in enumerate(clusters, start=1):
        best = cluster.representative
        yield place, best, None
        yield from (
            (place, member, pool.likeness(best, member))
            for member in cluster.members
            if member != best
        )


_SHARES = ("word", "anchored", "anywhere", "in_another_file")


def _shares(likeness: Likeness | None) -> dict[str, Any]:
    """Return the shares that a patch has in common with its representative, if it is another."""
    if likeness is None:
        return {"similarity": 1.0, "contains": None, "contained": None, **dict.fromkeys(_SHARES)}
    return {
        "similarity": likeness.value,
        "contains": likeness.contained_in_b,
        "contained": likeness.contained_in_a,
        "word": likeness.word,
        "anchored": float(likeness.shares.anchored),
        "anywhere": float(likeness.shares.anywhere),
        "in_another_file": likeness.in_another_file,
    }


def _patch(member: Member, pool: Pool, row: Row) -> PatchEntry:
    place, position, likeness = row
    message = member.message
    return PatchEntry(
        id=member.id,
        messages=list(member.parts) or UNSET,
        cluster=place,
        **_shares(likeness),
        patch_id=pool.patch_id(position),
        message_id=message.message_id,
        subject=message.subject,
        author=message.author,
        date=message.date,
        version=message.series.version,
        index=message.series.index,
        total=message.series.total,
        files=list(message.patch.paths),
        facts=[f"{p.path}: {fact}" for p in message.patch.files for fact in p.facts],
    )


def _version(message: Message) -> Text:
    series = message.series
    place = f" {series.index}/{series.total}" if series.numbered else ""
    return Text(f"v{series.version}{place}", "dim")


def _cell(text: str) -> str:
    shown = printable(text)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown
