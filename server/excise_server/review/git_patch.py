r"""A git patch of whole files, byte for byte, for ``git apply``, also in reverse. Pure.

Only ``\n`` ends a line, as in git: a ``\r`` before it is part of the line.
"""

from __future__ import annotations

import zlib
from base64 import b85encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from excise.alignment import align
from excise.patches.blocks import hunks_between
from excise.text import raw_lines
from excise.tokens import Vocabulary
from excise_server.foundation.changes import SUBMODULE, Side
from excise_server.foundation.file_bytes import SHA1_DIGITS, SHA256_DIGITS, blob_name

_CHUNK = 52
"""The number of bytes in a line of a binary patch."""

_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A file before and after (None: it does not exist).

    - ``path``, ``old_path``: its path after and before; the same path if the file exists on one
      side only.
    """

    path: str
    old_path: str
    old: Side | None
    new: Side | None

    @property
    def is_edit(self) -> bool:
        """Whether anything is changed."""
        if self.old is None or self.new is None:
            return self.old is not self.new
        same = self.old.mode == self.new.mode and self.old.data == self.new.data
        return not same or self.path != self.old_path

    @property
    def status(self) -> str:
        """The change of the file in one word."""
        if self.old is None:
            return "created"
        if self.new is None:
            return "deleted"
        return "modified" if self.path == self.old_path else "renamed"


def git_patch(files: Iterable[FileEdit], *, sha256: bool = False) -> bytes:
    """Return one patch of files, in the order of their paths.

    - ``sha256``: whether the repository names its objects by SHA-256.
    """
    ordered = sorted((file for file in files if file.is_edit), key=lambda file: file.path)
    return b"".join(part for file in ordered for part in _file(file, sha256))


def _file(file: FileEdit, sha256: bool) -> Iterator[bytes]:
    old, new = file.old, file.new
    if old is not None and new is not None and _kind(old.mode) != _kind(new.mode):
        # A link in place of a file, or the reverse, for which git writes two patches.
        yield from _file(FileEdit(file.old_path, file.old_path, old, None), sha256)
        yield from _file(FileEdit(file.path, file.path, None, new), sha256)
        return
    names = _quoted(f"a/{file.old_path}"), _quoted(f"b/{file.path}")
    yield b"diff --git %b %b\n" % names
    if old is None and new is not None:
        yield f"new file mode {new.mode}\n".encode()
    elif new is None and old is not None:
        yield f"deleted file mode {old.mode}\n".encode()
    elif old is not None and new is not None and old.mode != new.mode:
        yield f"old mode {old.mode}\nnew mode {new.mode}\n".encode()
    if file.status == "renamed":
        yield b"rename from %b\nrename to %b\n" % (_quoted(file.old_path), _quoted(file.path))
    before, after = (side.data if side is not None else b"" for side in (old, new))
    if before == after:
        return
    blobs = [_blob(side, sha256) for side in (old, new)]
    mode = f" {new.mode}" if old is not None and new is not None and old.mode == new.mode else ""
    yield f"index {blobs[0]}..{blobs[1]}{mode}\n".encode()
    if b"\0" in before or b"\0" in after:
        yield b"GIT binary patch\n%b%b" % (_literal(after), _literal(before))
        return
    yield b"--- %b\n" % (b"/dev/null" if old is None else _marked(names[0]))
    yield b"+++ %b\n" % (b"/dev/null" if new is None else _marked(names[1]))
    yield from _hunks(before, after)


def _kind(mode: str) -> str:
    return mode[:3]


def _quoted(name: str) -> bytes:
    """Return a name as git writes it: quoted where a character needs it."""
    data = name.encode("utf-8", "surrogateescape")
    if all(32 <= byte < 127 and byte not in (34, 92) for byte in data):
        return data
    escaped = "".join(
        f"\\{_ESCAPES[byte]}" if byte in _ESCAPES
        else chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
        for byte in data
    )  # fmt: skip
    return f'"{escaped}"'.encode()


def _marked(name: bytes) -> bytes:
    """Return a name behind --- or +++: one with blanks ends with a tab, lest they are cut off."""
    return name + b"\t" if b" " in name and not name.startswith(b'"') else name


def _blob(side: Side | None, sha256: bool) -> str:
    digits = SHA256_DIGITS if sha256 else SHA1_DIGITS
    if side is None:
        return "0" * digits
    return side.blob if side.mode == SUBMODULE else blob_name(side.data, digits)


def _literal(data: bytes) -> bytes:
    """Return one side of a binary patch."""
    packed = zlib.compress(data, 9)
    lines = [b"literal %d\n" % len(data)]
    for start in range(0, len(packed), _CHUNK):
        chunk = packed[start : start + _CHUNK]
        size = len(chunk) + (64 if len(chunk) <= 26 else 70)
        lines.append(b"%c%b\n" % (size, b85encode(chunk, pad=True)))
    return b"".join(lines) + b"\n"


def _hunks(old: bytes, new: bytes) -> Iterator[bytes]:
    """Yield the hunks, without the headings, which say nothing to ``git apply``."""
    vocabulary = Vocabulary()
    ids = [vocabulary.intern(raw_lines(text.decode("latin-1"))) for text in (old, new)]
    for hunk in hunks_between(old, new, align(*ids).edits):
        kept = [[line[:1] != sign for line in hunk.lines] for sign in (b"+", b"-")]
        ranges = (
            f"{start}" if sum(own) == 1 else f"{start},{sum(own)}"
            for start, own in zip((hunk.old_start, hunk.new_start), kept, strict=True)
        )
        yield "@@ -{} +{} @@\n".format(*ranges).encode()
        # Behind these lines of the hunk a text ends without a line end.
        ends = [len(own) - own[::-1].index(True) - 1
                for own, is_open in zip(kept, (hunk.old_open, hunk.new_open), strict=True)
                if is_open]  # fmt: skip
        for at, line in enumerate(hunk.lines):
            yield line + (b"\n\\ No newline at end of file\n" if at in ends else b"\n")
