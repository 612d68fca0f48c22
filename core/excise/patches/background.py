"""How common words are in general: a fixed table, so that no pair's score depends on a pool."""

from __future__ import annotations

import math
from collections.abc import Mapping

from excise.patches import background_table

__all__ = ["Background"]

PER_MILLE = 1000.0
RARE = 0.01
"""Added to every share, so that words which no table has weigh ln 100, and not without bound."""


class Background:
    """Weights of sub-tokens: the negative logarithm of the share of patches that have them.

    Parameters
    ----------
    changes
        By sub-token the share of patches, in thousandths, with it in a line added or deleted.
    messages
        The same of messages.
    name
        What stands for both in a signature.

    Examples
    --------
    >>> shipped = Background.shipped()
    >>> shipped.change("return") < shipped.change("zzyzx")
    True
    """

    def __init__(self, changes: Mapping[str, int], messages: Mapping[str, int], name: str) -> None:
        """Take the shares."""
        self.name = name
        self._changes, self._messages = _weights(changes), _weights(messages)

    @classmethod
    def shipped(cls) -> Background:
        """Return the table that the package carries (`excise.patches.background_table`)."""
        changes, messages = map(_read, (background_table.CHANGES, background_table.MESSAGES))
        return cls(changes, messages, background_table.NAME)

    def change(self, word: str) -> float:
        """Return the weight of a sub-token of a changed line."""
        return self._changes.get(word, _UNKNOWN)

    def message(self, word: str) -> float:
        """Return the weight of a sub-token of a message."""
        return self._messages.get(word, _UNKNOWN)


def _weights(shares: Mapping[str, int]) -> dict[str, float]:
    return {word: _weight(share / PER_MILLE) for word, share in shares.items()}


def _weight(share: float) -> float:
    return -math.log(RARE + (1.0 - RARE) * share)


_UNKNOWN = _weight(0.0)


def _read(table: str) -> dict[str, int]:
    """Read lines ``share: word word ..``, where a line that starts with a blank continues the
    last.
    """
    shares: dict[str, int] = {}
    share = 0
    for line in table.strip("\n").split("\n"):
        number, colon, words = line.rpartition(":")
        share = int(number) if colon else share
        shares |= dict.fromkeys(words.split(), share)
    return shares
