r"""Markdown from texts of others, made inert.

A text cannot become a link (not even an automatic one), an image, HTML, emphasis, an entity, a
formula or a table. Code is in a fence longer than any in it. Escapes are few, because some clients
show them: a colon or a dot is escaped only where it could make a link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from excise_server.foundation.escape import printable, shortened

LONGEST_PAGE = 50_000
"""Characters of the blocks of a page; a comment on GitHub has at most 65,536."""

LONGEST_LINE = 2_000
"""Characters of a name, a fact or a line of code, of which a longer one is cut in its middle."""

_ACTIVE = re.compile(r"([\\`*_\[\]<>|~&$@]|:(?=\S)|(?<!\d)\.(?=\S)|\.(?=[^\s\d]))")
_FENCES = re.compile("`+")


def inert(text: str) -> str:
    r"""Return a text for Markdown that means only itself.

    >>> inert("0.62: [x](command:y) <b> www.example.com")
    '0.62: \\[x\\](command\\:y) \\<b\\> www\\.example\\.com'
    """
    return _ACTIVE.sub(r"\\\1", shortened(printable(text), LONGEST_LINE))


def bounded(parts: Iterable[str], most: int, way: str) -> list[str]:
    """Return the first parts that have so many characters together, and where the others are.

    >>> bounded(["aaaa", "bbbb", "c"], 8, "see --all")
    ['aaaa', 'and 2 more: see --all']
    """
    kept: list[str] = []
    missing = 0
    for part in parts:
        most -= len(part) + 2
        if most < 0:
            missing += 1
        else:
            kept.append(part)
    return [*kept, f"and {missing:,} more: {way}"] if missing else kept


def fenced(lines: Sequence[str], language: str = "") -> str:
    """Return printable lines in a fence.

    >>> print(fenced(["```"], "py"))
    ````py
    ```
    ````
    """
    text = "\n".join(lines)
    longest = max((len(run) for run in _FENCES.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def code_span(text: str) -> str:
    """Return a text of outside as code in a line.

    >>> code_span("a`b"), code_span("a.py#3")
    ('`` a`b ``', '`a.py#3`')
    """
    shown = shortened(printable(text), LONGEST_LINE)
    longest = max((len(run) for run in _FENCES.findall(shown)), default=0)
    ticks = "`" * (longest + 1)
    gap = " " if longest or shown != shown.strip() else ""
    return f"{ticks}{gap}{shown}{gap}{ticks}"
