"""Whether two patches are about the same issue: three cosines, their mean, what it is worth.

"Same edit" (`excise.patches.Pool`) is another question, and the two answers are never mixed:
different people's fixes of one bug share the place and the words, seldom the text.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from excise.patches.background import Background
from excise.patches.evidence import Bag, Evidence

__all__ = [
    "LEVELS",
    "RELATED_VERSION",
    "Calibration",
    "Level",
    "Relation",
    "calibration",
    "cosine",
    "related_signature",
    "relation",
]

RELATED_VERSION = 1
"""Version of the definition (docs/duplicates.md); 1 of ``related:1`` in the signature."""

Level = Literal["likely", "possibly", "none"]
LEVELS: tuple[Level, ...] = ("likely", "possibly", "none")


@dataclass(frozen=True, slots=True)
class Calibration:
    """The measured meaning of a mean (docs/duplicates.md).

    Attributes
    ----------
    likely, possibly
        The least mean of each level.
    slope, offset
        The probability is 1 / (1 + exp(offset - slope * mean)).
    """

    likely: float
    possibly: float
    slope: float
    offset: float

    def level(self, mean: float) -> Level:
        """Return the level of a mean."""
        if mean >= self.likely:
            return "likely"
        return "possibly" if mean >= self.possibly else "none"

    def probability(self, mean: float) -> float:
        """Return how often such pairs, among the nearest of each, were about one issue."""
        return 1.0 / (1.0 + math.exp(self.offset - self.slope * mean))


_ALL_THREE = Calibration(likely=0.47, possibly=0.39, slope=20.5, offset=7.43)
_WITHOUT_WHY = Calibration(likely=0.57, possibly=0.43, slope=16.0, offset=6.47)


def calibration(*, with_why: bool) -> Calibration:
    """Return what the mean of three cosines is worth, or that of two where a message is missing."""
    return _ALL_THREE if with_why else _WITHOUT_WHY


@dataclass(frozen=True, slots=True)
class Relation:
    """How two patches are related by the issue that they are about.

    Attributes
    ----------
    what, where
        Cosines in [0, 1] of what is changed, and of where.
    why
        That of the messages; None if one of the two has no message, or it is not asked for.
    """

    what: float
    where: float
    why: float | None

    @property
    def mean(self) -> float:
        """The mean of the cosines that there are."""
        if self.why is None:
            return (self.what + self.where) / 2.0
        return (self.what + self.where + self.why) / 3.0

    @property
    def calibration(self) -> Calibration:
        """The measured meaning of the mean."""
        return calibration(with_why=self.why is not None)

    @property
    def level(self) -> Level:
        """Whether they are likely about one issue, possibly, or neither."""
        return self.calibration.level(self.mean)

    @property
    def probability(self) -> float:
        """How often such pairs, among the nearest of each patch, were about one issue."""
        return self.calibration.probability(self.mean)


def relation(a: Evidence, b: Evidence) -> Relation:
    r"""Compare two patches, symmetrically to the last bit.

    Examples
    --------
    >>> from excise.patches import parse
    >>> from excise.patches.evidence import EvidenceReader
    >>> diff = b"--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n int size;\n-read(size);\n+%s\n"
    >>> reader = EvidenceReader()
    >>> a, b = (reader.evidence(parse(diff % new)) for new in (b"fetch(size);", b"load(size);"))
    >>> found = relation(a, b)
    >>> round(found.where, 2), found.why, found.level
    (1.0, None, 'likely')
    """
    why = cosine(a.why, b.why) if a.why.terms and b.why.terms else None
    return Relation(cosine(a.what, b.what), cosine(a.where, b.where), why)


def cosine(a: Bag, b: Bag) -> float:
    """Return the sum of the products of shared terms, in the order of the terms."""
    other = dict(zip(b.terms, b.weights, strict=True))
    total = 0.0
    for term, weight in zip(a.terms, a.weights, strict=True):
        if term in other:
            total += weight * other[term]
    return min(total, 1.0)


def related_signature(background: Background) -> str:
    """Return the signature of a relation.

    >>> related_signature(Background.shipped())
    'related:1|idf:bg1'
    """
    return f"related:{RELATED_VERSION}|idf:{background.name}"
