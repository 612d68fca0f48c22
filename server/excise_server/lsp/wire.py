"""Frames of the base protocol over blocking streams: a reader's and a writer's own thread.

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

_CHUNK = 1 << 16
_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,10})[ \t]*", re.IGNORECASE)
_HEADER_LIMIT = 1 << 14


class BadFrame(bytes):
    """Bytes that stood where a message should begin, and are none."""


def frames(receive: Callable[[int], bytes]) -> Iterator[bytes]:
    """Yield the content of every message until the stream ends.

    A header without a usable length is yielded as a `BadFrame`, and reading goes on behind it.
    """
    pending = bytearray()
    while True:
        header = _take_header(pending, receive)
        if header is None:
            return
        length = _length_of(header)
        if length is None:
            yield BadFrame(header[:80])
            continue
        while len(pending) < length:
            if not (chunk := receive(_CHUNK)):
                return
            pending += chunk
        yield bytes(pending[:length])
        del pending[:length]


def _take_header(pending: bytearray, receive: Callable[[int], bytes]) -> bytes | None:
    """Take the next block of header lines; None at the end of the stream."""
    searched = 0
    while (end := pending.find(b"\r\n\r\n", searched)) < 0:
        if len(pending) > _HEADER_LIMIT:
            header = bytes(pending)
            pending.clear()
            return header
        searched = max(0, len(pending) - 3)
        if not (chunk := receive(_CHUNK)):
            return None
        pending += chunk
    header = bytes(pending[:end])
    del pending[: end + 4]
    return header


def _length_of(header: bytes) -> int | None:
    """Return the length that a header names; case does not matter (RFC 9110), nor other fields."""
    for line in header.split(b"\r\n"):
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
        """Have a frame written after those before it."""
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
