"""Texts that ended a process, remembered: no parser gets them again, also after a restart.

A line a text in the user's cache: SHA-256 of its bytes, grammar, version of the grammar pack. Lines
are appended, so that several programs share the file; another pack may read what this one cannot.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from io import FileIO
from pathlib import Path

from excise.syntax import version
from excise_server.workers.guard import Parsing

__all__ = ["Quarantine", "cache_folder"]

_MOST = 1 << 20
"""Bytes of the file that are read: some ten thousand texts; the newest are at its end."""

_LINE = re.compile(r"([0-9a-f]{64}) ([a-z0-9_]{1,64}) (\S{1,64})", re.ASCII)


def cache_folder() -> Path | None:
    """Return the folder for what may be lost, or None if the user has none."""
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA", "")
    else:
        home = os.environ.get("XDG_CACHE_HOME", "")
    if home and Path(home).is_absolute():
        return Path(home) / "excise"
    try:
        user = Path.home()
    except RuntimeError:
        return None
    return user / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "excise"


class Quarantine:
    """The texts by name: the digest and, behind it, the grammar.

    Whatever is wrong with the file is said once, and the texts are kept for this process.
    """

    def __init__(self, folder: Path | None) -> None:
        """Read what is known; without a folder, nothing is remembered."""
        self._path = None if folder is None else folder / "quarantine"
        self._said = False
        self._names: dict[bytes, None] = {}
        self._read()

    @property
    def names(self) -> tuple[bytes, ...]:
        """All texts, in the order in which they came."""
        return tuple(self._names)

    def add(self, text: Parsing) -> bool:
        """Keep a text from its parser from now on; tell whether that is new."""
        if text.name in self._names:
            return False
        self._names[text.name] = None
        if self._path is not None:
            self._write(f"{text.digest.hex()} {text.grammar} {version()}\n")
        return True

    def _read(self) -> None:
        if self._path is None:
            return
        try:
            with _opened(self._path, os.O_RDONLY) as file:
                file.seek(max(os.fstat(file.fileno()).st_size - _MOST, 0))
                lines = file.read(_MOST).decode("ascii", "replace").split("\n")
        except FileNotFoundError:
            return
        except OSError as error:
            self._say(f"cannot be read: {error.strerror or error}")
            return
        matches = [_LINE.fullmatch(line) for line in lines if line]
        for match in matches:
            if match is not None and match[3] == version():
                self._names[bytes.fromhex(match[1]) + match[2].encode()] = None
        if None in matches:
            self._say("is damaged; only what can be read of it is used")

    def _write(self, line: str) -> None:
        assert self._path is not None
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _opened(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT) as file:
                size = os.fstat(file.fileno()).st_size
                whole = not size or os.pread(file.fileno(), 1, size - 1) == b"\n"
                file.write((line if whole else f"\n{line}").encode())
        except (OSError, AttributeError) as error:
            self._say(f"cannot be written: {getattr(error, 'strerror', None) or error}")

    def _say(self, what: str) -> None:
        if not self._said:
            self._said = True
            import logging  # a command that has nothing to say of it starts without

            logger = logging.getLogger(__name__)
            logger.warning("the list of texts that no parser gets %s (%s)", what, self._path)


def _opened(path: Path, flags: int) -> FileIO:
    """Open a regular file, and no link, pipe or device in its place."""
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags, 0o600)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is not a regular file")
    return FileIO(descriptor, "ab" if flags & os.O_APPEND else "rb")
