"""Groups of patches, for people, for programs and for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import NamedTuple

from msgspec import UNSET
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from excise import Cluster
from excise.agreement import IDENTICAL
from excise.patches import Patch, Pool
from excise.patches.evidence import Evidence, EvidenceReader
from excise_server.foundation.escape import cell, printable
from excise_server.processes.forks import Map
from excise_server.queue.reading import Member, Queue
from excise_server.report.documents import group_entry
from excise_server.report.likeness import said_of
from excise_server.report.tables import Records, bar, cut, name_column, number
from excise_server.wire import documents as d


@dataclass(frozen=True, slots=True)
class Grouped:
    """Patches and their groups.

    ``patch_of`` gives a patch with its hunks. Of a queue that is watched ``new`` are the ids that
    came with this run (else None), and ``about`` says how much is known. ``map`` is for work by the
    thousand.
    """

    queue: Queue
    pool: Pool
    clusters: tuple[Cluster, ...]
    threshold: float
    linkage: str
    patch_of: Callable[[int], Patch]
    new: frozenset[str] | None = None
    about: tuple[str, ...] = ()
    map: Map = map
    reader: EvidenceReader = field(default_factory=EvidenceReader)

    @property
    def remarks(self) -> list[str]:
        """How they were grouped, what is not among them, and what is known of a watched queue."""
        lines = [f"basis {self.pool.basis}, {self.linkage} linkage, distance {self.threshold:g}"]
        if self.queue.covers:
            lines.append(f"without a diff, not grouped: {len(self.queue.covers):,}")
        if self.queue.others:
            lines.append(f"other files, not patches: {self.queue.others:,}")
        return [*lines, *self.about]

    def evidence(self, index: int) -> Evidence:
        """Return what a patch says about its issue, to tell whether two patches are related."""
        message = self.queue.patches[index].message
        return self.reader.evidence(self.patch_of(index), message.title, message.text)


class _Alike(NamedTuple):
    """What a patch has in common with the representative of its group, in plain values."""

    similarity: float
    contains: float | None = None
    contained: float | None = None
    word: str | None = None
    anchored: float | None = None
    anywhere: float | None = None
    in_another_file: bool | None = None


Row = tuple[int, int, _Alike]
"""Cluster, patch, and what it has in common with the representative, which it may be itself."""

TOGETHER = 500
"""The number of rows that one process makes at a time."""


def patch_document(grouped: Grouped, *, scores: bool) -> d.PatchDocument:
    """Return the clusters, the largest first, and the facts about each patch."""
    pool, clusters, queue = grouped.pool, grouped.clusters, grouped.queue
    ids = [member.id for member in queue.patches]
    notes: dict[str, list[str]] = {}
    pairs = zip(ids, pool.notes, strict=True)
    pool_notes = [(name, note) for name, of_patch in pairs for note in of_patch]
    for name, note in [*pool_notes, *queue.notes]:
        notes.setdefault(name, []).append(note)
    near = pool.near(0.0) if scores else ()
    return d.PatchDocument(
        signature=pool.signature,
        basis=pool.basis,
        threshold=grouped.threshold,
        linkage=grouped.linkage,
        clusters=[group_entry(cluster, ids) for cluster in clusters],
        patches=[_patch(queue.patches[row[1]], pool, row) for row in _rows(grouped, clusters)],
        covers=[d.CoverEntry(id=m.id, subject=m.message.subject) for m in queue.covers],
        notes=notes,
        rejected=list(map(d.RejectedEntry.of, queue.rejected)),
        new=UNSET if grouped.new is None else [name for name in ids if name in grouped.new],
        state=UNSET if grouped.new is None else list(grouped.about),
        scores=[(ids[i], ids[j], value) for i, j, value in near if value > 0] if scores else UNSET,
    )


def patch_table(grouped: Grouped, clusters: Sequence[Cluster]) -> RenderableType:
    """Return some clusters, with ● for the representative and each member's similarity to it.

    Ids that are new are marked; a cluster has its number among all of them.
    """
    queue, new = grouped.queue, grouped.new
    numbers = {cluster.members: place for place, cluster in enumerate(grouped.clusters, start=1)}
    rows = list(_rows(grouped, clusters))

    def build(length: int) -> Table:
        names = [cut(printable(queue.patches[index].id), length) for _, index, _ in rows]
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
        table.add_column("cluster", justify="right")
        table.add_column("", width=1)
        name_column(table, "patch", [f"{name} new" for name in names] if new else names)
        table.add_column("similarity", no_wrap=True)
        table.add_column("word", min_width=len(IDENTICAL))
        table.add_column("of ●", justify="right", no_wrap=True)
        table.add_column("version", justify="right", no_wrap=True)
        table.add_column("subject", overflow="fold")
        for name, (place, index, alike) in zip(names, rows, strict=True):
            message = queue.patches[index].message
            stands, series = alike.word is None, message.series
            part = f" {series.index}/{series.total}" if series.numbered else ""
            said = ""
            if alike.word is not None and alike.contains is not None:
                said = said_of(alike.word, in_another_file=bool(alike.in_another_file))
            table.add_row(
                str(numbers[clusters[place - 1].members]) if stands else "",
                Text("●", "green") if stands else "",
                Text.assemble(
                    (name, "bold" if stands else ""),
                    (" new" if new and queue.patches[index].id in new else "", "yellow"),
                ),
                Text()
                if stands
                else Text.assemble(number(alike.similarity), " ", bar(alike.similarity, 8)),
                Text(said),
                Text() if alike.contains is None else number(alike.contains),
                Text(f"v{series.version}{part}", "dim"),
                Text(printable(message.title or message.subject), "dim"),
            )
        return table

    return Records(build, is_grouped=True)


def patch_csv(grouped: Grouped) -> str:
    """Return a line per patch, with cells quoted that a spreadsheet would run as a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = "cluster id representative similarity contains contained version subject author date"
    writer.writerow([*names.split(), *_Alike._fields[3:]])
    for place, index, alike in _rows(grouped, grouped.clusters):
        member = grouped.queue.patches[index]
        message = member.message
        texts = [cell(text) for text in (message.subject, message.author, message.date)]
        cells = [place, cell(member.id), int(alike.word is None), *alike[:3]]
        writer.writerow([*cells, message.series.version, *texts, *alike[3:]])
    return out.getvalue()


