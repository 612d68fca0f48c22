"""Candidates that a client sends: checked, and compared as changes of the target.

They stand next to those that git knows. Commits are read by the same git as everything else.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from excise.text import normalise
from excise_server.foundation.changes import Side
from excise_server.foundation.escape import printable
from excise_server.foundation.files import inside, is_refused_by_git, text_of
from excise_server.foundation.inputs import Rejected, SourceError, check_text
from excise_server.git.history import commit_named
from excise_server.git.repository import AbsentError, Repository, open_folder
from excise_server.git.trees import Sides
from excise_server.review.candidate import Candidate, digest_of
from excise_server.review.given import Given, GivenFile, Status
from excise_server.sources.reading import (
    Read,
    Target,
    files_of,
    merged_candidates,
    read_small,
    verdicts,
)

if TYPE_CHECKING:
    from excise_server.wire.lsp import CandidateText, ChangeText

MAX_FILES = 1000
"""Most files that one candidate may change."""

_MAX_PATH = 4096
_MAX_ID = 1000
_DRIVE = re.compile(r"[A-Za-z]:")
_STATUSES: tuple[Status, ...] = ("A", "M", "D", "R")


def checked(
    candidate: CandidateText, folder: str, folders: Sequence[str], *, trusted: bool
) -> Given:
    """Return a candidate as a client sent it: paths, texts and bases, checked.

    No file is opened here: paths are only checked for links that lead out of the workspace.

    Raises SourceError if it is refused; the error names the file, if it is about one.

    - ``folder``: the absolute path of the workspace folder that its paths are relative to.
    - ``folders``: the absolute paths of all workspace folders: no path may leave them.
    - ``trusted``: whether git may be started, to read a base that is a commit.
    """
    if not 0 < len(candidate.id) <= _MAX_ID:
        raise SourceError(f"an id must have 1 to {_MAX_ID} characters")
    if not candidate.changes:
        raise SourceError("no changes: nothing to compare")
    if len(candidate.changes) > MAX_FILES:
        raise SourceError(f"{len(candidate.changes):,} changes, limit {MAX_FILES:,} files")
    files: dict[str, GivenFile] = {}
    for change in candidate.changes:
        try:
            file = _file(change, folder, folders)
        except SourceError as error:
            raise SourceError(f"{_shown(change.path)}: {error.reason}") from error
        if file.uri in files:
            raise SourceError(f"{_shown(change.path)}: this file is changed twice")
        files[file.uri] = file
    if candidate.base is not None:
        files = _with_commit(files, candidate.base, folder, folders, trusted)
    for uri, file in files.items():
        if file.status != "A" and file.text is not None and file.base is not None:
            same = normalise(file.base) == normalise(file.text)
            if same and file.status == "M":
                name = _shown(os.path.basename(uri))
                raise SourceError(f"{name}: its text equals its base: nothing is changed")
    return Given(candidate.id, candidate.label or "", files)


def _file(change: ChangeText, folder: str, folders: Sequence[str]) -> GivenFile:
    status = _status(change)
    path = _beneath(change.path, folder, folders)
    old_path = None if change.old_path is None else _beneath(change.old_path, folder, folders)
    if status == "R" and old_path == path:
        raise SourceError("it is renamed to its own name")
    for text in (change.text, change.base):
        if text is not None:
            check_text(text)
    reviewed = path if old_path is None else old_path
    uri = pathlib.Path(reviewed).as_uri()
    return GivenFile(uri, path, status, change.text, change.base, old_path)


def _status(change: ChangeText) -> Status:
    """Return the status of a file, as it is stated or as it follows from the rest."""
    implied: Status = "D" if change.text is None else "R" if change.old_path is not None else "M"
    status = next((allowed for allowed in _STATUSES if allowed == change.status), None)
    if change.status is not None and status is None:
        raise SourceError("the status must be A, M, D or R")
    status = status or implied
    if (status == "D") is not (change.text is None):
        raise SourceError(
            "a deleted file has no text" if status == "D" else "without a text, its status is D"
        )
    if (status == "R") is not (change.old_path is not None):
        raise SourceError("a renamed file must have an old path, and no other may")
    if status == "A" and change.base is not None:
        raise SourceError("an added file cannot have a base")
    return status


def _beneath(path: str, folder: str, folders: Sequence[str]) -> str:
    """Return the absolute path of a relative one, which must stay in the workspace."""
    if not path or len(path) > _MAX_PATH:
        raise SourceError(f"a path must have 1 to {_MAX_PATH:,} characters")
    if "\0" in path:
        raise SourceError("a path must not contain a NUL character")
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise SourceError("a path is not Unicode text") from error
    if path.startswith(("/", "\\")) or _DRIVE.match(path):
        raise SourceError("a path must be relative to the workspace folder")
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or (os.sep != "/" and os.sep in path):
        raise SourceError("a path must not have empty, . or .. parts")
    if is_refused_by_git(path):
        raise SourceError("git refuses such a name, which may be .git on some file system")
    absolute = os.path.join(folder, *parts)
    if not inside(absolute, folders):
        raise SourceError("a link in its path leads out of the workspace")
    return absolute


def _with_commit(
    files: Mapping[str, GivenFile], base: str, folder: str, folders: Sequence[str], trusted: bool
) -> dict[str, GivenFile]:
    """Return the files, each with the text that it has in a commit, unless it names its own."""
    if not trusted:
        raise SourceError(
            "the workspace is not trusted: git is not started for a base that is a commit"
        )
    if not base or "\0" in base:
        raise SourceError("a base must name a commit")
    repository = open_folder(folder, folders)
    commit = commit_named(repository, base, "base")
    uris = [uri for uri, f in files.items() if f.status != "A" and f.base is None]
    names = []
    for uri in uris:
        before = files[uri].old_path or files[uri].path or ""
        names.append(f"{commit}:{_below(repository, before)}")
    read = dict(files)
    for uri, blob in zip(uris, repository.blobs(names), strict=True):
        if isinstance(blob, SourceError):
            name = _shown(os.path.basename(uri))
            if isinstance(blob, AbsentError):
                raise SourceError(f"{name}: the base does not have this file")
            raise SourceError(f"{name}: {blob.reason}")
        read[uri] = replace(files[uri], base=text_of(blob.data))
    return read


def _shown(path: str) -> str:
    return printable(path.encode("utf-8", "replace").decode())[:200]


# --- as changes of the target --------------------------------------------------------------------

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

    - ``labels``: those of the other candidates: no two are equal.
    """
    own = [(candidate, _of_repository(repository, candidate)) for candidate in given]
    own = [(candidate, files) for candidate, files in own if files]
    paths = {path for _, files in own for path, file in files.items() if file.status != "A"}
    old_paths = {old for _, files in own for file in files.values() if (old := file.old_path)}
    origin = target.commit
    before = files_of(repository, origin, paths | old_paths) if own else {}
    used_labels = set(labels)
    read = [_read(candidate, files, before, origin, used_labels) for candidate, files in own]
    changed, idle = [], []
    read = read_small(read, rejected)
    answers = verdicts(repository, target, read, [])
    for each in merged_candidates(repository, target, read, answers, rejected):
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
    relative = _below(repository, path)
    return None if relative.startswith("../") else relative


def _below(repository: Repository, path: str) -> str:
    """Return a path from the top folder, where only the links of its folder are followed."""
    folder, name = os.path.split(path)
    relative = os.path.relpath(os.path.join(os.path.realpath(folder), name), repository.top)
    return relative.replace(os.sep, "/")


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
    sides = Sides(old, new)
    return Read(entry, sides, older=older, tree=sides.whole)
