"""The explanation of an order, printed with every order that people read."""

from __future__ import annotations

from collections.abc import Sequence

from excise import Ranked

__all__ = ["DISAGREE", "disagree", "order_words"]

DISAGREE = "they disagree: read, or run excise worktrees --run 'COMMAND'"
"""What is said where no two make the same edit: no order says much of that."""

_NEXT = {
    "fix": "then fewer tokens",
    "change": "then what is nearest to the others, then fewer tokens",
}
_OTHER = {
    "fix": "for any other change: --intent change",
    "change": "for a bug fix: --intent fix",
}


def order_words(intent: str) -> str:
    """Return the rule that decided an order.

    >>> order_words("fix").partition(":")[0]
    'intent fix (for any other change'
    """
    whole = "whole edits first, then the edit that more make"
    return f"intent {intent} ({_OTHER[intent]}): {whole}, {_NEXT[intent]}"


def disagree(ranking: Sequence[Ranked]) -> bool:
    """Whether several whole edits are ranked, and nobody makes one that another makes."""
    whole = [r for r in ranking if not (r.no_op or r.stub or r.broken)]
    return len(whole) > 1 and all(ranked.makers == 1 for ranked in whole)
