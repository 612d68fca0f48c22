r"""The one place where text from files becomes printable.

Control characters direct a terminal, and bidirectional and invisible ones mislead readers. All of
them are shown as visible escapes (``\x1b``, ``\u202e``).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence

DEFAULT_IGNORABLE = {
    "bidi control": "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069",
    "zero-width character": "\u180e\u200b-\u200d\u2060\ufeff",
    "tag character": "\U000e0000-\U000e007f",
    "variation selector": "\ufe00-\ufe0f\U000e0100-\U000e01ef",
    "other default-ignorable": (
        "\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2061-\u2065\u206a-\u206f\u3164"
        "\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0080-\U000e00ff"
        "\U000e01f0-\U000e0fff"
    ),
}
"""Characters that nobody sees, by kind: Unicode's property of that name."""

# The others: controls (C0, DEL, C1), lone surrogates, line and paragraph separators, the blank
# cell of Braille, marks of interlinear annotations.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u2800\ufff9-\ufffb"
    f"{''.join(DEFAULT_IGNORABLE.values())}]"
)
_HIDDEN_RUN = re.compile(f"{_HIDDEN.pattern}+")
_ESCAPE = re.compile(rb"\\x([0-9a-f]{2})")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TAB = "→   "


def printable(text: str) -> str:
    r"""Return the text on one line, with everything invisible or obeyed shown as an escape.

    >>> printable("a\x1b[31m\tb\u202e")
    'a\\x1b[31m\\tb\\u202e'
    """
    return _HIDDEN.sub(_escaped, text)


def source_text(text: str) -> str:
    r"""Return source text for a terminal: its lines stay, a tab is an arrow, the rest is escaped.

    >>> source_text("if x:\n\treturn\x07")
    'if x:\n→   return\\x07'
    """
    lines = (printable(line.replace("\t", _TAB)) for line in text.split("\n"))
    return "\n".join(lines)


def json_text(text: str) -> str:
    r"""Return a JSON document with its invisible characters as JSON's own escapes: the same value.

    >>> print(json_text('{"a": "\u202e\U000e0041"}'))
    {"a": "\u202e\udb40\udc41"}
    """
    return _HIDDEN_RUN.sub(lambda match: json.dumps(match[0])[1:-1], text)


def hidden_characters(text: str) -> Counter[str]:
    r"""Count the characters that `printable` escapes, but for tabs and line ends.

    >>> hidden_characters("a\tb\u202e\u200b\u200b\n")
    Counter({'\u200b': 2, '\u202e': 1})
    """
    return Counter(char for char in _HIDDEN.findall(text) if char not in _SHORT)


def hidden_note(texts: Iterable[str]) -> str:
    r"""Say how many characters of some texts are shown as escapes, and which, or nothing.

    >>> hidden_note(["a\u202e", "\U000e0041"])
    '2 invisible characters are shown escaped (\\u202e, \\U000e0041)'
    """
    counts = sum(map(hidden_characters, texts), Counter[str]())
    if not counts:
        return ""
    kinds = [printable(char) for char in sorted(counts)]
    more = f" and {len(kinds) - 5} more" if len(kinds) > 5 else ""
    total = counts.total()
    are = "invisible character is" if total == 1 else "invisible characters are"
    return f"{total:,} {are} shown escaped ({', '.join(kinds[:5])}{more})"


def shortened(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters, cut in its middle, with the number left out.

    >>> shortened("branch:" + 40 * "a" + "-fix", 30)
    'branch:aaa…[31 cut]…aaaaaa-fix'
    """
    if len(text) <= most:
        return text
    kept = most - len(f"…[{len(text):,} cut]…")
    tail = kept // 2
    return f"{text[: kept - tail]}…[{len(text) - kept:,} cut]…{text[len(text) - tail :]}"


def shortened_beside(text: str, others: Iterable[str], most: int) -> str:
    """Return a text of at most ``most`` characters, cut around where the nearest other differs.

    >>> shortened_beside("x = [" + 40 * "1, " + "27]", ["x = [" + 40 * "1, " + "2]"], 60)
    'x …[115 cut]…, 1, 1, 27]'
    """
    if len(text) <= most:
        return text
    alike, start = 0, 0
    for other in others:
        first = shared_start(text, other)
        last = shared_start(text[: first - 1 : -1] if first else text[::-1], other[::-1])
        if other != text and first + last > alike:
            alike, start = first + last, first
    room = most - 2 * len(f"…[{len(text):,} cut]…")
    head, low = room // 16, start - room // 4
    if low <= 2 * head:
        return shortened(text, most)
    high = min(low + room - head, len(text))
    cut = f"{text[:head]}…[{low - head:,} cut]…{text[low:high]}"
    return cut if high == len(text) else f"{cut}…[{len(text) - high:,} cut]"


def lines_beside(lines: Sequence[str], most: int) -> list[str]:
    """Return lines of a hunk, long ones cut around what those with another sign have not.

    >>> old, new = (f"{sign}x = [{40 * '1, '}{n}7]" for sign, n in (("-", 2), ("+", 3)))
    >>> lines_beside([old, new], 40)
    ['-…[121 cut]… 1, 27]', '+…[121 cut]… 1, 37]']
    """
    return [
        shortened_beside(line, (line[:1] + o[1:] for o in lines if o[:1] != line[:1]), most)
        for line in lines
    ]


def shared_start(a: str, b: str) -> int:
    """Return how many first characters two texts share."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def visible(name: str) -> str:
    r"""Return a file name as text that can be sent, with bytes that are not UTF-8 escaped.

    >>> visible("a\udce4.py")
    'a\\xe4.py'
    """
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def shown_name(name: str) -> str:
    """Return a name on one line: bytes that are not UTF-8, and what is invisible, are escaped."""
    return printable(visible(name))


def spelled(path: str) -> str:
    r"""Return a path as text for a JSON document, from which `path_spelled` makes the path again.

    Bytes that are not UTF-8 are escaped, and a backslash in the path that would look like that.

    >>> spelled("a\udce4.py"), spelled(r"a\xe4.py"), spelled(r"a\b")
    ('a\\xe4.py', 'a\\x5cxe4.py', 'a\\b')
    """
    name = _ESCAPE.sub(rb"\\x5cx\1", path.encode("utf-8", "surrogateescape"))
    return name.decode("utf-8", "backslashreplace")


def path_spelled(text: str) -> str:
    r"""Return the path that a document spells so.

    >>> path_spelled(r"a\xe4.py"), path_spelled(r"a\x5cxe4.py"), path_spelled(r"a\b")
    ('a\udce4.py', 'a\\xe4.py', 'a\\b')
    """
    encoded = text.encode("utf-8", "surrogateescape")
    path = _ESCAPE.sub(lambda escape: bytes.fromhex(escape[1].decode()), encoded)
    return path.decode("utf-8", "surrogateescape")


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    if char in _SHORT:
        return _SHORT[char]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
