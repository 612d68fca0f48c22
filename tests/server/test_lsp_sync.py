"""The text buffer against a plain model of the protocol's rules, in all three encodings."""

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lsprotocol.types import Position
from tests.reference.budget import examples, scaled
from tests.reference.document_text import lines_of, replaced
from tests.server.raw_client import RawClient

from excise_server.editor.document import text_hash
from excise_server.lsp.to_proto import Encoding, TextBuffer, clean, split_lines, width

# What str.splitlines takes for line ends and the protocol does not; CR and LF apart and together;
# one, two, three and four bytes of UTF-8.
ALPHABET = "ab\r\n\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029é😋"
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
TEXT = st.text(ALPHABET, max_size=20)
FAR = st.sampled_from([10, 2**16, 2**31 - 1])
POINT = st.builds(Position, st.integers(0, 6) | FAR, st.integers(0, 9) | FAR)
CHANGE = st.tuples(POINT, POINT, TEXT)


@pytest.mark.slow
@examples(800)
@given(TEXT, st.lists(CHANGE, max_size=6), st.sampled_from(ENCODINGS))
@example("abc\ndef", [(Position(1, 99), Position(1, 99), "X")], "utf-16")
@example("a\r", [(Position(1, 0), Position(1, 0), "\nb")], "utf-16")
@example("a\rX\nb", [(Position(1, 0), Position(1, 1), "")], "utf-16")
@example(
    "\n", [(Position(0, 0), Position(0, 0), "\r"), (Position(1, 0), Position(1, 0), "z")], "utf-8"
)
def test_edits_do_what_the_model_does(text: str, changes: list, encoding: Encoding):
    buffer = TextBuffer(text, encoding)
    for start, end, new in changes:
        buffer.edit(start, end, new)
        text = replaced(text, start, end, new, encoding)
        assert buffer.text() == text


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_server_process_holds_what_the_model_holds(encoding: Encoding):
    """The same over the wire: the hash of what the server takes for saved tells its buffer."""
    random = Random(encoding)
    with RawClient() as client:
        client.initialize({"general": {"positionEncodings": [encoding]}})
        for number in range(scaled(70)):
            uri, text = f"untitled:{number}", some_text(random)
            client.open(uri, text)
            for version in range(2, 2 + random.randrange(1, 4)):
                changes = []
                for _ in range(random.randrange(1, 6)):
                    start, end, new = some_point(random), some_point(random), some_text(random)
                    text = replaced(text, start, end, new, encoding)
                    changes.append({"range": {"start": wire(start), "end": wire(end)}, "text": new})
                client.change(uri, version, *changes)
            client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
            answer = client.add(uri, {"same": text}, base={"hash": text_hash(text)})
            assert answer == {"accepted": ["same"], "rejected": []}, (number, text)
            client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        assert client.exit() == 0
        assert client.log == []


@given(TEXT, TEXT)
def test_a_whole_text_replaces_everything(text: str, new: str):
    buffer = TextBuffer(text)
    buffer.replace(new)
    assert buffer.text() == new


@given(TEXT)
def test_lines_are_those_of_the_protocol(text: str):
    assert split_lines(text) == list(lines_of(text))


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 7), ("utf-16", 5), ("utf-32", 4)])
def test_a_character_beyond_the_basic_plane(encoding: Encoding, column: int):
    buffer = TextBuffer('x="😋"', encoding)
    buffer.edit(Position(0, column), Position(0, column + 1), "'")
    assert buffer.text() == "x=\"😋'"
    assert width('x="😋', encoding) == column


@pytest.mark.parametrize(("encoding", "inside"), [("utf-8", 2), ("utf-8", 3), ("utf-16", 2)])
def test_a_position_inside_a_character_is_before_it(encoding: Encoding, inside: int):
    buffer = TextBuffer("a😋b", encoding)
    buffer.edit(Position(0, inside), Position(0, inside), "|")
    assert buffer.text() == "a|😋b"


def test_halves_of_a_character_may_come_one_after_the_other():
    buffer = TextBuffer("ab", "utf-16")
    buffer.edit(Position(0, 1), Position(0, 1), "\ud83d")
    assert buffer.text() == "a\ufffdb"
    buffer.edit(Position(0, 2), Position(0, 2), "\ude0b")
    assert buffer.text() == "a😋b"
    buffer.edit(Position(0, 3), Position(0, 4), "")
    assert buffer.text() == "a😋"
    assert clean("\ude0b\ud83d") == "\ufffd\ufffd"


def some_text(random: Random) -> str:
    return "".join(random.choices(ALPHABET, k=random.randrange(21)))


def some_point(random: Random) -> Position:
    far = [10, 2**16, 2**31 - 1]
    return Position(random.choice([*range(7), *far]), random.choice([*range(10), *far]))


def wire(point: Position) -> dict[str, int]:
    return {"line": point.line, "character": point.character}
