"""The text of a document that no editor has open: read from inside the workspace only."""

from __future__ import annotations

import os
from collections.abc import Iterable
from urllib.parse import urlsplit

from pygls.uris import to_fs_path

from excise_server.sources import SourceError
from excise_server.sources.files import read_text

__all__ = ["local_path", "read_inside"]


def read_inside(uri: str, folders: Iterable[str]) -> str:
    """Return the text of a file in one of the workspace folders (given as URIs).

    Raises
    ------
    SourceError
        If it is no file of the workspace after links are followed, or no text that can be read.
    """
    path = local_path(uri)
    if path is None:
        raise SourceError("not open, and not on disk: no path of this machine")
    real = os.path.realpath(path)
    roots = [os.path.realpath(root) for root in map(local_path, folders) if root]
    if not any(_contains(root, real) for root in roots):
        raise SourceError("not open, and outside the workspace folders")
    try:
        return read_text(real)
    except SourceError as error:
        raise SourceError(f"not open, and not readable: {error.reason}") from error


def local_path(uri: str) -> str | None:
    """Return the path that a URI names on this machine, if it does."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = to_fs_path(uri)
    return None if path is None or "\0" in path else path


def _contains(root: str, path: str) -> bool:
    try:
        return os.path.commonpath([root, path]) == root
    except ValueError:  # another drive
        return False
