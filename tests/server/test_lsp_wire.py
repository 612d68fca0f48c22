"""Frames: whatever arrives, and in whatever pieces, messages come out whole."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise_server.lsp.rpc import MAX_BAD, BadFrame, frames


def read(data: bytes, sizes: list[int], *, strict: bool = False) -> list[bytes]:
    """Read a stream that delivers pieces of the given sizes, and then single bytes."""
    rest = memoryview(data)

    def receive(_size: int) -> bytes:
        nonlocal rest
        size = sizes.pop(0) if sizes else 1
        piece, rest = bytes(rest[:size]), rest[size:]
        return piece

    return list(frames(receive, strict=strict))


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


MESSAGES = st.lists(
    st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3), min_size=1, max_size=5
)


@pytest.mark.slow
@given(MESSAGES, st.data(), st.lists(st.integers(1, 50)))
def test_a_wrong_length_costs_its_own_message_and_at_most_the_next(messages, data, sizes):
    bodies = [json.dumps(message).encode() for message in messages]
    wrong = data.draw(st.integers(0, len(bodies) - 1))
    length = data.draw(st.integers(0, 3 * len(bodies[wrong])).filter(len(bodies[wrong]).__ne__))
    stream = b"".join(
        b"Content-Length: %d\r\n\r\n%b" % (length if at == wrong else len(body), body)
        for at, body in enumerate(bodies)
    )
    stream += b"Content-Length: 2\r\n\r\n[]" * 2
    good = [frame for frame in read(stream, sizes) if is_json(frame)]
    assert good[:wrong] == bodies[:wrong]
    after = [*bodies[wrong + 1 :], b"[]", b"[]"]
    # A length that ends inside of the next header hides it.
    assert good[wrong:] in (after, after[1:])


def is_json(frame: bytes) -> bool:
    try:
        json.loads(frame)
    except ValueError:
        return False
    return not isinstance(frame, BadFrame)


def test_a_long_rest_of_a_message_does_not_hide_the_next_header():
    body = b'{"text": "%b"}' % (b"x" * 100_000)
    stream = b"Content-Length: 5\r\n\r\n" + body + b"Content-Length: 2\r\n\r\n{}"
    assert read(stream, [8192] * 20)[-1] == b"{}"


def test_a_stream_of_anything_else_ends():
    found = read(b"x\r\n\r\n" * 1_000, [7000])
    assert len(found) == MAX_BAD
    assert all(isinstance(frame, BadFrame) for frame in found)


@pytest.mark.parametrize(
    "header",
    [
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2",
        b"Content-Length: 2\r\nX-Other: 7",
        b"Content-Type: text/plain\r\nOrigin: null\r\nContent-Length: 2",
    ],
)
def test_where_web_pages_can_connect_only_the_protocols_headers_count(header):
    stream = header + b"\r\n\r\n{}" + b"Content-Length: 2\r\n\r\n{}"
    found = read(stream, [len(stream)], strict=True)
    assert len(found) == 1
    assert isinstance(found[0], BadFrame)


def test_the_stream_may_end_anywhere():
    assert read(b"Content-Length: 10\r\n\r\n{}", []) == []
    assert read(b"Content-Le", []) == []
