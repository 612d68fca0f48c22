"""From a queue of patches to printed groups: the basis, the threshold, and the output."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from excise.clustering import DISTANCE as REVISIONS_DISTANCE
from excise.clustering import LINKAGE as REVISIONS_LINKAGE
from excise.clustering import merges
from excise.errors import ExciseError
from excise.patches import DISTANCE, LINKAGE, OneBase, Patch, Pool, group
from excise_server.cli.output import write_text
from excise_server.cli.patch_options import PatchChoices
from excise_server.cli.progress import progress
from excise_server.cli.streams import console, say
from excise_server.foundation.forks import forked_map
from excise_server.foundation.inputs import SourceError
from excise_server.queue.reading import Queue, as_series, newest
from excise_server.queue.state import State
from excise_server.queue.watched import Watched, known_pool
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
    # Only the option decides: the other patches of a queue never change the score of a pair.
    one_base = chosen.same_base
    ignored = chosen.ignored
    pool: Pool
    if crew is not None and not one_base:
        from excise_server.queue.distribute import distributed_pool

        with progress("Counting"):
            pool = distributed_pool(crew, patches, ignored=ignored, idf=chosen.idf)
        return _grouped(queue, pool, chosen, pool.patches.__getitem__)
    if crew is not None:
        from excise_server.queue.distribute import distributed_one_base

        pool = distributed_one_base(crew, ignored=ignored)
    else:
        pool = OneBase(ignored=ignored) if one_base else Pool(ignored=ignored, idf=chosen.idf)
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
    pool = known_pool(entries, ignored=chosen.ignored, idf=chosen.idf)
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
    one_base = isinstance(pool, OneBase)
    usual = (REVISIONS_DISTANCE, REVISIONS_LINKAGE) if one_base else (DISTANCE, LINKAGE)
    threshold = usual[0] if chosen.threshold is None else chosen.threshold
    linkage = chosen.linkage or usual[1]
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
        from excise_server.report.html_groups import patches_page

        with progress("Writing the report"):
            write_text(chosen.html, patches_page(grouped))
    if as_json:
        print(json_text(report.patch_document(grouped, scores=chosen.scores)))
    elif chosen.csv:
        print(report.patch_csv(grouped), end="")
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
        out.print(patch_table(grouped, shown))
    out.print(*notes_text("note", lines), signature_text(grouped.pool.signature), sep="\n")
