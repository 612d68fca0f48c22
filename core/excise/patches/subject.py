"""Subjects of patch mails: ``[PATCH v3 2/7] title``."""

from __future__ import annotations

import re

from excise.patches.model import Series

__all__ = ["series_of"]

_BRACKETS = re.compile(r"\s*(?:(?:re|aw|fwd?):\s*)*\[([^\[\]]{0,200})\]\s*", re.IGNORECASE)
_REPLY = re.compile(r"\s*(?:(?:re|aw|fwd?):\s*)+", re.IGNORECASE)
_VERSION = re.compile(r"(?:^|[\s,]|PATCH)v(\d{1,4})\b", re.IGNORECASE)
_PLACE = re.compile(r"(?:^|\s|,)(\d{1,4})\s*(?:/|of)\s*(\d{1,4})\b")


def series_of(subject: str) -> tuple[Series, str]:
    """Return what the brackets of a subject say, and the title behind them.

    >>> series_of("Re: [PATCH net-next v3 02/7] mm: fix it")
    (Series(version=3, index=2, total=7, numbered=True), 'mm: fix it')
    """
    said, end = [], 0
    while (match := _BRACKETS.match(subject, end)) is not None:
        said.append(match[1])
        end = match.end()
    if not said and (match := _REPLY.match(subject)) is not None:
        end = match.end()
    tags = " ".join(said)
    version, place = _VERSION.search(tags), _PLACE.search(tags)
    series = Series(
        version=int(version[1]) if version else 1,
        index=int(place[1]) if place else 0,
        total=int(place[2]) if place else 0,
        numbered=place is not None,
    )
    return series, " ".join(subject[end:].split())
