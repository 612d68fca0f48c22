"""``excise cluster`` on patches: which of many mails or files are the same idea, or one issue."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import replace
from functools import partial
from typing import Any

import click

from excise.clustering import merges
from excise.errors import ExciseError
from excise.patches import DISTANCE, LINKAGE, Patch, Pool, group
from excise_server.cli.inputs import report_rejected
from excise_server.cli.options import ScoringOptions
from excise_server.cli.patch_options import PatchChoices
from excise_server.cli.progress import progress
from excise_server.cli.review import opened, print_review
from excise_server.cli.streams import console, show, write_text
from excise_server.foundation.inputs import SourceError
from excise_server.processes.forks import forked_map
from excise_server.queue.reading import NO_DIFF, Queue, as_series, newest, read_queue
from excise_server.queue.state import State, read_watched
from excise_server.report.patches import Grouped, patch_csv, patch_document, patch_table
from excise_server.sources.candidates import Candidates, find_patches
from excise_server.sources.commits import read_commits
from excise_server.wire.documents import json_text


def cluster_patches(paths: tuple[str, ...], choices: ScoringOptions, chosen: PatchChoices) -> int:
    """Group patches and print the groups."""
    if chosen.incremental is not None:
        return _cluster_watched(paths, choices, chosen)
    _check(paths, choices)
    with _workers(chosen) as workers:
        # A series needs the hunks of all its patches.
        if not chosen.series and (workers is not None or chosen.processes > 1):
            return _cluster_counted(paths, choices, chosen, workers)
        with progress("Reading"):
            queue = read_queue(paths, sys.stdin.buffer)
        _check_patches(queue)
        return _cluster_queue(queue, choices, chosen, workers)


def _cluster_counted(
    paths: tuple[str, ...],
    choices: ScoringOptions,
    chosen: PatchChoices,
    workers: Any,  # noqa: ANN401 - a client of Dask, or None
) -> int:
    """Group patches that several processes read and count."""
    from excise_server.queue.counted import read_counted

    with progress("Reading", 1.0) as advance:
        if workers is not None:
            from excise_server.queue.distribute import distributed_queue

            counted = distributed_queue(
                workers, paths, sys.stdin.buffer, ignored=chosen.ignored, idf=chosen.idf,
                only_newest=chosen.newest, advance=advance,
            )  # fmt: skip
        else:
            pool = Pool(ignored=chosen.ignored, idf=chosen.idf)
            counted = read_counted(
                paths, sys.stdin.buffer, chosen.map, pool, only_newest=chosen.newest,
                advance=advance,
            )  # fmt: skip
    _check_patches(counted.queue)
    grouped = _grouped(counted.queue, counted.pool, chosen, counted.patch_of)
    return _print_groups(grouped, choices, chosen)


def cluster_commits(folder: str, name: str, choices: ScoringOptions, chosen: PatchChoices) -> int:
    """Group the commits of a range and print the groups."""
    _check((folder,), choices)
    if chosen.incremental is not None:
        raise click.UsageError("--incremental keeps mails and files, not commits.")
    with progress("Reading", 1.0) as advance:
        queue = read_commits(opened(folder, only_commits=True), name, advance)
    if not (queue.patches or queue.covers or queue.rejected):
        raise SourceError("it contains no commits", name=name, hint="check the order: OLD..NEW")
    with _workers(chosen) as workers:
        return _cluster_queue(queue, choices, chosen, workers)


def cluster_in_repository(
    folder: str, onto: str, paths: tuple[str, ...], choices: ScoringOptions, chosen: PatchChoices
) -> int:
    """Group patches as whole files, made from the texts that a repository has."""
    _check(paths, choices)
    if unsuited := [option for option in chosen.patches_alone if option != "--newest"]:
        raise click.UsageError(
            f"{', '.join(unsuited)}: not with --repo, which compares whole files."
        )
    with progress("Reading"):
        repository = opened(folder, only_commits=True)
        queue = read_queue(paths, sys.stdin.buffer)
        _check_patches(queue)
        candidates = find_patches(repository, newest(queue) if chosen.newest else queue, onto)
    return compare_heads(repository.top, candidates, choices, chosen)


def compare_heads(
    top: str, candidates: Candidates, choices: ScoringOptions, chosen: PatchChoices
) -> int:
    """Compare candidates as whole files, and print the review."""
    page = "json" if choices.json else "text"
    return print_review(
        top,
        candidates,
        ignored=chosen.ignored,
        threshold=DISTANCE if chosen.threshold is None else chosen.threshold,
        linkage=chosen.linkage or LINKAGE,
        format=page if chosen.html is None else "html",
        output=chosen.html,
    )


def _workers(chosen: PatchChoices) -> AbstractContextManager[Any]:
    """Return the workers that were asked for, if any."""
    if chosen.dask is None and chosen.workers is None:
        return nullcontext()
    from excise_server.queue.distribute import connected

    return connected(chosen.dask, chosen.workers or 1)


def _cluster_watched(paths: tuple[str, ...], choices: ScoringOptions, chosen: PatchChoices) -> int:
    """Group the messages of a state and the new ones, or only the known ones without paths."""
    _check(paths or ("",), choices)
    if chosen.series:
        raise click.UsageError("--incremental keeps single mails: drop --series.")
    if chosen.dask is not None or chosen.workers is not None:
        raise click.UsageError("--incremental works in one process: drop --dask and --workers.")
    assert chosen.incremental is not None
    with progress("Reading the state"):
        state = State(chosen.incremental, chosen.ignored)
    with closing(state):
        with progress("Reading") as advance:
            watched = read_watched(paths, sys.stdin.buffer, state, advance)
        if not state.entries:
            _check_patches(watched.queue)
        about = [f"state {state.path}: {len(watched.new):,} new, {len(state.entries):,} in all"]
        about += [f"seen before and not read again: {watched.known:,}"] if watched.known else []
        about += [f"state {state.path}: {state.rebuilt}"] if state.rebuilt else []
        queue = newest(watched.queue) if chosen.newest else watched.queue
        entries = state.entries_of(queue.patches)
        pool = Pool(ignored=chosen.ignored, idf=chosen.idf)
        for entry in entries:  # nothing is read again, or counted unasked
            pool.add_read(entry.message.patch, entry.edits, entry.ids)
        grouped = _grouped(queue, pool, chosen, lambda number: state.whole(entries[number]))
        grouped = replace(grouped, new=watched.new, about=tuple(about))
        return _print_groups(grouped, choices, chosen)


def _check_patches(queue: Queue) -> None:
    alone = queue.rejected and not (queue.patches or queue.covers)
    if alone and all(rejected.reason == NO_DIFF for rejected in queue.rejected):
        raise click.UsageError("Missing option '--origin': these files hold no patches.")


def _check(paths: tuple[str, ...], choices: ScoringOptions) -> None:
    if not paths:
        raise click.UsageError(
            "Name patches, mailboxes or a folder of them ('-': standard input); "
            "or the origin of revisions with --origin."
        )
    if choices.comments != "keep":
        raise click.UsageError("--comments drop needs whole files; a patch shows only hunks.")
    if (choices.granularity, choices.lcs, choices.place) != ("nested", "star", None):
        names = "--granularity, --lcs and --place"
        raise click.UsageError(f"{names} need --origin; patches have one form.")


def cluster_related(paths: tuple[str, ...], choices: ScoringOptions, chosen: PatchChoices) -> int:
    """Group patches, a series being one, and print the groups."""
    if not paths:
        raise click.UsageError("Name patches, mailboxes or a folder of them.")
    plain = PatchChoices(threshold=chosen.threshold, newest=chosen.newest)
    same = ScoringOptions("nested", "star", "keep", None, None, None, choices.json)
    if replace(chosen, related=False) != plain or choices != same:
        raise click.UsageError("--related takes --threshold, --newest and --json alone.")
    from excise.patches.related import RELATED_DISTANCE
    from excise_server.duplicates.find import proposals_of, related_groups
    from excise_server.report.duplicates import groups_document

    with progress("Reading"):
        queue = read_queue(paths, sys.stdin.buffer)
        queue = newest(queue) if chosen.newest else queue
    proposals = proposals_of([(member.id, member.message) for member in queue.sent])
    threshold = RELATED_DISTANCE if chosen.threshold is None else chosen.threshold
    with progress("Comparing", len(proposals)) as advance:
        groups = related_groups(proposals, threshold, advance)
    document = groups_document(groups, queue.rejected)
    if choices.json:
        print(json_text(document))
    else:
        from excise_server.report.tables import related_lines

        show(partial(related_lines, document))
    return report_rejected(queue.rejected)


def _cluster_queue(
    queue: Queue,
    choices: ScoringOptions,
    chosen: PatchChoices,
    workers: Any = None,  # noqa: ANN401
) -> int:
    """Group patches that were read, here or by workers."""
    queue = newest(queue) if chosen.newest else queue
    queue = as_series(queue) if chosen.series else queue
    patches = [member.message.patch for member in queue.patches]
    with progress("Counting", len(patches)) as advance:
        if workers is not None:
            from excise_server.queue.distribute import distributed_pool

            pool = distributed_pool(workers, patches, ignored=chosen.ignored, idf=chosen.idf)
        else:
            pool = Pool(ignored=chosen.ignored, idf=chosen.idf)
            for done, patch in enumerate(patches, start=1):
                pool.add(patch)
                advance(done)
    return _print_groups(_grouped(queue, pool, chosen, pool.patches.__getitem__), choices, chosen)


def _grouped(
    queue: Queue, pool: Pool, chosen: PatchChoices, patch_of: Callable[[int], Patch]
) -> Grouped:
    threshold = DISTANCE if chosen.threshold is None else chosen.threshold
    linkage = chosen.linkage or LINKAGE
    searching = forked_map(chosen.processes, _import_clustering)
    with progress("Comparing"):
        clusters = group(pool, threshold=threshold, linkage=linkage, map=searching)
    return Grouped(queue, pool, clusters, threshold, linkage, patch_of, map=chosen.map)


def _import_clustering() -> None:
    """Import what large groups need, which takes half a second; `group` reports what is missing."""
    with suppress(ExciseError):
        import numpy as np

        merges(np.zeros((2, 2)))


def _print_groups(grouped: Grouped, choices: ScoringOptions, chosen: PatchChoices) -> int:
    """Print the groups in the chosen format, write the report, and name rejected patches."""
    if chosen.html is not None:
        from excise_server.report.html_groups import patches_page

        with progress("Writing the report"):
            write_text(chosen.html, patches_page(grouped))
    if choices.json:
        print(json_text(patch_document(grouped, scores=chosen.scores)))
    elif chosen.csv:
        print(patch_csv(grouped), end="")
    else:
        _print_table(grouped)
    return report_rejected(grouped.queue.rejected)


def _print_table(grouped: Grouped) -> None:
    from excise_server.report.tables import SignatureText, notes_text

    queue, shown = grouped.queue, grouped.clusters
    notes = list(queue.notes)
    if grouped.new is not None:
        # Of a watched queue, only the changes are of interest.
        new = [member.id in grouped.new for member in queue.patches]
        shown = tuple(
            cluster for cluster in grouped.clusters if any(new[index] for index in cluster.members)
        )
        notes = [(name, note) for name, note in notes if name in grouped.new]
    lines = [*(f"{name}: {note}" for name, note in notes), *grouped.remarks]
    if len(shown) < len(grouped.clusters):
        hidden = len(grouped.clusters) - len(shown)
        lines.append(f"clusters without a new patch are not shown: {hidden:,}")
    out = console()
    if shown:
        out.print(patch_table(grouped, shown))
    out.print(*notes_text("note", lines), SignatureText(grouped.pool.signature), sep="\n")
