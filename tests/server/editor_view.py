"""What an editor is told, as text: readable, and the same on every machine.

Lines and columns count from 1, as an editor shows them, in the units of the client's encoding. What
cannot be seen is written `<U+001B>`. Addresses of the document's folder and the versions of
grammars are left out.

A position that is not one of the text is an error: whoever sends it is wrong about the text.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

WIDTH = 100
"""Characters of a line of an outline; what is longer gets a line for each part."""

MOST_LINES = 4
"""Most underlined lines of one range."""

SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}

_GRAMMAR = re.compile(r"(\\?@)\d+\.\d+\.\d+")


class Page:
    """A text of an editor, in which positions are looked up.

    ``folder`` is the URI of what the addresses are relative to.
    """

    def __init__(self, text: str, encoding: str, folder: str) -> None:
        self.text, self._encoding, self._folder = text, encoding, folder
        # The line ends of the protocol, and no others.
        self._lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)

    def offset(self, position: Mapping[str, int]) -> int:
        """Return the index of a position in the text."""
        number, column = position["line"], position["character"]
        assert number < len(self._lines), f"line {number + 1} of {len(self._lines)}"
        content, units = self._lines[number].rstrip("\r\n"), 0
        for index, character in enumerate([*content, ""]):
            if units == column:
                return sum(map(len, self._lines[:number])) + index
            units += self._units(character)
        raise AssertionError(f"line {number + 1} has no column {column + 1}: {content!r}")

    def edited(self, edits: Iterable[Mapping[str, Any]]) -> str:
        """Return the text after edits, as an editor makes them."""
        text = self.text
        found = [(*map(self.offset, e["range"].values()), e["newText"]) for e in edits]
        for start, stop, new in sorted(found, reverse=True):
            text = text[:start] + new + text[stop:]
        return text

    def underlined(self, where: Mapping[str, Any]) -> list[str]:
        """Return the lines of a range, and what is underlined in them."""
        start, stop = self.offset(where["start"]), self.offset(where["end"])
        first, last = where["start"]["line"], where["end"]["line"]
        gutter, rows = len(str(last + 1)), list[str]()
        at = sum(map(len, self._lines[:first]))
        for number, line in enumerate(self._lines[first : last + 1], start=first):
            content = line.rstrip("\r\n")
            lo, hi = (min(max(edge - at, 0), len(content)) for edge in (start, stop))
            before, under = len(_numbered(content[:lo])), len(_numbered(content[lo:hi]))
            rows.append(f"{number + 1:>{gutter}} | {visible(content)}".rstrip())
            rows.append(f"{'':>{gutter}} | {' ' * before}{'^' * max(under, 1)}")
            at += len(line)
        if len(rows) > 2 * MOST_LINES:
            rows[2 * MOST_LINES - 2 : -2] = [f"{'':>{gutter}} | ..."]
        return rows

    def replaced(self, edit: Mapping[str, Any]) -> list[str]:
        """Return an edit as the lines that go and those that come."""
        start, stop = (self.offset(edit["range"][end]) for end in ("start", "end"))
        return [
            f"  {span(edit['range'])}",
            *_marked("  -", self.text[start:stop]),
            *_marked("  +", edit["newText"]),
        ]

    def stable(self, text: str) -> str:
        """Return a text without what differs between machines and releases of grammars."""
        path = unquote(self._folder.removeprefix("file://"))
        for known in (self._folder, path):
            text = text.replace(f"{known}/", "")
        return _GRAMMAR.sub(r"\1*", text)

    def address(self, uri: str) -> str:
        """Return a URI without the folder, and one of ours without its query."""
        return visible(self.stable(uri.partition("?")[0]))

    def _units(self, character: str) -> int:
        if self._encoding == "utf-8":
            return len(character.encode())
        return len(character.encode("utf-16-le")) // 2


def visible(text: str) -> str:
    """Return a text with everything that cannot be seen by its number; lines stay."""
    return re.sub(r" +(?=\n|$)", lambda blanks: "<U+0020>" * len(blanks[0]), _numbered(text))


def span(where: Mapping[str, Any]) -> str:
    """Return a range as an editor counts: "2:1-2:14"."""
    return "-".join(
        f"{where[end]['line'] + 1}:{where[end]['character'] + 1}" for end in ("start", "end")
    )


def diagnostics(page: Page, found: Sequence[Mapping[str, Any]]) -> str:
    """Return each diagnostic with the lines that it underlines, and where it links to.

    A link that repeats the message of another diagnostic is shown without it.
    """
    messages = [diagnostic["message"] for diagnostic in found]
    blocks = []
    for diagnostic in found:
        severity = SEVERITIES[diagnostic["severity"]]
        assert diagnostic["source"] == "excise", diagnostic["source"]
        block = [
            f"{span(diagnostic['range'])} {diagnostic['code']} ({severity})",
            *page.underlined(diagnostic["range"]),
            *indented(page.stable(diagnostic["message"])),
        ]
        for link in diagnostic.get("relatedInformation", ()):
            where = link["location"]
            block.append(f"  see {page.address(where['uri'])} {span(where['range'])}")
            if link["message"] not in messages:
                block[-1] += f": {visible(page.stable(link['message']))}"
        blocks.append("\n".join(block))
    return "\n\n".join(blocks)


def hover(page: Page, found: Mapping[str, Any] | None) -> str:
    """Return the text of a hover below the lines that it is about."""
    if found is None:
        return ""
    contents = found["contents"]
    assert set(contents) == {"kind", "value"}, "a hover of ours is never `isTrusted`"
    lines = [f"({contents['kind']})"]
    if (where := found.get("range")) is not None:
        lines = [f"{span(where)} {lines[0]}", *page.underlined(where)]
    return "\n".join([*lines, "", visible(page.stable(contents["value"]))])


def lenses(page: Page, found: Iterable[Mapping[str, Any]] | None) -> str:
    """Return a line for each lens: where, what it says, and its command."""
    lines = []
    for lens in found or ():
        command = lens["command"]
        [given] = command.get("arguments", [{}])
        given = {name: value for name, value in given.items() if name != "uri"}
        runs = [command["command"], *([flow(given)] if given else [])]
        line = f"{span(lens['range'])} {visible(page.stable(command['title']))}"
        lines.append(f"{line} [{' '.join(runs)}]" if command["command"] else line)
    return "\n".join(lines)


def rejected(page: Page, found: Iterable[Mapping[str, str]]) -> str:
    """Return a line for each revision that was not taken."""
    return "\n".join(visible(page.stable(f"{r['id']}: {r['reason']}")) for r in found)


def report(page: Page, found: Mapping[str, Any]) -> str:
    """Return all of a report but the number of its state, which counts a session's changes."""
    shown = {name: value for name, value in found.items() if name != "state"}
    return page.stable("\n".join(outline(shown)))


