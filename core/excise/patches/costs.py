"""Limits on the cost of reading a mail, in its form and in units of work, never in time.

Whether a mail is read depends on its bytes alone, so that results are the same on every machine
and under every load.
"""

from __future__ import annotations

import re

from excise.patches.errors import PatchError

__all__ = ["MAX_DEPTH", "MAX_HEADER", "MAX_HEADERS", "MAX_PARTS", "Budget", "readable_head"]

MAX_HEADER = 10_000
"""Characters of a header that are read; no real one has as many."""

MAX_HEADERS = 64_000
"""Bytes of all headers of a mail or part, once each is cut to those that are read."""

MAX_DEPTH = 20
"""Multiparts and attached mails inside each other; git writes one."""

MAX_PARTS = 1000
"""Parts of one mail."""

TOO_LONG = f"its Content-Type or Content-Disposition has over {MAX_HEADER:,} characters"
TOO_MANY = f"its headers have over {MAX_HEADERS // 1000} kB"

# As the standard library has it, a lone \r ends a line, too.
_FOLDED = rb"[^\r\n]*(?:(?:\r\n?|\n)[ \t][^\r\n]*)*"
_FIELD = re.compile(_FOLDED + rb"(?:\r\n?|\n|\Z)")
# Both have parameters, and reading those takes time quadratic in their number.
_WITH_PARAMETERS = re.compile(rb"(?<![^\r\n])content-(?:type|disposition):" + _FOLDED, re.I)


class Budget:
    """Units of work for one message or file, in proportion to its size."""

    def __init__(
        self,
        size: int,
        reason: str = "too costly to read",
        *,
        allowance: int = 1_000_000,
        units_a_byte: int = 100,
    ) -> None:
        """Set the budget for `size` bytes, with the reason for the error."""
        self._reason = reason
        self.left = allowance + units_a_byte * size

    def spend(self, units: int) -> None:
        """Take units, or raise PatchError if none are left."""
        self.left -= units
        if self.left < 0:
            raise PatchError(self._reason)


def readable_head(head: bytes, budget: Budget) -> bytes:
    """Return headers that the standard library reads in bounded time.

    Raises
    ------
    PatchError
        If they have too many bytes, or too many parameters.
    """
    for match in _WITH_PARAMETERS.finditer(head):
        field = match[0]
        if len(field) > MAX_HEADER:
            raise PatchError(TOO_LONG)
        # Every ";" is looked for from the first one on, to see whether it stands in quotes.
        budget.spend(len(field) * field.count(b";"))
    if len(head) <= MAX_HEADERS:
        return head
    cut = b"".join(_cut(match[0]) for match in _FIELD.finditer(head))
    if len(cut) > MAX_HEADERS:
        raise PatchError(TOO_MANY)
    return cut


def _cut(field: bytes) -> bytes:
    most = MAX_HEADER + 100
    return field if len(field) <= most else field[:most].rstrip(b"\r\n") + b"\n"
