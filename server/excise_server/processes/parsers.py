"""Guards between texts and parsers, in a process that a parser may crash.

The library says, by auditing events, which text a parser is about to get: it is noted in memory
that outlives the process, where its parent reads it; refused if it has ended a process before; and
given a limit of CPU seconds that also ends a parser which looks at no flag. Memory and CPU time are
the only limits: numbers must not depend on the load. The library is loaded by a `Guard` alone, as a
command that forks has none before.
"""

from __future__ import annotations

import mmap
import os
import re
import signal
import stat
import sys
from io import FileIO
from pathlib import Path
from typing import Any

SIZE = 128
"""Bytes of a note."""

_MEMORY = 8 << 30
"""Bytes of addresses of a worker: a 10 MB text as one node a character takes some 3 GB."""

_DIGEST = 32
_GRAMMAR = re.compile(rb"[a-z0-9_]{1,64}")


class Note:
    """A shared page with the name of the text that a parser has, where one has any.

    A name is the digest of the text and, behind it, its grammar. On the page are the length of the
    name, which is 0 where no parser has a text, and the name.
    """

    def __init__(self, page: mmap.mmap) -> None:
        """Take a page of at least `SIZE` bytes."""
        self._page = page

    def begin(self, name: bytes) -> None:
        """Note that a parser is about to get a text."""
        name = name[: SIZE - 1]
        self._page[0] = 0
        self._page[1 : 1 + len(name)] = name
        self._page[0] = len(name)

    def end(self) -> None:
        """Note that it has returned."""
        self._page[0] = 0

    def read(self) -> bytes | None:
        """Return what a parser has now; None where none runs, or the page is damaged."""
        name = self._page[1 : 1 + self._page[0]]
        return name if _GRAMMAR.fullmatch(name, _DIGEST) else None

    def close(self) -> None:
        """Release the page."""
        self._page.close()


def shared_page(descriptor: int | None = None) -> tuple[Note, int]:
    """Return a note on the page of a descriptor, or on a new one, and the descriptor.

    Raises OSError if there is no memory for the page.
    """
    if descriptor is None:
        descriptor = scratch_file("excise-note")
        os.ftruncate(descriptor, SIZE)
    try:
        return Note(mmap.mmap(descriptor, SIZE)), descriptor
    except ValueError as error:
        raise OSError(f"cannot share a page: {error}") from error


def scratch_file(name: str) -> int:
    """Return the descriptor of a new file that has no path: in memory, where the system can."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create(name)
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def limit_memory() -> None:
    """Let what would fill the machine end this process; leave no core file of people's texts."""
    try:
        import resource
    except ImportError:
        return
    for kind, wanted in ((resource.RLIMIT_AS, _MEMORY), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY or wanted < hard:
            resource.setrlimit(kind, (wanted, hard if kind == resource.RLIMIT_AS else wanted))


class Guard:
    """Refuses, notes and limits; installed for the life of a process.

    - ``note``: where the parent reads what is being parsed.
    - ``limited``: whether a parser that takes too long ends the process: only where the process may
      be lost.
    """

    def __init__(self, note: Note | None = None, *, limited: bool = False) -> None:
        from excise.reading import PARSER_SECONDS

        self._note = note
        self._limited = limited and hasattr(signal, "setitimer")
        self._seconds = 1.5 * PARSER_SECONDS  # for the parser to stop by itself
        self._refused: set[bytes] = set()
        self.parses = 0
        """How many texts parsers got."""
        self.everything = False
        """Whether no text may reach a parser."""

    def install(self) -> None:
        """See what parsers get from now on; this cannot be taken back."""
        sys.addaudithook(self._heard)

    def refuse(self, names: tuple[bytes, ...]) -> None:
        """Keep these texts from their parsers: digest and grammar of each."""
        self._refused.update(names)

    def _heard(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "excise.parse":
            self._begin(*arguments)
        elif event == "excise.parsed":
            if self._limited:
                signal.setitimer(signal.ITIMER_PROF, 0)
            if self._note is not None:
                self._note.end()

    def _begin(self, grammar: str, data: bytes) -> None:
        from hashlib import sha256

        from excise.errors import Unparsable

        if self.everything:
            raise Unparsable(
                f"a process died over these texts, and the parser of {grammar} with it"
            )
        name = sha256(data).digest() + grammar.encode()
        if name in self._refused:
            raise Unparsable(f"the parser of {grammar} failed on this text")
        self.parses += 1
        if self._note is not None:
            self._note.begin(name)
        if self._limited:
            signal.setitimer(signal.ITIMER_PROF, self._seconds)


# --- texts that ended a process ---

_READ = 1 << 20
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
    """Texts that ended a process, by name, also after a restart: no parser gets them again.

    A line a text in the user's cache: SHA-256 of its bytes, grammar, version of the grammar pack.
    Lines are appended, so that several programs share the file; another pack may read what this one
    cannot. Whatever is wrong with the file is said once, and the texts are kept for this process.
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

    def add(self, name: bytes) -> bool:
        """Keep a text from its parser from now on; tell whether that is new."""
        if name in self._names:
            return False
        self._names[name] = None
        if self._path is not None:
            self._write(f"{name[:_DIGEST].hex()} {grammar_of(name)} {_version()}\n")
        return True

    def _read(self) -> None:
        if self._path is None:
            return
        try:
            with _opened(self._path, os.O_RDONLY) as file:
                file.seek(max(os.fstat(file.fileno()).st_size - _READ, 0))
                lines = file.read(_READ).decode("ascii", "replace").split("\n")
        except FileNotFoundError:
            return
        except OSError as error:
            self._say(f"cannot be read: {error.strerror or error}")
            return
        matches = [_LINE.fullmatch(line) for line in lines if line]
        for match in matches:
            if match is not None and match[3] == _version():
                self._names[bytes.fromhex(match[1]) + match[2].encode()] = None
        if None in matches:
            self._say("is damaged; only what can be read of it is used")

    def _write(self, line: str) -> None:
        assert self._path is not None
        from excise_server.foundation.files import make_private  # few commands ever write

        try:
            make_private(self._path.parent)
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


def grammar_of(name: bytes) -> str:
    """Return the grammar in the name of a text."""
    return name[_DIGEST:].decode()


def _opened(path: Path, flags: int) -> FileIO:
    """Open a regular file, and no link, pipe or device in its place."""
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags, 0o600)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is not a regular file")
    return FileIO(descriptor, "ab" if flags & os.O_APPEND else "rb")


def _version() -> str:
    from excise.syntax import version

    return version()
