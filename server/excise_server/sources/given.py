"""Candidates that a client sent, as changes of the target next to those that git knows."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from excise_server.foundation.changes import Side
from excise_server.foundation.inputs import Rejected
from excise_server.git.repository import Repository
from excise_server.git.trees import Sides
from excise_server.review.candidate import Candidate, digest_of
from excise_server.review.given import Given, GivenFile
from excise_server.sources.reading import Read, Target, files_of, replayed

__all__ = ["given_candidates"]

_FILE = "100644"


def given_candidates(
    repository: Repository,
    target: Target,
    given: Iterable[Given],
    labels: Collection[str],
    rejected: list[Rejected],
) -> tuple[list[Candidate], list[str]]:
    """Return the candidates that change something of the target, and the ids of the others.

    A candidate without a file in this repository belongs to another.

    Parameters
    ----------
    labels
        Those of the other candidates: no two are equal.
    """
    inside = [(candidate, _of_repository(repository, candidate)) for candidate in given]
    inside = [(candidate, files) for candidate, files in inside if files]
    paths = {path for _, files in inside for path, file in files.items() if file.status != "A"}
    old_paths = {old for _, files in inside for file in files.values() if (old := file.old_path)}
    origin = target.commit
    before = files_of(repository, origin, paths | old_paths) if inside else {}
    used_labels = set(labels)
    read = [_read(candidate, files, before, origin, used_labels) for candidate, files in inside]
    changed, idle = [], []
    for each in replayed(repository, target, read, rejected):
        if each.state == "changed" and (each.files.old or each.files.new):
            changed.append(each.candidate)
        else:
            idle.append(each.read.candidate.id)
    return changed, idle


def _of_repository(repository: Repository, candidate: Given) -> dict[str, GivenFile]:
    """Return the files of a candidate by their paths in the repository's working tree."""
    files: dict[str, GivenFile] = {}
    for file in candidate.files.values():
        path = _relative(repository, file.path)
        old = _relative(repository, file.old_path)
        if path is not None:
            files[path] = replace(file, old_path=old)
    return files


def _relative(repository: Repository, path: str | None) -> str | None:
    """Return a path in the working tree with ``/``, or None outside of it."""
    if path is None:
        return None
    folder, name = os.path.split(path)
    relative = os.path.relpath(os.path.join(os.path.realpath(folder), name), repository.top)
    relative = relative.replace(os.sep, "/")
    return None if relative.startswith("../") else relative


def _read(
    candidate: Given,
    files: Mapping[str, GivenFile],
    target: Mapping[str, Side],
    origin: str,
    used_labels: set[str],
) -> Read:
    """Return a candidate with its own changes, in which each file knows its base."""
    old: dict[str, Side] = {}
    new: dict[str, Side] = {}
    older = []
    for path, file in files.items():
        before = file.old_path or path
        target_side = target.get(before)
        mode = target_side.mode if target_side is not None else _FILE
        if file.status != "A" and file.base is not None:
            old[before] = Side(mode, file.base.encode())
            older.append(before)
        elif target_side is not None and file.status != "A":
            old[before] = target_side
        if file.text is not None:
            new[path] = Side(mode, file.text.encode())
    label = (
        candidate.label if candidate.label and candidate.label not in used_labels else candidate.id
    )
    used_labels.add(label)
    entry = Candidate(
        id=candidate.id,
        folder="",
        branch="",
        commit="",
        names=(candidate.id,),
        label=label,
        base=origin,
        is_given=True,
        digest=digest_of(old, new),
    )
    return Read(entry, Sides(old, new), older=older)
