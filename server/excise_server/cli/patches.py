"""``excise cluster`` on patches: which of many mails or files are the same idea."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import click

from excise import Cluster
from excise.clustering import DISTANCE as REVISIONS_DISTANCE
from excise.clustering import LINKAGE as REVISIONS_LINKAGE
from excise.patches import DISTANCE, IGNORED, LINKAGE, OneBase, Pool, group, share_a_base
from excise_server.cli.options import Choices
from excise_server.cli.output import write_text
from excise_server.cli.progress import progress
from excise_server.cli.streams import console, say
from excise_server.cli.worktrees import opened
from excise_server.report.documents import json_text
from excise_server.sources import SourceError
from excise_server.sources.commits import read_commits
from excise_server.sources.queue import NO_DIFF, Queue, as_series, newest, read_queue

__all__ = ["PatchChoices", "cluster_commits", "cluster_patches"]


@dataclass(frozen=True, slots=True)
class PatchChoices:
    """What was chosen for patches alone."""

    threshold: float | None
    linkage: str | None
    same_base: bool
    newest: bool
    ignore_path: tuple[str, ...]
    scores: bool
    csv: bool
    html: str | None = None
    series: bool = False


def cluster_patches(paths: tuple[str, ...], choices: Choices, chosen: PatchChoices) -> int:
    """Group patches and print the groups."""
    _check(paths, choices)
    with progress("Reading"):
        queue = read_queue(paths, sys.stdin.buffer)
    return cluster_queue(queue, choices, chosen)


def cluster_commits(folder: str, name: str, choices: Choices, chosen: PatchChoices) -> int:
    """Group the commits of a range and print the groups."""
    _check((folder,), choices)
    with progress("Reading", 1.0) as advance:
        queue = read_commits(opened(folder), name, advance)
    if not (queue.patches or queue.covers or queue.rejected):
        raise SourceError("it holds no commit", name=name, hint="check the order: OLD..NEW")
    return cluster_queue(queue, choices, chosen)


def cluster_queue(queue: Queue, choices: Choices, chosen: PatchChoices) -> int:
    """Group what was read and print the groups."""
    queue = newest(queue) if chosen.newest else queue
    queue = as_series(queue) if chosen.series else queue
    alone = queue.rejected and not (queue.patches or queue.covers)
    if alone and all(rejected.reason == NO_DIFF for rejected in queue.rejected):
        raise click.UsageError("Missing option '--origin': these files hold no patches.")
    ignored = tuple(glob for glob in chosen.ignore_path or IGNORED if glob)
    one_base = chosen.same_base or (
        # A series may change a file twice: it has no one origin.
        not chosen.series and share_a_base(member.message.patch for member in queue.patches)
    )
    pool = OneBase(ignored=ignored) if one_base else Pool(ignored=ignored)
    usual = (REVISIONS_DISTANCE, REVISIONS_LINKAGE) if one_base else (DISTANCE, LINKAGE)
    threshold = usual[0] if chosen.threshold is None else chosen.threshold
    linkage = chosen.linkage or usual[1]
    with progress("Comparing"):
        for member in queue.patches:
            pool.add(member.message.patch)
        clusters = group(pool, threshold=threshold, linkage=linkage)
    if chosen.html is not None:
        _write(chosen.html, pool, clusters, queue, threshold, linkage)
    from excise_server.report import patches as report

    if choices.json:
        found = report.patch_document(
            pool, clusters, queue, threshold=threshold, linkage=linkage, scores=chosen.scores
        )
        print(json_text(found))
    elif chosen.csv:
        print(report.patch_csv(pool, clusters, queue), end="")
    else:
        from excise_server.report.tables import notes_text, signature_text

        said = [f"{name}: {note}" for name, note in queue.notes]
        console().print(
            report.patch_table(pool, clusters, queue),
            *notes_text("note", [*said, *_summary(queue, pool.basis, threshold, linkage)]),
            signature_text(pool.signature),
            sep="\n",
        )
    return _report(queue)


def _write(
    path: str,
    pool: Pool,
    clusters: Sequence[Cluster],
    queue: Queue,
    threshold: float,
    linkage: str,
) -> None:
    from excise_server.report.html_patches import patches_page

    with progress("Writing the report"):
        write_text(path, patches_page(pool, clusters, queue, threshold=threshold, linkage=linkage))


def _check(paths: tuple[str, ...], choices: Choices) -> None:
    if not paths:
        raise click.UsageError(
            "Name patches, mailboxes or a folder of them ('-': standard input); "
            "or the origin of revisions with --origin."
        )
    if choices.comments != "keep":
        raise click.UsageError("--comments drop needs whole files; a patch shows only hunks.")
    if (choices.granularity, choices.lcs) != ("nested", "star"):
        raise click.UsageError("--granularity and --lcs need --origin; patches have one form.")


def _summary(queue: Queue, basis: str, threshold: float, linkage: str) -> list[str]:
    lines = [f"basis {basis}, {linkage} linkage, distance {threshold:g}"]
    if queue.covers:
        lines.append(f"without a diff, not grouped: {len(queue.covers)}")
    if queue.others:
        lines.append(f"other files, not patches: {queue.others}")
    return lines


def _report(queue: Queue) -> int:
    for rejected in queue.rejected:
        say(f"left out: {SourceError(rejected.reason, name=rejected.id, hint=rejected.hint)}")
    return 1 if queue.rejected else 0
