r"""Whether lines that are merged into another text keep the parent that their author gave them.

The parent of a line is the innermost function, class, section or mapping around it that begins
above. A merge by lines can put a line into another one without a conflict:

>>> revision = "def f():\n    a = 1\n    b = 2\n    c = 3\n"
>>> merged = "def f():\n    a = 1\n\ndef g():\n    b = 2\n    c = 3\n"
>>> lost_parents(revision, merged, [0, 1, 4, 5], [3], "python")
[3]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from excise.errors import Unparsable
from excise.reading import PARSER_SECONDS, ParsedTexts, Reading, is_large
from excise.text import raw_lines

_FLAT = frozenset(("markdown", "toml", "ini"))
"""Grammars whose parents do not show in the indentation."""

_WORDS = re.compile(r"\w+")
_NAMED = ("name", "key", "declarator")
_PARENTS = frozenset(("section", "impl_item", "table", "table_array_element", "pair"))


def lost_parents(
    revision: str,
    merged: str,
    places: Sequence[int],
    lines: Sequence[int],
    grammar: str | None,
    texts: ParsedTexts | None = None,
) -> list[int]:
    """Return those of some lines of a revision that have another parent in the merged text.

    Nothing is said where no grammar reads both texts, and of blank lines.

    - ``revision``, ``merged``: normalised texts.
    - ``places``: the line of the merged text for each line of the revision; -1 if it has none.
    - ``lines``: those of the revision that are asked about, ascending, from 0.
    - ``grammar``: the grammar of both; None: nothing is known of them.
    - ``texts``: what parsers found already.
    """
    if grammar is None or is_large(revision) or is_large(merged):
        return []
    old, new = raw_lines(revision), raw_lines(merged)
    asked = [line for line in lines if old[line].strip()]
    if grammar not in _FLAT:
        # Parsing is dear, and parents seldom change where the lines above and further left do not.
        asked = [line for line in asked if not _stays(old, new, places, line)]
    if not asked:
        return []
    reading, parsed = Reading(grammar, timeout=PARSER_SECONDS), texts or ParsedTexts()
    try:
        roots = [parsed.tree(text, reading).root_node for text in (revision, merged)]
    except (Unparsable, LookupError):
        return []
    if any(root.has_error for root in roots):
        return []
    return [
        line
        for line in asked
        if not _is_at(
            places,
            _parent(roots[0], line, old[line]),
            _parent(roots[1], places[line], new[places[line]]),
        )
    ]


def _stays(old: Sequence[str], new: Sequence[str], places: Sequence[int], line: int) -> bool:
    """Whether the lines above one and further left are the same, or begin with the same words."""
    ours, theirs = list(_outline(old, line)), list(_outline(new, places[line]))
    return len(ours) == len(theirs) and all(
        places[a] == b
        or (_is_at(places, a, b) and _WORDS.findall(old[a])[:2] == _WORDS.findall(new[b])[:2])
        for a, b in zip(ours, theirs, strict=True)
    )


def _outline(lines: Sequence[str], line: int) -> Iterator[int]:
    """Yield the lines above one that are further left, each further left than the one before."""
    width = _width(lines[line])
    while width and line:
        line -= 1
        if lines[line].strip() and _width(lines[line]) < width:
            width = _width(lines[line])
            yield line


def _width(line: str) -> int:
    return len(line) - len(line.lstrip())


def _parent(root: Any, line: int, text: str) -> int:  # noqa: ANN401
    """Return the line where the parent of a line begins, or -1."""
    point, parent, node = (line, len(text[: _width(text)].encode())), -1, root
    while node is not None:
        node = next(
            (c for c in node.children if tuple(c.start_point) <= point < tuple(c.end_point)), None
        )
        if node is not None and node.start_point[0] < line and _is_parent(node):
            parent = node.start_point[0]
    return parent


def _is_parent(node: Any) -> bool:  # noqa: ANN401
    if node.type in _PARENTS:
        return True
    has_body = any(node.child_by_field_name(field) is not None for field in ("body", "value"))
    return has_body and any(node.child_by_field_name(field) is not None for field in _NAMED)


def _is_at(places: Sequence[int], line: int, merged: int) -> bool:
    """Whether a line of the revision is this one of the merged text, or may have become it."""
    if line < 0 or merged < 0:
        return line == merged
    if places[line] >= 0:
        return places[line] == merged
    above = next((places[at] for at in range(line, -1, -1) if places[at] >= 0), -1)
    below = next((place for place in places[line:] if place >= 0), merged + 1)
    return above < merged < below
