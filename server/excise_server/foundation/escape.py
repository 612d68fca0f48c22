r"""The one place where text from files becomes printable.

Control characters direct a terminal, and bidirectional and invisible ones mislead readers. All of
them are shown as visible escapes (``\x1b``, ``\u202e``).
"""

from __future__ import annotations

import re

__all__ = ["printable", "source_text"]

# Controls (C0, DEL, C1), lone surrogates, line and paragraph separators, bidirectional marks,
# embeddings, overrides and isolates, zero-width and other default-ignorable characters.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
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


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    code = ord(char)
    if char in _SHORT:
        return _SHORT[char]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
