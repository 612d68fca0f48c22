"""Texts that no parser receives: each would make a scanner of a bundled grammar read out of bounds.

These scanners pass any code point to C's ``isdigit`` and the like, which have a table for the first
256. The memory after the table differs between machines. Above U+FFFF it may not exist at all, and
`excise.align("1" + chr(0x100000), "x", language="markdown")` ended the process. The other way to
overrun, a scanner's state that is too large, is watched while the parser runs
(`excise.kernels._scanner`). Both lists have the known cases, and may be incomplete:
docs/algorithm.md.
"""

from __future__ import annotations

import re

__all__ = ["hazard"]

_ABOVE = "[\U00010000-\U0010ffff]"
_ANY_ABOVE = re.compile(_ABOVE)

# Where the scanner of a grammar may pass such a character to ``isdigit``, ``isalpha``, ..
_BEFORE = {
    "bash": re.compile(rf"\{{\d*(\.\.\d*)?{_ABOVE}", re.ASCII),
    "d": _ANY_ABOVE,
    "doxygen": _ANY_ABOVE,
    "gn": re.compile(rf"\$\{{?{_ABOVE}"),
    "markdown": re.compile(rf"^[\x00-\t\v-\x20>*+\-.)\d]*\d{_ABOVE}", re.ASCII | re.MULTILINE),
    "odin": re.compile(rf"\.{_ABOVE}"),
    "v": _ANY_ABOVE,
}


def hazard(text: str, grammar: str) -> str | None:
    r"""Return why the parser of a grammar must not get a text, or None.

    Parameters
    ----------
    text : str
        A normalised text.
    grammar : str
        A name that `excise.languages.resolve` returned.

    Examples
    --------
    >>> hazard("1. \U0001f600\n", "markdown")
    >>> hazard("1\U0001f600\n", "markdown")
    'a character above U+FFFF where it asks for digits or letters'
    """
    before = _BEFORE.get(grammar)
    if before is None or text.isascii() or not before.search(text):
        return None
    return "a character above U+FFFF where it asks for digits or letters"
