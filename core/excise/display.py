"""Values for people: short `repr`s, and HTML for notebooks in which every text is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

MAX_ROWS = 30
"""Rows and columns of a matrix, clusters, and regions of a score that a notebook shows."""
MAX_TEXT = 400
"""Characters of one text in a cell."""

_TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums;text-align:left"
_CELL = "padding:2px 8px;text-align:left;vertical-align:top;border:1px solid #8884"
_SOURCE = "margin:0;white-space:pre-wrap;background:none;color:inherit"


def short(text: str, limit: int = 40) -> str:
    r"""Return the `repr` of a text, a long one without its middle.

    >>> short("a\nb"), short("x" * 100, 10)
    ("'a\\nb'", "'xxxxx…xxxxx' (100 characters)")
    """
    if len(text) <= limit:
        return repr(text)
    half = limit // 2
    return f"{text[:half] + '…' + text[-half:]!r} ({len(text):,} characters)"


def score_html(
    heading: Iterable[tuple[str, str]],
    rows: Sequence[tuple[str | None, str | None, str | None]],
    notes: Iterable[str],
    signature: str,
) -> str:
    """Return a score: its numbers, then the origin's, A's and B's text of every divergent region.

    A row of None's is a region of ready-made tokens, which has no text.
    """
    numbers = " &nbsp; ".join(f"{_text(name)} <b>{_text(value)}</b>" for name, value in heading)
    body = [[_source(text) for text in row] for row in rows[:MAX_ROWS]]
    table = _table(["origin", "a", "b"], body) + _more(len(rows), "regions") if rows else ""
    return f"<div><p>{numbers}</p>{table}{_foot(notes, signature)}</div>"


def matrix_html(
    ids: Sequence[str], values: Sequence[Sequence[float]], notes: Iterable[str], signature: str
) -> str:
    """Return a matrix of similarities, the larger the more opaque."""
    names = [_text(name) for name in ids[:MAX_ROWS]]
    rows = [
        [name, *(_number(value) for value in row[:MAX_ROWS])]
        for name, row in zip(names, values, strict=False)
    ]
    shown = _table(["", *names], rows) if ids else "<p>no revisions</p>"
    return f"<div>{shown}{_more(len(ids), 'revisions')}{_foot(notes, signature)}</div>"


def clusters_html(rows: Sequence[tuple[str, Sequence[str], float]]) -> str:
    """Return clusters: the representative, all members and the least similarity to it."""
    body = [
        [str(number), _text(first), _text(", ".join(members)), f"{least:.2f}"]
        for number, (first, members, least) in enumerate(rows[:MAX_ROWS], start=1)
    ]
    table = _table(["", "representative", "members", "least similarity"], body)
    return f"<div>{table}{_more(len(rows), 'clusters')}</div>"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table of cells that are markup already."""
    top = "".join(f'<th style="{_CELL}">{cell}</th>' for cell in head)
    lines = (
        "".join(
            cell if cell.startswith("<td") else f'<td style="{_CELL}">{cell}</td>' for cell in r
        )
        for r in rows
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<table style="{_TABLE}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def _number(value: float) -> str:
    shade = f"background:rgba(22,112,201,{0.45 * value:.2f})"
    return f'<td style="{_CELL};{shade}">{value:.2f}</td>'


def _source(text: str | None) -> str:
    if text is None:
        return "<i>tokens</i>"
    cut = text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
    return f'<pre style="{_SOURCE}">{_text(cut, kept=chr(10) + chr(9))}</pre>' if cut else "∅"


def _more(count: int, noun: str) -> str:
    return f"<p>{count - MAX_ROWS:,} more {noun}</p>" if count > MAX_ROWS else ""


def _foot(notes: Iterable[str], signature: str) -> str:
    lines = "".join(f"<br>note: {_text(note)}" for note in notes)
    return f'<p style="opacity:.7"><code>{_text(signature)}</code>{lines}</p>'


def _text(text: str, kept: str = "") -> str:
    """Escape a text for HTML. Invisible and right-to-left characters become Python escapes."""
    seen = (c if c.isprintable() or c in kept else ascii(c)[1:-1] for c in text)
    return html.escape("".join(seen))
