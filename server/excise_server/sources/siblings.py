"""Files beside the document, by glob: ``.orig`` is an origin, ``.rej`` is not a revision."""

from __future__ import annotations

import fnmatch
import glob
import os
import re

from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import SourceError, unique_ids
from excise_server.foundation.paths import contained, list_folder, read_bytes, text_of
from excise_server.review.candidate import Candidate
from excise_server.sources.finding import Context, Found, OriginText, Refused, Version, Watch
from excise_server.sources.markers import parse_markers

__all__ = ["MAX_FILES", "find"]

MAX_FILES = 300
"""Most files taken."""

_VARIABLE = re.compile(r"\$\{([^}]*)\}")


def find(context: Context, _repository: object = None) -> Found:
    """Find files beside the document that match a glob of the settings.

    A glob may name folders below the document's, but not leave that. ``**`` is not supported.
    """
    if not context.settings.files:
        return Found()
    try:
        _, document = contained(context.document, context.folders)
    except SourceError as error:
        return Found(refused=(Refused("files", error.reason, error.hint),))
    folder, name = os.path.split(document)
    paths: dict[str, None] = {}
    refused, watch = [], []
    for pattern in dict.fromkeys(context.settings.files):
        try:
            parts = _parts(pattern, name)
            paths |= dict.fromkeys(_matching(folder, parts, context.folders))
            watch.append(Watch(folder, "/".join(parts)))
        except SourceError as error:
            refused.append(Refused(f"files:{pattern}", error.reason, error.hint))
    siblings = [path for path in sorted(paths) if os.path.join(folder, path) != document]
    if len(siblings) > MAX_FILES:
        refused.append(Refused("files", f"only the first {MAX_FILES} of {len(siblings)} are taken"))
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
        raise SourceError(f"no variable '{unknown[0]}'", hint=f"there are {variables}")
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
    refused: list[Refused],
    watch: list[Watch],
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
                candidate = Candidate(shown, "", "", "", (shown,), label=visible(path))
                versions.append(Version(candidate, text, file=os.path.join(folder, path)))
        except SourceError as error:
            refused.append(Refused(shown, error.reason, error.hint))
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
            "it holds conflict markers, as git mergetool leaves them, and cannot be an origin"
        )
    return OriginText(text, "orig", ".orig file")
