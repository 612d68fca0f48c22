"""The options of ``excise cluster`` besides the shared ones, nearly all for patches alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from excise.clustering import DISTANCE, LINKAGE, LINKAGES
from excise.patches import IGNORED
from excise_server.cli.options import html_option
from excise_server.processes.forks import Map, forked_map, usable_cores

MOST_JOBS = 8
"""Processes used unasked: beyond these, what one process does alone takes most of the time."""


@dataclass(frozen=True, slots=True)
class PatchChoices:
    """The choices for grouping, and those for patches alone."""

    threshold: float | None = None
    linkage: str | None = None
    newest: bool = False
    series: bool = False
    idf: bool = False
    ignore_path: tuple[str, ...] = ()
    scores: bool = False
    csv: bool = False
    html: str | None = None
    incremental: str | None = None
    dask: str | None = None
    workers: int | None = None
    jobs: int | None = None
    related: bool = False

    @property
    def ignored(self) -> tuple[str, ...]:
        """Globs of files that are left out."""
        return tuple(glob for glob in self.ignore_path or IGNORED if glob)

    @property
    def processes(self) -> int:
        """The number of processes: the option's, else that of ``EXCISE_JOBS``, or one per core.

        With workers only one: their client has threads, and a fork of it would not.
        """
        if self.workers is not None or self.dask is not None:
            return 1
        return self.jobs or asked_jobs() or min(usable_cores(), MOST_JOBS)

    @property
    def map(self) -> Map:
        """A `map` of so many processes."""
        return forked_map(self.processes)

    @property
    def patches_alone(self) -> list[str]:
        """The options given that only patches have."""
        names = ("newest", "series", "idf", "incremental", "workers", "dask", "jobs")
        return [f"--{n}" for n in (*names, "scores", "csv", "related") if getattr(self, n)]


_OPTIONS = (
    click.option(
        "--threshold",
        type=click.FloatRange(0, 1),
        help="Distance 1 - similarity from which clusters are no longer merged.  "
        f"[default: {DISTANCE:g}; patches: 0.55]",
    ),
    click.option(
        "--linkage",
        type=click.Choice(LINKAGES),
        help="Distance of two clusters: of all pairs on average, the farthest, the nearest.  "
        f"[default: {LINKAGE}; patches: complete]",
    ),
    click.option("--newest", is_flag=True, help="Patches: only the newest version of each series."),
    click.option("--series", is_flag=True, help="Patches: a whole series is one, not its parts."),
    click.option(
        "--ignore-path",
        metavar="GLOB",
        multiple=True,
        help="Patches: files to leave out, instead of lock files, changelogs and generated lists; "
        "'' for none.",
    ),
    click.option("--idf", is_flag=True, help="Patches: weigh n-grams in groups; scores stay."),
    click.option(
        "--incremental",
        metavar="STATE",
        help="Patches: a file that remembers all seen before; the arguments may be only new ones.",
    ),
    click.option(
        "--workers",
        metavar="N",
        type=click.IntRange(1, 1024),
        help="Patches: a local Dask cluster of N processes, to try what --dask will do.",
    ),
    click.option(
        "--jobs",
        metavar="N",
        type=click.IntRange(1, 256),
        help="Patches: forks of this process that share the work; default: one for each core, at "
        f"most {MOST_JOBS} (also by EXCISE_JOBS).",
    ),
    click.option("--dask", metavar="ADDRESS", help="Patches: workers of this Dask scheduler."),
    click.option(
        "--related",
        is_flag=True,
        help="Patches: group what may be about the same issue, not the same edit "
        "(docs/duplicates.md).",
    ),
    click.option("--scores", is_flag=True, help="Patches: with --json, also every pair above 0."),
    click.option("--csv", is_flag=True, help="Patches: print a line a patch."),
    html_option,
)


def asked_jobs() -> int | None:
    """Return what ``EXCISE_JOBS`` asks for."""
    text = os.environ.get("EXCISE_JOBS", "").strip()
    if not text:
        return None
    if not (text.isdecimal() and 1 <= int(text) <= 256):
        raise click.UsageError(f"EXCISE_JOBS is a number from 1 to 256, not {text!r}.")
    return int(text)


def patch_options(function: Callable[..., int]) -> Callable[..., int]:
    """Give a command these options, passed to it as one `PatchChoices` after the others."""

    @wraps(function)
    def with_choices(*before: Any, **arguments: Any) -> int:  # noqa: ANN401 - what click parsed
        chosen = {name: arguments.pop(name) for name in PatchChoices.__dataclass_fields__}
        return function(*before, PatchChoices(**chosen), **arguments)

    for option in reversed(_OPTIONS):
        with_choices = option(with_choices)
    return with_choices
