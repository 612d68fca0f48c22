"""What an edit of a document does, in its plainest form: by characters, in the protocol's units."""

from collections.abc import Iterator

from lsprotocol.types import Position

from excise_server.lsp.to_proto import Encoding


def replaced(text: str, start: Position, end: Position, new: str, encoding: Encoding) -> str:
    """Return the text with something new between two positions."""
    begin, stop = sorted((offset(text, start, encoding), offset(text, end, encoding)))
    return text[:begin] + new + text[stop:]


def offset(text: str, point: Position, encoding: Encoding) -> int:
    """Count lines, then units, character by character."""
    start = 0
    for number, line in enumerate(lines_of(text)):
        if number == point.line:
            units = 0
            for index, character in enumerate(line.rstrip("\r\n")):
                units += units_of(character, encoding)
                if units > point.character:
                    return start + index
            return start + len(line.rstrip("\r\n"))
        start += len(line)
    return len(text)


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines of the protocol, with their ends, and what follows the last end."""
    line = ""
    for index, character in enumerate(text):
        line += character
        if character == "\n" or (character == "\r" and text[index + 1 : index + 2] != "\n"):
            yield line
            line = ""
    yield line


def units_of(character: str, encoding: Encoding) -> int:
    """Return how many units a character takes."""
    code = ord(character)
    if encoding == "utf-32":
        return 1
    if encoding == "utf-16":
        return 1 if code < 0x10000 else 2
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
