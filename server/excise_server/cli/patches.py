"""``excise cluster`` on patches: which of many mails or files are the same idea."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, closing, nullcontext
from typing import TYPE_CHECKING

import click

from excise.patches import Pool
from excise_server.cli.grouping import group_counted, group_known, group_queue, print_groups
from excise_server.cli.options import Choices
from excise_server.cli.patch_options import PatchChoices
from excise_server.cli.progress import progress
from excise_server.cli.worktrees import Shown, compare_found, opened
from excise_server.foundation.inputs import SourceError
from excise_server.queue.reading import NO_DIFF, Queue, newest, read_queue
from excise_server.queue.state import State
from excise_server.queue.watched import read_watched
from excise_server.sources.commits import read_commits
from excise_server.sources.patch_candidates import find_patches

if TYPE_CHECKING:
    from excise_server.queue.distribute import Crew

__all__ = ["cluster_commits", "cluster_in_repository", "cluster_patches"]


def cluster_patches(paths: tuple[str, ...], choices: Choices, chosen: PatchChoices) -> int:
    """Group patches and print the groups."""
    if chosen.incremental is not None:
        return _cluster_watched(paths, choices, chosen)
    _check(paths, choices)
    with _crew(chosen) as crew:
        # A series needs the hunks of all its patches.
        if not chosen.series and (crew is not None or chosen.processes > 1):
            return _cluster_counted(paths, choices, chosen, crew)
        with progress("Reading"):
            queue = read_queue(paths, sys.stdin.buffer)
        _check_patches(queue)
        found = group_queue(queue, chosen, crew)
        return print_groups(found, chosen, as_json=choices.json)


def _cluster_counted(
    paths: tuple[str, ...], choices: Choices, chosen: PatchChoices, crew: Crew | None
) -> int:
    """Group patches that several processes read and count."""
    from excise_server.queue.counted import read_counted

    with progress("Reading", 1.0) as advance:
        if crew is not None:
            from excise_server.queue.distribute import distributed_queue

            counted = distributed_queue(
                crew, paths, sys.stdin.buffer, ignored=chosen.ignored, idf=chosen.idf,
                only_newest=chosen.newest, advance=advance,
            )  # fmt: skip
        else:
            pool = Pool(ignored=chosen.ignored, idf=chosen.idf)
            counted = read_counted(
                paths, sys.stdin.buffer, chosen.map, pool, only_newest=chosen.newest,
                advance=advance,
            )  # fmt: skip
    _check_patches(counted.queue)
    return print_groups(group_counted(counted, chosen), chosen, as_json=choices.json)


def cluster_commits(folder: str, name: str, choices: Choices, chosen: PatchChoices) -> int:
    """Group the commits of a range and print the groups."""
    _check((folder,), choices)
    if chosen.incremental is not None:
        raise click.UsageError("--incremental keeps mails and files, not commits.")
    with progress("Reading", 1.0) as advance:
        queue = read_commits(opened(folder, only_commits=True), name, advance)
    if not (queue.patches or queue.covers or queue.rejected):
        raise SourceError("it holds no commit", name=name, hint="check the order: OLD..NEW")
    with _crew(chosen) as crew:
        grouped = group_queue(queue, chosen, crew)
        return print_groups(grouped, chosen, as_json=choices.json)


def cluster_in_repository(
    folder: str, onto: str, paths: tuple[str, ...], choices: Choices, chosen: PatchChoices
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
    shown = Shown(chosen.threshold, chosen.linkage, chosen.ignore_path, choices.json, chosen.html)
    return compare_found(repository.top, candidates, shown)


def _crew(chosen: PatchChoices) -> AbstractContextManager[Crew | None]:
    """Return the workers that were asked for, if any."""
    if chosen.dask is None and chosen.workers is None:
        return nullcontext()
    from excise_server.queue.distribute import crew

    return crew(chosen.dask, chosen.workers or 1)


def _cluster_watched(paths: tuple[str, ...], choices: Choices, chosen: PatchChoices) -> int:
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
        grouped = group_known(watched, state, chosen)
        return print_groups(grouped, chosen, as_json=choices.json)


def _check_patches(queue: Queue) -> None:
    alone = queue.rejected and not (queue.patches or queue.covers)
    if alone and all(rejected.reason == NO_DIFF for rejected in queue.rejected):
        raise click.UsageError("Missing option '--origin': these files hold no patches.")


def _check(paths: tuple[str, ...], choices: Choices) -> None:
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
