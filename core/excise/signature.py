"""The signature: every choice that changes a number, as one citable string (section 6)."""

from __future__ import annotations

from dataclasses import dataclass

from excise.errors import OptionError

__all__ = [
    "COMMENTS",
    "DEFINITION",
    "DELETIONS",
    "GRANULARITIES",
    "LCS",
    "MAX_ORDER",
    "Options",
    "signature",
]

DEFINITION = 1
"""Version of the definition that this library implements (``v:`` of the signature)."""

MAX_ORDER = 4
"""Longest n-gram counted."""

GRANULARITIES = ("nested", "line", "token")
LCS = ("star", "paper")
DELETIONS = ("precision", "f1")
COMMENTS = ("keep", "drop")


@dataclass(frozen=True, slots=True)
class Options:
    """The choices that the definition leaves to a caller, checked.

    Raises
    ------
    OptionError
        On a value that the definition does not know; the message lists those it does.
    """

    granularity: str = "nested"
    lcs: str = "star"
    deletion: str = "f1"
    comments: str = "keep"

    def __post_init__(self) -> None:
        """Refuse what the definition does not know."""
        for name, known in _KNOWN.items():
            if (value := getattr(self, name)) not in known:
                raise OptionError(f"{name} is {value!r}; it must be one of {', '.join(known)}")


_KNOWN = {
    "granularity": GRANULARITIES,
    "lcs": LCS,
    "deletion": DELETIONS,
    "comments": COMMENTS,
}


def signature(options: Options, tokeniser: str) -> str:
    """Return the signature of a score: its options, the tokeniser that ran, the version.

    Examples
    --------
    >>> signature(Options(), "python@0.13.0")
    'es|gran:nested|lcs:star|del:f1|n:4|comments:keep|tok:python@0.13.0|v:1'
    """
    deletion = "p" if options.deletion == "precision" else "f1"
    return (
        f"es|gran:{options.granularity}|lcs:{options.lcs}|del:{deletion}|n:{MAX_ORDER}"
        f"|comments:{options.comments}|tok:{tokeniser}|v:{DEFINITION}"
    )
