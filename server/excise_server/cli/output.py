"""Files that the command writes: whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress

from excise_server.foundation.inputs import SourceError

__all__ = ["write_text"]


def write_text(path: str, text: str) -> None:
    """Write a file in one step, so the old content stays until the new text is complete.

    Raises
    ------
    SourceError
        If it cannot be written, or something that is not a regular file has that name.
    """
    try:
        if os.path.lexists(path) and not os.path.isfile(path):
            raise SourceError(f"cannot write {path}: there is something that is not a regular file")
        _write(os.path.realpath(path), text)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SourceError(f"cannot write {path}: {reason}") from error


def _write(path: str, text: str) -> None:
    descriptor, part = tempfile.mkstemp(prefix=".excise-", dir=os.path.dirname(path))
    try:
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(part, 0o666 & ~mask)
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise
