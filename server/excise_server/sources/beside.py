"""The saved text, that of HEAD or of the index, and files beside the document, by glob.

``.orig`` is an origin, ``.rej`` is not a revision.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from typing import Literal

from excise_server.foundation.escape import visible
from excise_server.foundation.files import contained, list_folder, read_bytes, text_of
from excise_server.foundation.inputs import Rejected, SourceError, unique_ids
from excise_server.git.repository import AbsentError, Repository
from excise_server.review.candidate import Candidate
from excise_server.sources.conflicts import parse_markers
from excise_server.sources.finding import (
    Context,
    Found,
    OriginText,
    Version,
    WatchedFiles,
    watch_file,
)

MAX_FILES = 300
"""Most files taken."""

_VARIABLE = re.compile(r"\$\{([^}]*)\}")


def find_files(context: Context, _repository: object) -> Found:
    """Find files beside the document that match a glob of the settings.

    A glob may name folders below the document's, but not leave that. ``**`` is not supported.
    """
    if not context.settings.files:
        return Found()
    try:
        _, document = contained(context.document, context.folders)
    except SourceError as error:
        return Found(refused=(Rejected("files", error.reason, error.hint),))
    folder, name = os.path.split(document)
    paths: dict[str, None] = {}
    refused, watch = [], []
    for pattern in dict.fromkeys(context.settings.files):
        try:
            parts = _parts(pattern, name)
            paths |= dict.fromkeys(_matching(folder, parts, context.folders))
            watch.append(WatchedFiles(folder, "/".join(parts)))
        except SourceError as error:
            refused.append(Rejected(f"files:{pattern}", error.reason, error.hint))
    siblings = [path for path in sorted(paths) if os.path.join(folder, path) != document]
    if len(siblings) > MAX_FILES:
        refused.append(
            Rejected("files", f"only the first {MAX_FILES} of {len(siblings)} are taken")
        )
    return _read(context, folder, name, siblings[:MAX_FILES], refused, watch)


def _parts(pattern: str, name: str) -> list[str]:
    """Return the components of a glob for this document.

    >>> _parts("${stem}.suggestion-*${extension}", "a[1].py")
    ['a[[]1].suggestion-*.py']
    """
    stem, extension = os.path.splitext(name)
    values = {"file": name, "stem": stem, "extension": extension}
    if unknown := [key for key in _VARIABLE.findall(pattern) if key not in values]:
        variables = ", ".join(f"${{{key}}}" for key in values)
        raise SourceError(f"no variable '{unknown[0]}'", hint=f"use one of {variables}")
    # Only the pattern is checked: a file name with ".." in it can only match itself.
    if os.path.isabs(pattern) or pattern.startswith("/") or ":" in pattern.split("/")[0][:2]:
        raise SourceError("an absolute path: a glob starts at the document's folder")
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if ".." in parts or (os.sep != "/" and os.sep in pattern):
        raise SourceError("it leads out of the document's folder")
    if any("**" in part for part in parts):
        raise SourceError("** is not supported here: name the folder")
    return [_VARIABLE.sub(lambda m: glob.escape(values[m[1]]), part) for part in parts]


def _matching(folder: str, parts: list[str], folders: tuple[str, ...]) -> list[str]:
    """Return the paths, relative to the folder, that the components match."""
    paths = [""]
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        matched = []
        for path in paths:
            inner = os.path.join(folder, path)
            if index and (os.path.islink(inner) or not os.path.isdir(inner)):
                continue
            names = fnmatch.filter(list_folder(inner, folders), part)
            hidden = part.startswith(".") or last
            matched += [os.path.join(path, n) for n in names if hidden or not n.startswith(".")]
        paths = matched
    return [path for path in paths if path]


def _read(
    context: Context,
    folder: str,
    name: str,
    paths: list[str],
    refused: list[Rejected],
    watch: list[WatchedFiles],
) -> Found:
    origin = None
    versions = []
    names = unique_ids([f"file:{visible(path)}" for path in paths])
    for path, shown in zip(paths, names, strict=True):
        try:
            if path.endswith(".rej"):
                raise SourceError("rejected hunks, not a revision", hint="apply them by hand")
            text = text_of(read_bytes(os.path.join(folder, path), context.folders))
            if path == f"{name}.orig":
                origin = _origin(text, context.settings.origin)
            elif path.endswith(".orig"):
                raise SourceError("the origin of another file")
            else:
                label = visible(path).removeprefix(f"{name}.")
                candidate = Candidate(shown, "", "", "", (shown,), label=label)
                versions.append(Version(candidate, text, file=os.path.join(folder, path)))
        except SourceError as error:
            refused.append(Rejected(shown, error.reason, error.hint))
    return Found(origin, tuple(versions), tuple(refused), tuple(watch))


def _origin(text: str, choice: str) -> OriginText:
    """Return a ``.orig`` as origin, unless the user chose another or it has a conflict."""
    if choice != "saved":
        raise SourceError(f"an origin, but the setting chooses {choice}")
    try:
        conflicted = parse_markers(text) is not None
    except SourceError:
        conflicted = True
    if conflicted:
        raise SourceError(
            "it contains conflict markers, as git mergetool leaves them, and cannot be an origin"
        )
    return OriginText(text, "orig", ".orig file")


def find_origin(context: Context, repository: Repository | SourceError | None) -> Found:
    """Find the origin of the setting ``saved``, ``head`` or ``index``, or why there is none."""
    try:
        match context.settings.origin:
            case "saved" if not os.path.lexists(context.document):
                origin = OriginText("", "saved", "no file yet")
                return Found(origin=origin, watch=(watch_file(context.document),))
            case "saved":
                text = text_of(read_bytes(context.document, context.folders))
                origin = OriginText(text, "saved", "saved file")
                return Found(origin=origin, watch=(watch_file(context.document),))
            case "head" | "index" as choice:
                if isinstance(repository, SourceError):
                    raise repository
                if repository is None:
                    raise SourceError("not in a git repository")
                return _from_git(repository, choice)
    except SourceError as error:
        return Found(refused=(Rejected("origin", error.reason, error.hint),))


def _from_git(repository: Repository, choice: Literal["head", "index"]) -> Found:
    watch = tuple(watch_file(os.path.join(repository.git_dir, name)) for name in ("HEAD", "index"))
    head = repository.head() if choice == "head" else ""
    if head is None:
        return Found(refused=(Rejected("origin", "no commits yet"),), watch=watch)
    try:
        text = text_of(repository.blob(f"{head or ':0'}:{repository.path}").data)
    except AbsentError:
        where = "HEAD" if choice == "head" else "the index"
        return Found(refused=(Rejected("origin", f"the file is not in {where}"),), watch=watch)
    label = f"HEAD {head[:10]}" if head else "index"
    return Found(origin=OriginText(text, choice, label), watch=watch)
