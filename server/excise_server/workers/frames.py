"""Frames between two processes: four bytes of length, then that many bytes."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["LONGEST", "BrokenFrameError", "framed", "read_frame"]

LONGEST = 1 << 29
"""Most bytes of one frame."""

_HEAD = 4
_PIECE = 1 << 20


class BrokenFrameError(Exception):
    """What the other side wrote is not a frame, or not one of ours; the message says why."""


def framed(body: bytes) -> bytes:
    """Return the bytes of a frame.

    Raises
    ------
    BrokenFrameError
        If the body is too long for one.
    """
    if len(body) > LONGEST:
        raise BrokenFrameError(f"a frame of {len(body):,} bytes, limit {LONGEST:,}")
    return len(body).to_bytes(_HEAD, "little") + body


def read_frame(read: Callable[[int], bytes]) -> bytearray | None:
    """Return the body of the next frame, or None if the stream ends between two frames.

    Memory grows with what has arrived, never with what a head promises.

    Raises
    ------
    BrokenFrameError
        If the stream ends inside of a frame, or a head promises too much.
    """
    head = _read(read, _HEAD)
    if not head:
        return None
    if len(head) < _HEAD:
        raise BrokenFrameError("the stream ended inside a frame")
    length = int.from_bytes(head, "little")
    if length > LONGEST:
        raise BrokenFrameError(f"a frame of {length:,} bytes, limit {LONGEST:,}")
    body = _read(read, length)
    if len(body) < length:
        raise BrokenFrameError("the stream ended inside a frame")
    return body


def _read(read: Callable[[int], bytes], length: int) -> bytearray:
    body = bytearray()
    while len(body) < length and (piece := read(min(length - len(body), _PIECE))):
        body += piece
    return body
