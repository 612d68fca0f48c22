"""Every source of one document, asked in turn: one answer, with one origin and unique ids."""

from __future__ import annotations

from dataclasses import replace

from excise.text import Revision, normalise
from excise_server.git.repository import Repository, open_repository
from excise_server.sources import (
    SourceError,
    branches,
    conflicts,
    origin,
    patches,
    siblings,
    unique_ids,
)
from excise_server.sources.finding import Context, Found, Refused

__all__ = ["collect"]

_OTHER = "made from another text than the origin: it also lacks what changed since"


def collect(context: Context) -> Found:
    """Ask every source that is switched on.

    The origin is that of a conflict; else of a ``.orig`` file; else what the setting says. Reads
    files and starts git: call it from a worker, never from the loop of a server.
    """
    refused: tuple[Refused, ...] = ()
    repository: Repository | SourceError | None
    try:
        repository = open_repository(context)
    except SourceError as error:
        repository, refused = error, (Refused("git", error.reason, error.hint),)
    asked = [
        conflicts.find(context, repository),
        siblings.find(context),
        origin.find(context, repository),
        branches.find(context, repository),
        patches.find(context, repository),
    ]
    return _merged(asked, refused)


def _merged(asked: list[Found], refused: tuple[Refused, ...]) -> Found:
    chosen = next((found.origin for found in asked if found.origin is not None), None)
    revisions: list[Revision] = []
    notes: list[tuple[str, str]] = []
    made_from: list[tuple[str, str]] = []
    files: list[tuple[str, str]] = []
    given = [revision.id for found in asked for revision in found.revisions]
    names = iter(unique_ids(given))
    for found in asked:
        renamed = {revision.id: next(names) for revision in found.revisions}
        revisions += [replace(r, id=renamed[r.id]) for r in found.revisions]
        notes += [(renamed[name], note) for name, note in found.notes]
        made_from += [(renamed[name], text) for name, text in found.made_from]
        files += [(renamed[name], path) for name, path in found.files]
    if chosen is not None:
        text = normalise(chosen.text)
        notes += [(name, _OTHER) for name, base in made_from if normalise(base) != text]
    everything = (*refused, *(r for found in asked for r in found.refused))
    return Found(
        origin=chosen,
        revisions=tuple(revisions),
        refused=tuple(dict.fromkeys(everything)),
        watch=tuple(dict.fromkeys(w for found in asked for w in found.watch)),
        notes=tuple(notes),
        made_from=tuple(made_from),
        unchanged=tuple(name for found in asked for name in found.unchanged),
        files=tuple(files),
    )
