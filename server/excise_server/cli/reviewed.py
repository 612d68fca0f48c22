"""The candidates that a command reviews: of a repository, or plain folders without git."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from excise_server.candidates.chosen import chosen_candidates
from excise_server.cli.progress import progress
from excise_server.cli.worktrees import opened
from excise_server.sources.candidates import Candidates, Selection, find_candidates
from excise_server.sources.folders import find_folders

__all__ = ["read_candidates"]


def read_candidates(
    repo: str, origin: str | None, names: Sequence[str], selection: Selection, hint: str = ""
) -> tuple[str, Candidates]:
    """Return the top folder of what candidates change, and the candidates.

    Parameters
    ----------
    origin
        Without a repository, the folder from which all candidates were copied.
    names
        The only candidates of the repository; with an origin, the folders that were copied from it.
    hint
        How the command takes these folders, if not as arguments.

    Raises
    ------
    click.UsageError
        If an origin has no folders, or options about git.
    excise_server.sources.SourceError
        If the repository or the origin cannot be read.
    """
    if origin is None:
        with progress("Reading"):
            repository = opened(repo)
            return repository.top, chosen_candidates(find_candidates(repository, selection), names)
    if selection != Selection(only=selection.only) or repo != ".":
        raise click.UsageError("--origin reads plain folders: drop the options about git.")
    if not names:
        raise click.UsageError(f"--origin needs the folders that began as it{hint}.")
    with progress("Reading"):
        return os.path.realpath(origin), find_folders(origin, names, only=selection.only)