def indented(text: str) -> list[str]:
    """Return the lines of a message below what it is about."""
    return [f"  {line}".rstrip() for line in visible(text).split("\n")]


def outline(value: object, indent: str = "") -> list[str]:
    """Return a JSON value in lines: what fits stands in one, the rest in a line for each part."""
    lines = []
    if isinstance(value, Mapping):
        parts = [(f"{name}: ", f"{name}:", part) for name, part in value.items()]
    else:
        assert isinstance(value, list)
        parts = [("- ", "-", part) for part in value]
    for head, alone, part in parts:
        whole = f"{indent}{head}{flow(part)}"
        if len(whole) <= WIDTH or not part or not isinstance(part, Mapping | list):
            lines.append(whole)
            continue
        inner = outline(part, f"{indent}  ")
        if alone == "-":
            inner[0] = f"{indent}- {inner[0].lstrip()}"
        else:
            lines.append(f"{indent}{alone}")
        lines += inner
    return lines


def flow(value: object) -> str:
    """Return a JSON value in one line; numbers to four places, which no machine disputes."""
    match value:
        case Mapping() if _is_range(value):
            return span(value)
        case Mapping():
            return f"{{{', '.join(f'{name}: {flow(part)}' for name, part in value.items())}}}"
        case list():
            return f"[{', '.join(map(flow, value))}]"
        case str():
            return visible(json.dumps(value, ensure_ascii=False))
        case float():
            return f"{value + 0:.4f}".rstrip("0").rstrip(".")
        case _:
            return json.dumps(value)


def _is_range(value: Mapping[str, Any]) -> bool:
    return value.keys() == {"start", "end"}


def _marked(mark: str, text: str) -> list[str]:
    if not text:
        return []
    *lines, last = visible(text).split("\n")
    return [f"{mark}{line}" for line in lines] + ([f"{mark}{last}", "  \\"] if last else [])


def _numbered(text: str) -> str:
    return "".join(c if c == "\n" or c.isprintable() else f"<U+{ord(c):04X}>" for c in text)
