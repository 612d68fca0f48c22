"""Every source of one document, asked in turn: one answer, with one origin and unique ids.

Revisions that were made from another text than the origin are replayed on it: what others changed
since is not an edit of theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import excise
from excise.text import Revision, normalise
from excise_server.git.repository import Repository, open_repository
from excise_server.review.replayed import SAME_LINES
from excise_server.sources import (
    SourceError,
    branches,
    conflicts,
    origin,
    patches,
    siblings,
    unique_ids,
)
from excise_server.sources.finding import Context, Details, Found, OriginText, Refused

__all__ = ["collect"]

LANDED = "the origin has its edits already"


def collect(context: Context) -> Found:
    """Ask every source that is switched on.

    The origin is that of a conflict; else of a ``.orig`` file; else what the setting says, or what
    it was when the review of the document began. Reads files and starts git: call it from a worker,
    never from the loop of a server.
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
    return _replayed(_merged(asked, refused), context)


def _merged(asked: list[Found], refused: tuple[Refused, ...]) -> Found:
    revisions: list[Revision] = []
    notes: list[tuple[str, str]] = []
    made_from: list[tuple[str, str]] = []
    files: list[tuple[str, str]] = []
    details: list[tuple[str, Details]] = []
    given = [revision.id for found in asked for revision in found.revisions]
    names = iter(unique_ids(given))
    for found in asked:
        renamed = {revision.id: next(names) for revision in found.revisions}
        revisions += [replace(r, id=renamed[r.id]) for r in found.revisions]
        notes += [(renamed[name], note) for name, note in found.notes]
        made_from += [(renamed[name], text) for name, text in found.made_from]
        files += [(renamed[name], path) for name, path in found.files]
        details += [(renamed[name], known) for name, known in found.details]
    everything = (*refused, *(r for found in asked for r in found.refused))
    return Found(
        origin=next((found.origin for found in asked if found.origin is not None), None),
        revisions=tuple(revisions),
        refused=tuple(dict.fromkeys(everything)),
        watch=tuple(dict.fromkeys(w for found in asked for w in found.watch)),
        notes=tuple(notes),
        made_from=tuple(made_from),
        unchanged=tuple(name for found in asked for name in found.unchanged),
        files=tuple(files),
        details=tuple(details),
    )


def _replayed(found: Found, context: Context) -> Found:
    """Replay the revisions on the origin that they are to be compared with."""
    target = _target(found.origin, context)
    if target is None:
        return found
    bases = dict(found.made_from)
    result = _Replayed(list(found.notes))
    for revision in found.revisions:
        result.take(revision, bases.get(revision.id), target)
    return replace(
        found,
        revisions=tuple(result.revisions),
        notes=tuple(result.notes),
        refused=(*found.refused, *(Refused(name, LANDED) for name in result.landed)),
        target=target,
        files=tuple((name, path) for name, path in found.files if name not in result.landed),
    )


def _target(origin: OriginText | None, context: Context) -> str | None:
    """Return the text that the session has as origin, or will have."""
    if origin is not None and not origin.can_be_pinned:
        return normalise(origin.text)
    if context.pinned is not None:
        return normalise(context.pinned)
    if context.saved is not None and (origin is None or origin.kind == "saved"):
        return normalise(context.saved)
    return None if origin is None else normalise(origin.text)


@dataclass(slots=True)
class _Replayed:
    """Revisions on the target, what is said of them, and those that have nothing left to say."""

    notes: list[tuple[str, str]]
    revisions: list[Revision] = field(default_factory=list)
    landed: list[str] = field(default_factory=list)

    def take(self, revision: Revision, base: str | None, target: str) -> None:
        """Take a revision; without a base it was made from the target."""
        if base is None or normalise(base) == target:
            self.revisions.append(revision)
            return
        replayed = excise.replay(base, target, revision.text)
        if replayed.text == target:
            self.landed.append(revision.id)
            return
        self.revisions.append(replace(revision, text=replayed.text))
        said = [SAME_LINES] if replayed.conflicts else []
        self.notes += [(revision.id, note) for note in (*said, *replayed.notes)]
