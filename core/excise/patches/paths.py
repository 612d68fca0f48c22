"""File names in patches: quoting, prefixes, dates behind them."""

from __future__ import annotations

import re

__all__ = ["git_names", "header_name", "plain_names", "unquote"]

_ESCAPE = re.compile(rb'\\([0-7]{1,3}|[abtnvfr"\\])')
_SHORT = {
    b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r",
}  # fmt: skip
_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"')
# Tried on the end of a name only: from every one of many blanks it would be quadratic.
_DATE = re.compile(
    rb"[ \t](?:\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?[+-]\d{4})?"
    rb"|(?:[A-Z][a-z]{2} ){2}[ \d]\d \d\d:\d\d:\d\d \d{4})$"
)
_DATE_LENGTH = 48
"""More than the longest date has, with the blank before it."""
_EPOCH = re.compile(rb"[ \t](?:1970-01-01 00|1969-12-31 \d\d):\d\d:00")
_PREFIXES = frozenset({b"a", b"b", b"i", b"w", b"c", b"o", b"1", b"2"})
NULL = b"/dev/null"


def unquote(name: bytes) -> bytes:
    r"""Return a file name as git means it: ``"a\303\244"`` in quotes has escapes.

    >>> unquote(b'"t\\303\\244b\\t"') == "tä".encode() + b"b\t"
    True
    """
    match = _QUOTED.match(name)
    return _ESCAPE.sub(_unescaped, match[1]) if match else name


def header_name(line: bytes) -> tuple[bytes, bool]:
    """Return the name behind ``---`` or ``+++``, and whether its date says that there is none.

    >>> header_name(b"a/x.c\\t1970-01-01 00:00:00.000 +0000")
    (b'a/x.c', True)
    """
    if line.startswith(b'"'):
        return unquote(line), False
    name, tab, date = line.partition(b"\t")
    if not tab and len(name) < 4096:
        name, date = _dated(name)
    name = name.rstrip(b"\r ")
    return name, name == NULL or _EPOCH.match(b" " + date.strip()) is not None


def _dated(name: bytes) -> tuple[bytes, bytes]:
    """Cut a date behind blanks off a name."""
    whole = name.rstrip(b" \t")
    match = _DATE.search(whole, max(len(whole) - _DATE_LENGTH, 0))
    return (whole[: match.start()].rstrip(b" \t"), match[0]) if match else (name, b"")


def plain_names(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """Return two names without the folder that only says which side they are.

    >>> plain_names(b"linux.orig/a/x.c", b"linux/a/x.c")
    (b'a/x.c', b'a/x.c')
    >>> plain_names(b"src/x.c", b"src/x.c")
    (b'src/x.c', b'src/x.c')
    """
    (first, _, old_rest), (other, _, new_rest) = old.partition(b"/"), new.partition(b"/")
    old_marked = old == NULL or (first in _PREFIXES and old_rest)
    new_marked = new == NULL or (other in _PREFIXES and new_rest)
    marked = old_marked and new_marked
    if not marked and (old_rest != new_rest or first == other or not old_rest):
        return old, new
    return (old if old == NULL else old_rest), (new if new == NULL else new_rest)


def git_names(rest: bytes) -> tuple[bytes, bytes]:
    """Return both names of a ``diff --git`` line, without their prefixes.

    A name may hold spaces: then both are the same one, and cut the line in equal halves.

    >>> git_names(b"a/my file b/my file")
    (b'my file', b'my file')
    """
    rest = rest.rstrip(b"\r")
    if rest.startswith(b'"') and (match := _QUOTED.match(rest)):
        return plain_names(unquote(match[0]), unquote(rest[match.end() :].lstrip()))
    if rest.endswith(b'"') and (place := rest.find(b' "')) >= 0:
        return plain_names(rest[:place], unquote(rest[place + 1 :]))
    half = len(rest) // 2
    old, new = rest[:half], rest[half + 1 :]
    if rest[half : half + 1] == b" " and old.partition(b"/")[2] == new.partition(b"/")[2]:
        return plain_names(old, new)
    if (place := rest.find(b" b/")) >= 0:
        return plain_names(rest[:place], rest[place + 1 :])
    old, _, new = rest.partition(b" ")
    return plain_names(old, new or old)


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    return bytes([int(code, 8) & 255]) if code.isdigit() else _SHORT.get(code, code)
