"""The folders that a client may ask about: those of the command line, inside its own roots."""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from excise_server.foundation.files import inside
from excise_server.foundation.inputs import SourceError


def root_folder(uri: str) -> str | None:
    """Return the folder of a root that a client announces, or None if it is not a local one."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = unquote(parts.path)
    return path if os.path.isabs(path) and "\0" not in path else None


def allowed_folder(path: str, served: Sequence[str], roots: Sequence[str] | None) -> str:
    """Return the real path of a folder that a client asked about.

    Raises SourceError if it is not a folder, or is outside the served folders or the client's
    roots.

    - ``path``: a path. A relative or empty one starts at the first folder that is served.
    - ``served``: the real paths of the folders of the command line.
    - ``roots``: the folders that the client announced; None if it announces none.
    """
    if "\0" in path:
        raise SourceError("a path cannot hold a null character")
    folder = os.path.realpath(os.path.join(served[0], os.path.expanduser(path)))
    if not inside(folder, served):
        raise SourceError(f"{path!r} is outside the folders that `excise mcp` was started for")
    if roots is not None and not inside(folder, [os.path.realpath(root) for root in roots]):
        raise SourceError(f"{path!r} is outside the roots that your client announced")
    if not os.path.isdir(folder):
        raise SourceError(f"{path!r} is not a folder")
    return folder
