"""Frames: whatever arrives, and in whatever pieces, messages come out whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise_server.lsp.wire import BadFrame, frames


def read(data: bytes, sizes: list[int]) -> list[bytes]:
    """Read a stream that delivers pieces of the given sizes, and then single bytes."""
    rest = memoryview(data)

    def receive(_size: int) -> bytes:
        nonlocal rest
        size = sizes.pop(0) if sizes else 1
        piece, rest = bytes(rest[:size]), rest[size:]
        return piece

    return list(frames(receive))


@given(st.lists(st.binary(max_size=30), max_size=5), st.lists(st.integers(1, 50)))
def test_frames_arrive_whole_however_they_are_cut(bodies: list[bytes], sizes: list[int]):
    data = b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies)
    assert read(data, sizes) == bodies


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: 2",
        b"CONTENT-LENGTH:2",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2",
        b"Content-Length: 2\r\nX-Other: 7",
    ],
)
def test_headers_in_any_case_and_order(header: bytes):
    assert read(header + b"\r\n\r\n{}", []) == [b"{}"]


@pytest.mark.parametrize(
    "garbage",
    [b"hello", b"Content-Length: x", b"Content-Length: -5", b"Content-Length: 9999999999"],
)
def test_what_is_no_header_is_reported_and_reading_goes_on(garbage: bytes):
    found = read(garbage + b"\r\n\r\n" + b"Content-Length: 2\r\n\r\n{}", [])
    assert found == [garbage, b"{}"]
    assert isinstance(found[0], BadFrame)
    assert not isinstance(found[1], BadFrame)


def test_an_endless_header_is_cut_off():
    found = read(b"x" * 40_000 + b"\r\n\r\n", [8192] * 5)
    assert all(isinstance(frame, BadFrame) for frame in found)
    assert found


def test_the_stream_may_end_anywhere():
    assert read(b"Content-Length: 10\r\n\r\n{}", []) == []
    assert read(b"Content-Le", []) == []
