"""A conflicted file, with origin and both sides from the index or else from its markers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError
from excise_server.foundation.paths import read_bytes, text_of
from excise_server.git.refs import Side, sides_of
from excise_server.git.repository import Blob, Repository
from excise_server.review.candidate import Candidate
from excise_server.review.replayed import CREATES, DELETES
from excise_server.sources.finding import (
    Change,
    Context,
    Found,
    OriginText,
    Refused,
    Version,
    Watch,
    watch_file,
)
from excise_server.sources.markers import Conflict, marker_labels, parse_markers
from excise_server.sources.opening import opened

__all__ = ["find"]

_WORDS = ("ours", "theirs")
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
    git_refused: tuple[Refused, ...] = ()
    try:
        opened_repository = opened(context, repository)
        if opened_repository is not None:
            watch += (watch_file(os.path.join(opened_repository.git_dir, "index")),)
            stages = _stages(opened_repository)
    except SourceError as error:
        opened_repository, git_refused = None, (Refused("git", error.reason, error.hint),)
    try:
        if stages and opened_repository is not None:
            answer = _from_index(opened_repository, stages, _marked(context))
        else:
            answer = _from_markers(_parsed(context))
    except SourceError as error:
        answer = Found(refused=(Refused("conflict", error.reason, error.hint),))
    return replace(answer, watch=watch, refused=(*git_refused, *answer.refused))


def _parsed(context: Context) -> Conflict | None:
    if not os.path.lexists(context.document):
        return None
    return parse_markers(text_of(read_bytes(context.document, context.folders)))


def _marked(context: Context) -> tuple[str, str]:
    """Return the names of the sides in the markers, or "" without markers."""
    try:
        text = text_of(read_bytes(context.document, context.folders))
    except SourceError:
        return ("", "")
    return marker_labels(text)


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


def _from_index(
    repository: Repository, stages: dict[int, tuple[str, str]], marked: Sequence[str]
) -> Found:
    """Return the sides in the index. A side that is missing there deleted the file."""
    for number, (mode, _) in stages.items():
        if mode not in _FILES:
            raise SourceError(f"stage {number} is not a regular file (mode {mode})")
    blobs = dict(zip(stages, repository.blobs([b for _, b in stages.values()]), strict=True))
    origin = _text(blobs[1], 1) if 1 in blobs else None
    versions, refused = [], []
    for number, word, side, label in zip((2, 3), _WORDS, sides_of(repository), marked, strict=True):
        if number not in blobs and origin is None:
            continue  # it is not part of the conflict
        name = side.names[0] if side.names else f"conflict:{word}"
        try:
            text = _text(blobs[number], number) if number in blobs else ""
        except SourceError as error:
            refused.append(Refused(name, error.reason, error.hint))
            continue
        change: Change = "edited"
        notes: tuple[str, ...] = ()
        if number not in blobs:
            change, notes = "deleted", (DELETES,)
        elif origin is None:
            change, notes = "created", (CREATES,)
        names, shown = (*side.names, f"conflict:{word}"), _label(word, side, label)
        candidate = Candidate(name, "", "", side.commit, names, label=shown, notes=notes)
        versions.append(Version(candidate, text, origin, change))
    label = "neither side had the file" if origin is None else "stage 1 of the conflict"
    return Found(
        origin=OriginText(origin or "", "stage", label),
        versions=tuple(versions),
        refused=tuple(refused),
    )


def _label(word: str, side: Side, marked: str) -> str:
    """Return the name of a side: its branch, else the name in the markers, else its commit."""
    shown = side.branch or ("" if marked == "HEAD" else marked) or side.commit[:10]
    return f"{visible(shown)} ({word})" if shown else word


def _text(blob: Blob | SourceError, number: int) -> str:
    if isinstance(blob, SourceError):
        raise SourceError(f"stage {number}: {blob.reason}", hint=blob.hint)
    return text_of(blob.data)


def _from_markers(conflict: Conflict | None) -> Found:
    """Return the sides in the markers, whose labels may be names of branches."""
    if conflict is None:
        return Found()
    notes = ["from conflict markers: what was merged outside of them counts as the origin's"]
    if conflict.nested:
        notes.append("the origin holds conflict markers of its own (several merge bases)")
    versions = []
    sides = zip(_WORDS, (conflict.first, conflict.second), conflict.labels, strict=True)
    for word, text, label in sides:
        name, shown = f"conflict:{word}", f"{label} ({word})" if label else word
        names = (name, *([f"branch:{label}"] if label else []))
        candidate = Candidate(name, "", "", "", names, label=shown, notes=tuple(notes))
        versions.append(Version(candidate, text, conflict.origin))
    origin = OriginText(conflict.origin, "markers", "origin of the conflict markers")
    return Found(origin, tuple(versions))