def _rows(grouped: Grouped, clusters: Iterable[Cluster]) -> Iterator[Row]:
    """Yield a row a patch, representatives first."""
    pairs = [
        (place, cluster.representative, member)
        for place, cluster in enumerate(clusters, start=1)
        for member in (
            cluster.representative,
            *(member for member in cluster.members if member != cluster.representative),
        )
    ]
    parts = [pairs[start : start + TOGETHER] for start in range(0, len(pairs), TOGETHER)]
    alikes = chain.from_iterable(grouped.map(partial(_alikes, grouped.pool), parts))
    for (place, _, member), values in zip(pairs, alikes, strict=True):
        yield place, member, _Alike(*values)


def _alikes(pool: Pool, pairs: Sequence[tuple[int, int, int]]) -> list[_Alike]:
    found = []
    for _, representative, member in pairs:
        if representative == member:
            found.append(_Alike(1.0))
            continue
        likeness = pool.likeness(representative, member)
        shares = likeness.shares
        found.append(
            _Alike(
                likeness.value, float(shares.a_in_b), float(shares.b_in_a), likeness.word,
                float(shares.anchored), float(shares.anywhere), likeness.in_another_file,
            )
        )  # fmt: skip
    return found


def _patch(member: Member, pool: Pool, row: Row) -> d.PatchEntry:
    place, position, alike = row
    message = member.message
    return d.PatchEntry.of(
        message.series,
        alike,
        message,
        id=member.id,
        messages=list(member.parts) or UNSET,
        cluster=place,
        patch_id=pool.patch_id(position),
        files=list(message.patch.paths),
        facts=[f"{p.path}: {fact}" for p in message.patch.files for fact in p.facts],
    )
