"""HTML from parts. Every text is escaped here and nowhere else.

`element` takes texts and other elements: any `str` is escaped, and only `Markup` stays markup.
Names of elements and attributes are our own.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

from excise_server.foundation.escape import printable

__all__ = ["Child", "Markup", "element", "joined", "source"]

_VOID = frozenset({"meta", "img", "br", "rect", "path", "line"})


class Markup(str):
    """A piece of HTML that `element` made."""

    __slots__ = ()


Child = str | Markup | int | None
"""The types that an element may contain; None is empty."""


def element(name: str, /, *children: Child, **attributes: Child) -> Markup:
    """Return an element without attributes that are None, where ``class_`` means ``class``.

    >>> element("p", "a < b", element("b", "\\x1b"), class_='"x"')
    '<p class="&quot;x&quot;">a &lt; b<b>\\\\x1b</b></p>'
    """
    rendered = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_escaped(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(
            f"<{name}{rendered}>" if name in ("meta", "img", "br") else f"<{name}{rendered}/>"
        )
    return Markup(f"<{name}{rendered}>{joined(children)}</{name}>")


def joined(children: Iterable[Child]) -> Markup:
    """Return parts in a row: markup as it is, all else as text."""
    return Markup("".join(_part(child) for child in children if child is not None))


def source(line: str) -> Markup:
    """Return a line of source text for a `pre`: tabs stay, other invisible characters are shown."""
    return Markup("\t".join(_escaped(part) for part in line.split("\t")))


def _part(child: Child) -> str:
    return child if isinstance(child, Markup) else _escaped(str(child))


def _escaped(text: str) -> str:
    return html.escape(printable(text))
