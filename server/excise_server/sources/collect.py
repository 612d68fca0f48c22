"""Every source of one document, asked in turn: one answer, with one origin and unique ids.

Revisions that were made from another text than the origin are replayed on it, so that changes of
others since then do not count as their edits.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

import excise
from excise.text import Revision, normalise
from excise_server.foundation.inputs import SourceError, UnansweredError, unique_ids
from excise_server.git.repository import Repository
from excise_server.review.replayed import CREATED, DELETED, REWROTE, SAME_LINES
from excise_server.sources.finding import Context, Details, Found, OriginText, Refused
from excise_server.sources.one_file import LANDED
from excise_server.sources.one_thing import one_each
from excise_server.sources.opening import open_repository
from excise_server.sources.registry import SOURCES, Source

__all__ = ["collect"]


def collect(context: Context) -> Found:
    """Ask every source that is switched on.

    The origin is that of a conflict, or else a ``.orig`` file, or else the text that the setting
    names, or that it named when the review of the document began. The function reads files and
    starts git: call it from a worker, never from the event loop of a server.
    """
    refused: tuple[Refused, ...] = ()
    repository: Repository | SourceError | None
    try:
        repository = open_repository(context)
    except (SourceError, UnansweredError) as error:
        repository = SourceError(error.reason, hint=error.hint)
        refused = (Refused("git", error.reason, error.hint),)
    conflict, *others = (_answer(source, context, repository) for source in SOURCES)
    return _replayed(_merged(one_each(conflict, others), refused), context)


def _answer(source: Source, context: Context, repository: Repository | SourceError | None) -> Found:
    """Return what a source finds: nothing if git was given up, and the reason."""
    try:
        return source.find(context, repository)
    except UnansweredError as error:
        return Found(refused=(Refused("git", error.reason, error.hint),))


def _merged(answers: list[Found], refused: tuple[Refused, ...]) -> Found:
    names = iter(unique_ids([r.id for answer in answers for r in answer.revisions]))
    answers = [answer.called({r.id: next(names) for r in answer.revisions}) for answer in answers]
    everything = (*refused, *(r for answer in answers for r in answer.refused))
    return Found(
        origin=next((answer.origin for answer in answers if answer.origin is not None), None),
        revisions=tuple(r for answer in answers for r in answer.revisions),
        refused=tuple(dict.fromkeys(everything)),
        watch=tuple(dict.fromkeys(w for answer in answers for w in answer.watch)),
        notes=tuple(entry for answer in answers for entry in answer.notes),
        made_from=tuple(entry for answer in answers for entry in answer.made_from),
        unchanged=tuple(name for answer in answers for name in answer.unchanged),
        files=tuple(entry for answer in answers for entry in answer.files),
        details=tuple(entry for answer in answers for entry in answer.details),
    )


def _replayed(answer: Found, context: Context) -> Found:
    """Replay the revisions on the origin that they will be compared with."""
    target = _target(answer.origin, context)
    if target is None:
        return answer
    bases, details, files = dict(answer.made_from), dict(answer.details), dict(answer.files)
    has_file = bool(target) or os.path.lexists(context.document)
    result = _Replayed(target, has_file, list(answer.notes))
    for revision in answer.revisions:
        facts = details.get(revision.id, Details())
        result.take(revision, facts, bases.get(revision.id))
    return replace(
        answer.without(result.landed),
        revisions=tuple(result.revisions),
        notes=tuple(result.notes),
        refused=(*answer.refused, *(Refused(name, LANDED) for name in result.landed)),
        own_texts=tuple(entry for entry in result.own_texts if entry[0] in files),
        target=target,
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
    """Revisions on the target, their notes, and those with nothing left to change."""

    target: str
    has_file: bool
    notes: list[tuple[str, str]]
    revisions: list[Revision] = field(default_factory=list)
    landed: list[str] = field(default_factory=list)
    own_texts: list[tuple[str, str]] = field(default_factory=list)

    def take(self, revision: Revision, details: Details, base: str | None) -> None:
        """Take a revision, which without a base creates the file or was made from the target."""
        text, notes = normalise(revision.text), []
        match details.change:
            case "deleted":
                has_landed = not self.has_file
                notes = [REWROTE] if base is not None and normalise(base) != self.target else []
            case "created":
                has_landed = self.has_file and text == self.target
                notes = [CREATED] if self.has_file and self.target else []
            case _:
                has_landed = False
                if base is not None and normalise(base) != self.target:
                    revision, has_landed, notes = self._replay(revision, base)
        if has_landed:
            self.landed.append(revision.id)
            self.notes = [entry for entry in self.notes if entry[0] != revision.id]
            return
        self.revisions.append(revision)
        self.notes += [(revision.id, note) for note in notes]

    def _replay(self, revision: Revision, base: str) -> tuple[Revision, bool, list[str]]:
        if not self.has_file:
            return revision, False, [DELETED]
        replayed = excise.replay(base, self.target, revision.text)
        notes = [SAME_LINES] if replayed.conflicts else []
        moved = replace(revision, text=replayed.text)
        self.own_texts.append((revision.id, revision.text))
        return moved, replayed.text == self.target, [*notes, *replayed.notes]
