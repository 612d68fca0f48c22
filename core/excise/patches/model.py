"""The model of a patch: files, hunks, header facts, and the message that carries it."""

from __future__ import annotations

from dataclasses import dataclass, field

from excise.errors import ExciseError

MAX_TEXT = 20_000
"""Characters of a message's text that are kept."""


@dataclass(frozen=True, slots=True)
class Warned:
    """Something odd that was read all the same: the line (from 1) and what is odd."""

    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}"


@dataclass(frozen=True, slots=True)
class Hunk:
    r"""A hunk as counted by its header.

    ``text`` are its lines, with ``\n`` between them (lines apart take twice the memory), and
    ``heading`` is the text after the second ``@@``, stripped: the function, as git sees it.
    ``old_open`` and ``new_open``: the last line of that image has no line end. ``line`` is the
    header's line in the bytes.
    """

    old_start: int
    new_start: int
    text: bytes
    line: int
    old_open: bool = False
    new_open: bool = False
    heading: bytes = b""

    @property
    def lines(self) -> tuple[bytes, ...]:
        r"""Its lines, with their first character (space, ``-``, ``+``) and a ``\r``."""
        return tuple(self.text.split(b"\n")) if self.text else ()

    @property
    def added(self) -> int:
        """Inserted lines."""
        return sum(line[:1] == b"+" for line in self.lines)

    @property
    def deleted(self) -> int:
        """Deleted lines."""
        return sum(line[:1] == b"-" for line in self.lines)


@dataclass(frozen=True, slots=True)
class Binary:
    """A binary change: its data (encoded as git does) where the patch holds it, else empty."""

    data: bytes = b""


@dataclass(frozen=True, slots=True)
class FilePair:
    """The change of one file in a patch.

    ``old`` and ``new`` are paths without the prefix ``a/`` or ``b/`` (decoded, undecodable bytes
    escaped as surrogates), or None on the side where the file does not exist (created, deleted).
    ``old_blob`` is the abbreviated name of the pre-image, "" where the patch does not show it.
    """

    old: str | None
    new: str | None
    hunks: tuple[Hunk, ...] = ()
    old_mode: str = ""
    new_mode: str = ""
    old_blob: str = ""
    new_blob: str = ""
    moved: str = ""
    """``rename`` or ``copy``, else empty."""
    binary: Binary | None = None
    beside: tuple[str, ...] = ()
    """What changes beside lines and header, in words: an encoding, line ends, a submodule."""

    @property
    def path(self) -> str:
        """The new path, or the old one of a deleted file."""
        return self.new if self.new is not None else self.old or ""

    @property
    def name(self) -> str:
        """The base name of the path: the key of its n-grams."""
        return self.path.rpartition("/")[2]

    @property
    def added(self) -> int:
        """Inserted lines."""
        return sum(hunk.added for hunk in self.hunks)

    @property
    def deleted(self) -> int:
        """Deleted lines."""
        return sum(hunk.deleted for hunk in self.hunks)

    @property
    def facts(self) -> tuple[str, ...]:
        """Facts in the header (created, deleted, renamed, mode, binary data), and those beside."""
        found = []
        if self.moved:
            found.append(f"{self.moved} from {self.old}")
        elif self.old is None:
            found.append("created")
        elif self.new is None:
            found.append("deleted")
        if self.new_mode and self.old is None and self.new_mode != "100644":
            found.append(f"mode {self.new_mode}")
        elif self.old_mode and self.new_mode and self.old_mode != self.new_mode:
            found.append(f"mode {self.old_mode} to {self.new_mode}")
        if self.binary is not None:
            found.append("binary")
        return (*found, *self.beside)


@dataclass(frozen=True, slots=True)
class Patch:
    """The files of a patch, in order, and what was odd.

    ``parts``: of a series, how many of the files each patch has. A rename or copy starts from the
    tree before its own patch. Empty: all files are of one patch.
    """

    files: tuple[FilePair, ...] = ()
    warnings: tuple[Warned, ...] = ()
    parts: tuple[int, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths, in order."""
        return tuple(pair.path for pair in self.files)


@dataclass(frozen=True, slots=True)
class Series:
    """The position of a patch in its series, according to the subject (0: not given)."""

    version: int = 1
    index: int = 0
    total: int = 0
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message: a patch, a cover letter (no files), or an error that says why not.

    ``number`` counts the messages of one file from 1, and ``line`` is its first line there.
    """

    number: int
    line: int = 1
    message_id: str = ""
    author: str = ""
    date: str = ""
    subject: str = ""
    title: str = ""
    """The subject without ``Re:`` and brackets."""
    series: Series = field(default_factory=Series)
    references: tuple[str, ...] = ()
    patch: Patch = field(default_factory=Patch)
    error: str = ""
    text: str = ""
    """What it says before the patch, without headers; at most `MAX_TEXT` characters."""

    @property
    def is_cover(self) -> bool:
        """Whether there is nothing to compare: a cover letter, a reply."""
        return not self.patch.files and not self.error


class PatchError(ExciseError, ValueError):
    """Bytes that cannot be read as a patch (a combined diff), or a patch that cannot be compared.

    - ``reason``: what is wrong.
    - ``line``: where, counted from 1 in the bytes given; 0: nowhere in particular.
    """

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason, line)
        self.reason, self.line = reason, line

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}" if self.line else self.reason


class Budget:
    """Units of work for one message or file, in proportion to its size."""

    def __init__(
        self,
        size: int,
        reason: str = "too costly to read",
        *,
        allowance: int = 1_000_000,
        units_a_byte: int = 100,
    ) -> None:
        """Set the budget for `size` bytes, with the reason for the error."""
        self._reason = reason
        self.left = allowance + units_a_byte * size

    def spend(self, units: int) -> None:
        """Take units, or raise PatchError if none are left."""
        self.left -= units
        if self.left < 0:
            raise PatchError(self._reason)
