"""Frames of the base protocol over blocking streams, with a thread each to read and to write.

The loop never waits for a stream: a client that does not read cannot stop it, and a blocked read
cannot delay the exit. Reads are plain `os.read` or `recv`, so that the interpreter can end while
one of them waits.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue

__all__ = ["BadFrame", "Outbox", "frames"]

MAX_FRAME = 1 << 30
"""Longest message accepted: 1 GiB (300 revisions of 10 MB are three requests)."""

MAX_BAD = 100
"""Bad frames in a row after which the session ends: the other side does not speak the protocol."""

_CHUNK = 1 << 16
_HEADER_LIMIT = 1 << 14
_BLANK = b"\r\n\r\n"
_FIELD = re.compile(rb"content-(?:length[ \t]*:[ \t]*\d{1,10}|type[ \t]*:[^\r\n]*)[ \t]*", re.I)
_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,10})[ \t]*", re.I)
_LAST_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*\d{1,10}[ \t]*\Z", re.I)
_FIELD_LIMIT = 256
"""Bytes before a blank line in which a field that names a length is looked for."""


class BadFrame(bytes):
    """Bytes that are not a message, where one should be."""


def frames(receive: Callable[[int], bytes], *, strict: bool = False) -> Iterator[bytes]:
    """Yield the content of every message until the stream ends.

    Whatever is not a message is yielded as a `BadFrame`, and reading goes on with the next header:
    also where a header named a wrong length, because no JSON text has a header in it (line ends in
    its strings are escaped).

    Parameters
    ----------
    strict
        Take no other header field than the protocol's, and end with the first bad frame: where a
        web page may be the other side, which can send nothing but HTTP.
    """
    reader = _Reader(receive, strict)
    bad, most = 0, 1 if strict else MAX_BAD
    while bad < most and (frame := reader.next()) is not None:
        bad = bad + 1 if isinstance(frame, BadFrame) else 0
        yield frame


class _Reader:
    """The received bytes that are not yet consumed."""

    def __init__(self, receive: Callable[[int], bytes], strict: bool) -> None:
        self._receive, self._strict = receive, strict
        self._pending = bytearray()

    def next(self) -> bytes | None:
        """Take the next message, or a bad frame in its place, or None at the end of the stream."""
        header = self._header()
        if header is None or isinstance(header, BadFrame):
            return header
        length = _length_of(header, strict=self._strict)
        if length is not None:
            return self._content(length)
        if (last := _LAST_LENGTH.search(header)) is not None and last.start():
            # The rest of a message that was longer than its header said, and then a header.
            self._pending[:0] = header[last.start() :] + _BLANK
            return BadFrame(header[: min(last.start(), 80)])
        return BadFrame(header[:80])

    def _more(self) -> bool:
        chunk = self._receive(_CHUNK)
        self._pending += chunk
        return bool(chunk)

    def _header(self) -> bytes | None:
        """Take the next block of header lines."""
        searched = 0
        while (end := self._pending.find(_BLANK, searched)) < 0:
            if len(self._pending) > _HEADER_LIMIT:
                start = bytes(self._pending[:80])
                del self._pending[:-_FIELD_LIMIT]
                return BadFrame(start)
            searched = max(0, len(self._pending) - 3)
            if not self._more():
                return None
        header = bytes(self._pending[:end])
        del self._pending[: end + 4]
        return header

    def _content(self, length: int) -> bytes | None:
        """Take the content of a message, up to a header in it if there is one."""
        searched = 0
        while True:
            available = min(length, len(self._pending))
            while (end := self._pending.find(_BLANK, searched, available)) >= 0:
                field = bytes(self._pending[max(0, end - _FIELD_LIMIT) : end])
                if (last := _LAST_LENGTH.search(field)) is not None:
                    size = end - len(field) + last.start()
                    start = bytes(self._pending[: min(size, 80)])
                    del self._pending[:size]
                    return BadFrame(start)
                searched = end + 1
            searched = max(searched, available - 3)
            if available == length:
                content = bytes(self._pending[:length])
                del self._pending[:length]
                return content
            if not self._more():
                return None


def _length_of(header: bytes, *, strict: bool) -> int | None:
    """Return the length in a header, ignoring case (RFC 9110) and other fields."""
    lines = header.split(b"\r\n")
    if strict and not all(map(_FIELD.fullmatch, lines)):
        return None
    for line in lines:
        if match := _LENGTH.fullmatch(line):
            length = int(match[1])
            return length if length <= MAX_FRAME else None
    return None


class Outbox:
    """The writing end: takes whole frames from the loop, and writes them in its own thread."""

    def __init__(self, send: Callable[[bytes], object]) -> None:
        """Write with ``send``, which takes all the bytes it is given or raises OSError."""
        self._send = send
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="excise-writer", daemon=True)
        self._thread.start()

    def write(self, frame: bytes) -> None:
        """Write a frame after all earlier ones."""
        self._queue.put(frame)

    def close(self, timeout: float = 1.0) -> None:
        """Wait until everything is written, but not for a client that has stopped reading."""
        self._queue.put(None)
        self._thread.join(timeout)

    def _run(self) -> None:
        while (frame := self._queue.get()) is not None:
            try:
                self._send(frame)
            except OSError:
                return  # the client is gone; the reader sees the end of its stream
