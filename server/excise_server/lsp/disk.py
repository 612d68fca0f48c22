"""The text of a document that no editor has open: read from inside the workspace only."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from pygls.uris import to_fs_path

from excise_server.foundation.files import inside, read_bytes, text_of
from excise_server.foundation.inputs import SourceError


def read_inside(uri: str, folders: Sequence[str]) -> str:
    """Return the text of a file in one of the workspace folders (given as absolute paths).

    Raises SourceError if it is not a file of the workspace once links are followed, or not text
    that can be read.
    """
    path = local_path(uri)
    if path is None:
        raise SourceError("not open, and not a file on this machine")
    if not inside(path, folders):
        raise SourceError("not open, and outside the workspace folders")
    try:
        return text_of(read_bytes(path, folders))
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
