"""What an editor sends: edits of documents, frames of messages, whole sessions."""

from __future__ import annotations

from random import Random

from lsprotocol.types import Position
from tests.fuzz.targets.base import NASTY, Target, packed, unpacked
from tests.reference.document_text import replaced

from excise_server.lsp.rpc import BadFrame, frames
from excise_server.lsp.to_proto import TextBuffer

FAR = (10, 2**16, 2**31 - 1)


def edits(choice: Random) -> bytes:
    def text(most):
        return "".join(choice.choices(NASTY[:17], k=choice.randrange(most)))

    def point():
        return [choice.choice((*range(7), *FAR)), choice.choice((*range(10), *FAR))]

    changes = [[point(), point(), text(20)] for _ in range(choice.randrange(1, 7))]
    return packed([choice.choice(("utf-8", "utf-16", "utf-32")), text(30), changes])


def check_edits(data: bytes) -> None:
    encoding, text, changes = unpacked(data)
    buffer = TextBuffer(text, encoding)
    for start, end, new in changes:
        buffer.edit(Position(*start), Position(*end), new)
        text = replaced(text, Position(*start), Position(*end), new, encoding)
        assert buffer.text() == text, "the buffer is not what the protocol says"


def stream(choice: Random) -> bytes:
    """Write messages, of which one is damaged, and the sizes of the pieces that they arrive in."""
    bodies = [packed({"id": at, "x": "y" * choice.randrange(90)}) for at in range(6)]
    at = choice.randrange(len(bodies))
    kind = choice.randrange(5)
    cut = []
    for number, body in enumerate(bodies):
        length, content = len(body), body
        if number == at and kind == 0:
            length += choice.choice((-7, -1, 1, 9, 200))
        elif number == at and kind == 1:
            content = body[: choice.randrange(len(body))]
        frame = b"Content-Length: %d\r\n\r\n" % max(length, 0) + content
        if number == at and kind == 2:
            frame = frame.replace(b"Content-Length", b"Content-Lenght")
        elif number == at and kind == 3:
            frame = bytes(choice.randrange(256) for _ in range(choice.randrange(40))) + frame
        cut.append(frame.decode("latin-1"))
    sizes = [choice.choice((1, 3, 30, 900)) for _ in range(40)]
    return packed([cut, at, [body.decode() for body in bodies], sizes])


def check_stream(data: bytes) -> None:
    cut, damaged, bodies, sizes = unpacked(data)
    rest = memoryview("".join(cut).encode("latin-1"))

    def receive(_size: int) -> bytes:
        nonlocal rest
        size = sizes.pop() if sizes else 50
        piece, rest = bytes(rest[:size]), rest[size:]
        return piece

    got = [frame for frame in frames(receive) if not isinstance(frame, BadFrame)]
    # What follows a message that was cut may be taken for its end.
    lost = {damaged, damaged + 1}
    for number, body in enumerate(bodies):
        assert number in lost or body.encode() in got, f"message {number} is lost"


def session(choice: Random) -> bytes:
    return packed(choice.randrange(2**32))


def check_session(data: bytes) -> None:
    from tests.server.test_lsp_fuzz import test_every_message_of_a_random_sequence_is_answered

    test_every_message_of_a_random_sequence_is_answered(unpacked(data))


TARGETS = {
    "edits": Target(edits, check_edits),
    "frames": Target(stream, check_stream),
    "session": Target(session, check_session),
}
