"""From a queue of patches to printed groups: the basis, the threshold, and the output."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from excise.clustering import merges
from excise.errors import ExciseError
from excise.patches import DISTANCE, LINKAGE, Patch, Pool, group
from excise_server.cli.output import write_text
from excise_server.cli.patch_options import PatchChoices
from excise_server.cli.progress import progress
from excise_server.cli.streams import console, say
from excise_server.foundation.forks import forked_map
from excise_server.foundation.inputs import SourceError
from excise_server.queue.reading import Queue, as_series, newest
from excise_server.queue.state import State
from excise_server.queue.watched import Watched
from excise_server.report.documents import json_text
from excise_server.report.patches import Grouped

if TYPE_CHECKING:
    from excise_server.queue.counted import Counted
    from excise_server.queue.distribute import Crew

__all__ = ["group_counted", "group_known", "group_queue", "print_groups"]


def group_queue(queue: Queue, chosen: PatchChoices, crew: Crew | None = None) -> Grouped:
    """Group the patches that were read, here or by workers."""
    queue = newest(queue) if chosen.newest else queue
    queue = as_series(queue) if chosen.series else queue
    patches = [member.message.patch for member in queue.patches]
    if crew is not None:
        from excise_server.queue.distribute import distributed_pool

        with progress("Counting"):
            pool = distributed_pool(crew, patches, ignored=chosen.ignored, idf=chosen.idf)
        return _grouped(queue, pool, chosen, pool.patches.__getitem__)
    pool = Pool(ignored=chosen.ignored, idf=chosen.idf)
    with progress("Counting", len(patches)) as advance:
        for done, patch in enumerate(patches, start=1):
            pool.add(patch)
            advance(done)
    return _grouped(queue, pool, chosen, pool.patches.__getitem__)


def group_counted(counted: Counted, chosen: PatchChoices) -> Grouped:
    """Group patches that were read and counted in one step."""
    return _grouped(counted.queue, counted.pool, chosen, counted.patch_of)


def group_known(watched: Watched, state: State, chosen: PatchChoices) -> Grouped:
    """Group all patches of a state."""
    about = [f"state {state.path}: {len(watched.new):,} new, {len(state.entries):,} in all"]
    about += [f"seen before and not read again: {watched.known:,}"] if watched.known else []
    about += [f"state {state.path}: {state.rebuilt}"] if state.rebuilt else []
    queue = newest(watched.queue) if chosen.newest else watched.queue
    entries = state.entries_of(queue.patches)
    pool = Pool(ignored=chosen.ignored, idf=chosen.idf)
    for entry in entries:  # nothing is read again, or counted unasked
        pool.add_read(entry.message.patch, entry.edits, entry.patch_id, entry.text_id)
    return _grouped(
        queue, pool, chosen, lambda number: state.whole(entries[number]), watched.new, tuple(about)
    )


def _grouped(
    queue: Queue,
    pool: Pool,
    chosen: PatchChoices,
    patch_of: Callable[[int], Patch],
    new: frozenset[str] | None = None,
    about: tuple[str, ...] = (),
) -> Grouped:
    threshold = DISTANCE if chosen.threshold is None else chosen.threshold
    linkage = chosen.linkage or LINKAGE
    searching = forked_map(chosen.processes, _import_clustering)
    with progress("Comparing"):
        clusters = group(pool, threshold=threshold, linkage=linkage, map=searching)
    return Grouped(queue, pool, clusters, threshold, linkage, patch_of, new, about, map=chosen.map)


def _import_clustering() -> None:
    """Import what large groups need, which takes half a second; whoever needs it says it lacks."""
    with suppress(ExciseError):
        import numpy as np

        merges(np.zeros((2, 2)))


# --- what is printed -----------------------------------------------------------------------------


def print_groups(grouped: Grouped, chosen: PatchChoices, *, as_json: bool) -> int:
    """Print the groups in the chosen format, write the report, and name rejected patches."""
    from excise_server.report import patches as report

    if chosen.html is not None:
        from excise_server.report.html_patches import patches_page

        with progress("Writing the report"):
            write_text(chosen.html, patches_page(grouped))
    if as_json:
        print(json_text(report.patch_document(grouped, scores=chosen.scores)))
    elif chosen.csv:
        text = report.patch_csv(grouped.pool, grouped.clusters, grouped.queue, grouped.map)
        print(text, end="")
    else:
        _print_table(grouped)
    for rejected in grouped.queue.rejected:
        say(f"left out: {SourceError(rejected.reason, name=rejected.id, hint=rejected.hint)}")
    return 1 if grouped.queue.rejected else 0


def _print_table(grouped: Grouped) -> None:
    from excise_server.report.patches import patch_table
    from excise_server.report.tables import notes_text, signature_text

    queue, shown = grouped.queue, grouped.clusters
    notes = list(queue.notes)
    if grouped.new is not None:
        # Of a watched queue, only the changes are of interest.
        new = [queue.patches[index].id in grouped.new for index in range(len(queue.patches))]
        shown = tuple(
            cluster for cluster in grouped.clusters if any(new[index] for index in cluster.members)
        )
        notes = [(name, note) for name, note in notes if name in grouped.new]
    lines = [f"{name}: {note}" for name, note in notes]
    lines.append(
        f"basis {grouped.pool.basis}, {grouped.linkage} linkage, distance {grouped.threshold:g}"
    )
    if queue.covers:
        lines.append(f"without a diff, not grouped: {len(queue.covers):,}")
    if queue.others:
        lines.append(f"other files, not patches: {queue.others:,}")
    lines += grouped.about
    if len(shown) < len(grouped.clusters):
        hidden = len(grouped.clusters) - len(shown)
        lines.append(f"clusters without a new patch are not shown: {hidden:,}")
    out = console()
    if shown:
        table = patch_table(grouped.pool, shown, queue, grouped.new, grouped.clusters, grouped.map)
        out.print(table)
    out.print(*notes_text("note", lines), signature_text(grouped.pool.signature), sep="\n")
