"""A conflicted file: the index holds the origin and both sides; else its markers may."""

from __future__ import annotations

import os
from dataclasses import replace

from excise.text import Revision
from excise_server.git.repository import Blob, Repository, opened
from excise_server.sources import SourceError
from excise_server.sources.finding import (
    Context,
    Found,
    OriginText,
    Refused,
    Watch,
    watch_file,
)
from excise_server.sources.markers import parse_markers
from excise_server.sources.paths import read_bytes, text_of

__all__ = ["find"]

_FIRST, _SECOND = "conflict:2", "conflict:3"
_LABELS = {_FIRST: "stage 2 (ours)", _SECOND: "stage 3 (theirs)"}
_FILES = ("100644", "100755")


def find(context: Context, repository: Repository | SourceError | None = None) -> Found:
    """Find the origin and both sides of a conflicted file.

    The index comes first: it holds whole files. Markers are read where the index knows of no
    conflict, or cannot be asked.
    """
    if not context.settings.conflicts:
        return Found()
    watch: tuple[Watch, ...] = (watch_file(context.document),)
    stages: dict[int, tuple[str, str]] = {}
    untold: tuple[Refused, ...] = ()
    try:
        own = opened(context, repository)
        if own is not None:
            watch += (watch_file(os.path.join(own.git_dir, "index")),)
            stages = _stages(own)
    except SourceError as error:
        own, untold = None, (Refused("git", error.reason, error.hint),)
    try:
        if stages and own is not None:
            found = _from_index(own, stages)
        else:
            found = _from_markers(text_of(read_bytes(context.document, context.folders)))
    except SourceError as error:
        found = Found(refused=(Refused("conflict", error.reason, error.hint),))
    return replace(found, watch=watch, refused=(*untold, *found.refused))


def _stages(repository: Repository) -> dict[int, tuple[str, str]]:
    """Return the mode and blob id of each stage of a conflicted document."""
    out = repository.git.run("ls-files", "--unmerged", "-z", "--", repository.path)
    stages = {}
    for entry in out.split(b"\0")[:-1]:
        fields, _, path = entry.partition(b"\t")
        mode, blob, stage = fields.decode("ascii").split(" ")
        if os.fsdecode(path) == repository.path:
            stages[int(stage)] = (mode, blob)
    return stages


def _from_index(repository: Repository, stages: dict[int, tuple[str, str]]) -> Found:
    for number, (mode, _) in stages.items():
        if mode not in _FILES:
            raise SourceError(f"stage {number} is no regular file (mode {mode})")
    if 1 not in stages:
        raise SourceError("both sides added the file: the index holds no origin (stage 1)")
    blobs = dict(zip(stages, repository.blobs([b for _, b in stages.values()]), strict=True))
    origin = _text(blobs[1], 1)
    revisions, refused = [], []
    for number, name in ((2, _FIRST), (3, _SECOND)):
        try:
            if number not in blobs:
                raise SourceError(f"deleted on this side: the index holds no stage {number}")
            revisions.append(Revision(name, _text(blobs[number], number), _LABELS[name]))
        except SourceError as error:
            refused.append(Refused(name, error.reason, error.hint))
    return Found(
        origin=OriginText(origin, "stage", "stage 1 of the conflict"),
        revisions=tuple(revisions),
        refused=tuple(refused),
        made_from=tuple((revision.id, origin) for revision in revisions),
    )


def _text(blob: Blob | SourceError, number: int) -> str:
    if isinstance(blob, SourceError):
        raise SourceError(f"stage {number}: {blob.reason}", hint=blob.hint)
    return text_of(blob.data)


def _from_markers(text: str) -> Found:
    conflict = parse_markers(text)
    if conflict is None:
        return Found()
    sides = zip((_FIRST, _SECOND), (conflict.first, conflict.second), conflict.labels, strict=True)
    revisions = tuple(Revision(name, side, label or _LABELS[name]) for name, side, label in sides)
    note = "from conflict markers: what was merged outside of them counts as the origin's"
    notes = [(revision.id, note) for revision in revisions]
    if conflict.nested:
        nested = "the origin holds conflict markers of its own (several merge bases)"
        notes += [(revision.id, nested) for revision in revisions]
    return Found(
        origin=OriginText(conflict.origin, "markers", "origin of the conflict markers"),
        revisions=revisions,
        notes=tuple(notes),
        made_from=tuple((revision.id, conflict.origin) for revision in revisions),
    )
