"""The proposals of a client: paths, texts and bases, checked before anything is compared.

No file is opened here: paths are only checked for links that lead out of the workspace. Commits are
read by the same git runner as everything else.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from excise.text import normalise
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError, check_text
from excise_server.foundation.paths import inside, is_refused_by_git, text_of
from excise_server.review.given import Given, GivenFile, Status

__all__ = ["MAX_FILES", "Proposal", "ProposedFile", "checked"]

MAX_FILES = 1000
"""Most files that one candidate may change."""

_MAX_PATH = 4096
_MAX_ID = 1000
_DRIVE = re.compile(r"[A-Za-z]:")
_STATUSES: tuple[Status, ...] = ("A", "M", "D", "R")


@dataclass(frozen=True, slots=True)
class ProposedFile:
    """One change as a client sent it, with a path relative to a folder, with ``/``."""

    path: str
    text: str | None = None
    status: str | None = None
    old_path: str | None = None
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """One candidate as a client sent it, whose ``base`` names a commit, if anything."""

    id: str
    label: str
    base: str | None
    changes: Sequence[ProposedFile]


def checked(proposal: Proposal, folder: str, folders: Sequence[str], *, trusted: bool) -> Given:
    """Return a proposal as a candidate.

    Parameters
    ----------
    folder
        The absolute path of the workspace folder that its paths are relative to.
    folders
        The absolute paths of all workspace folders: no path may leave them.
    trusted
        Whether git may be started, to read a base that is a commit.

    Raises
    ------
    SourceError
        If it is refused; the error names the file, if it is about one.
    """
    if not 0 < len(proposal.id) <= _MAX_ID:
        raise SourceError(f"an id must have 1 to {_MAX_ID} characters")
    if not proposal.changes:
        raise SourceError("no changes: there is nothing to compare")
    if len(proposal.changes) > MAX_FILES:
        raise SourceError(f"{len(proposal.changes):,} changes, limit {MAX_FILES:,} files")
    files: dict[str, GivenFile] = {}
    for change in proposal.changes:
        try:
            file = _file(change, folder, folders)
        except SourceError as error:
            raise SourceError(f"{_shown(change.path)}: {error.reason}") from error
        if file.uri in files:
            raise SourceError(f"{_shown(change.path)}: there are two changes of this file")
        files[file.uri] = file
    if proposal.base is not None:
        files = _with_commit(files, proposal.base, folder, folders, trusted)
    for uri, file in files.items():
        if file.status != "A" and file.text is not None and file.base is not None:
            same = normalise(file.base) == normalise(file.text)
            if same and file.status == "M":
                name = _shown(os.path.basename(uri))
                raise SourceError(f"{name}: its text equals its base: nothing is changed")
    return Given(proposal.id, proposal.label, files)


def _file(change: ProposedFile, folder: str, folders: Sequence[str]) -> GivenFile:
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


def _status(change: ProposedFile) -> Status:
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
        raise SourceError("a path must not hold a NUL character")
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
    files: Mapping[str, GivenFile],
    base: str,
    folder: str,
    folders: Sequence[str],
    trusted: bool,
) -> dict[str, GivenFile]:
    """Return the files, each with the text that it has in a commit, unless it names its own."""
    from excise_server.git.history import commit_named
    from excise_server.git.repository import AbsentError, open_folder

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
        parent, name = os.path.split(before)
        relative = os.path.relpath(os.path.join(os.path.realpath(parent), name), repository.top)
        names.append(f"{commit}:{relative.replace(os.sep, '/')}")
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
