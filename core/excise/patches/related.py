"""Whether two patches are about the same issue: three cosines, their mean, what it is worth.

"Same edit" (`excise.patches.Pool`) is another question, and the two answers are never mixed:
different people's fixes of one bug share the place and the words, seldom the text.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from excise.clustering import Cluster, cluster_values
from excise.components import components
from excise.patches.evidence import Background, Bag, Evidence
from excise.patches.model import PatchError
from excise.patches.pool import MOST
from excise.tokens import Vocabulary

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

RELATED_VERSION = 1
"""Version of the definition (docs/duplicates.md); 1 of ``related:1`` in the signature."""

Level = Literal["likely", "possibly", "none"]
LEVELS: tuple[Level, ...] = ("likely", "possibly", "none")


@dataclass(frozen=True, slots=True)
class Calibration:
    """The measured meaning of a mean (docs/duplicates.md).

    - ``likely``, ``possibly``: the least mean of each level.
    - ``slope``, ``offset``: the probability is 1 / (1 + exp(offset - slope * mean)).
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

    - ``what``, ``where``: cosines in [0, 1] of what is changed, and of where.
    - ``why``: that of the messages; None if one of the two has no message, or it is not asked for.
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


RELATED_LINKAGE = "average"
RELATED_DISTANCE = 0.53
"""The distance (1 - the mean of the cosines) above which groups are not merged: on the average the
pairs of a group are likely about one issue."""

_FIELDS = ("what", "where", "why")


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A patch of a pool, by its number, and how it is related to the one asked about."""

    number: int
    relation: Relation


class RelatedPool:
    """Evidence of patches, numbered in the order of `add`.

    A relation never depends on the other patches: a pool of two gives the same bits.

    - ``with_why``: whether messages count; without, every mean is of two cosines.
    """

    def __init__(self, *, with_why: bool = True) -> None:
        self.with_why = with_why
        self.evidence: list[Evidence] = []
        self._fields = {name: _Postings() for name in _FIELDS if name != "why" or with_why}

    def __len__(self) -> int:
        return len(self.evidence)

    def add(self, evidence: Evidence) -> int:
        """Add the evidence of a patch and return its number."""
        for name, postings in self._fields.items():
            postings.add(getattr(evidence, name))
        self.evidence.append(evidence)
        return len(self.evidence) - 1

    def relation(self, i: int, j: int) -> Relation:
        """Compare two patches of the pool."""
        found = relation(self.evidence[i], self.evidence[j])
        return found if self.with_why else Relation(found.what, found.where, None)

    def neighbours(self, evidence: Evidence, least: float = 0.0) -> list[Neighbour]:
        """Return the patches of the pool, the most probable first.

        - ``evidence``: of a patch that may be in the pool, or not.
        - ``least``: the least probability of those that are returned; pairs with nothing in common
          are never among them.
        """
        import numpy as np

        what, where, why = self._cosines(evidence)
        has_why = np.isfinite(why)
        means = np.where(has_why, (what + where + np.nan_to_num(why)) / 3.0, (what + where) / 2.0)
        # A probability is monotone in the mean, so that few are looked at.
        floors = [_least_mean(least, with_why=with_why) for with_why in (True, False)]
        near = np.flatnonzero((means > 0.0) & (means >= np.where(has_why, *floors)))
        found = [
            Neighbour(
                int(at),
                Relation(
                    float(what[at]), float(where[at]), float(why[at]) if has_why[at] else None
                ),
            )
            for at in near
        ]
        found = [neighbour for neighbour in found if neighbour.relation.probability >= least]
        return sorted(found, key=lambda n: (-n.relation.probability, -n.relation.mean, n.number))

    def groups(self, distance: float = RELATED_DISTANCE) -> tuple[Cluster, ...]:
        """Cluster the patches by average linkage on 1 - mean, the largest group first.

        Means of two cosines (no message) are scaled to those of three by where "likely" begins.

        Raises PatchError if more than 12,000 patches hang together.
        """
        import numpy as np

        least = 1.0 - distance - 1e-9
        edges: list[tuple[int, int]] = []
        for i in range(len(self)):
            edges += ((i, int(j)) for j in (self._closeness(i) >= least).nonzero()[0] if j > i)
        found: list[Cluster] = []
        for members in components(len(self), edges):
            if len(members) > MOST:
                raise PatchError(
                    f"{len(members):,} patches hang together, "
                    f"and at most {MOST:,} can be grouped at once: choose a smaller threshold"
                )
            values = np.array([self._closeness(at)[members] for at in members])
            np.fill_diagonal(values, 1.0)
            found += [
                Cluster(
                    tuple(members[at] for at in cluster.members),
                    members[cluster.representative],
                    cluster.min_similarity,
                )
                for cluster in cluster_values(values, distance, RELATED_LINKAGE)
            ]
        return tuple(sorted(found, key=lambda c: (-len(c.members), c.members)))

    def _closeness(self, i: int) -> Values:
        """Return the means of a patch with all, those of two cosines scaled to those of three."""
        import numpy as np

        what, where, why = self._cosines(self.evidence[i])
        scale = calibration(with_why=True).likely / calibration(with_why=False).likely
        pairs = np.minimum((what + where) / 2.0 * scale, 1.0)
        return np.where(np.isfinite(why), (what + where + np.nan_to_num(why)) / 3.0, pairs)

    def _cosines(self, evidence: Evidence) -> tuple[Values, Values, Values]:
        """Return the cosines with all patches (NaN for messages if one of two has none)."""
        import numpy as np

        what = self._fields["what"].cosines(evidence.what)
        where = self._fields["where"].cosines(evidence.where)
        if not (self.with_why and evidence.why.terms):
            return what, where, np.full(len(self), np.nan)
        postings = self._fields["why"]
        why = np.where(postings.is_empty(), np.nan, postings.cosines(evidence.why))
        return what, where, why


def _least_mean(probability: float, *, with_why: bool) -> float:
    """Return a mean that no pair of that probability falls short of, a hair below."""
    if probability <= 0.0:
        return 0.0
    if probability >= 1.0:
        return math.inf
    worth = calibration(with_why=with_why)
    return (worth.offset - math.log(1.0 / probability - 1.0)) / worth.slope - 1e-9


class _Postings:
    """Which patches have a term of one field, with its weight.

    Sums go over the terms of the bag that is asked for, in their order, so that each is the sum of
    `excise.patches.related.cosine`, bit for bit.
    """

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()
        self._terms, self._weights = array("i"), array("d")
        self._ends = array("q", [0])
        self._index: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Values] | None = None

    def __len__(self) -> int:
        return len(self._ends) - 1

    def add(self, bag: Bag) -> None:
        self._terms.extend(self._vocabulary.intern(bag.terms))
        self._weights.extend(bag.weights)
        self._ends.append(len(self._terms))
        self._index = None

    def is_empty(self) -> npt.NDArray[np.bool_]:
        """Return for each patch whether its bag holds nothing."""
        import numpy as np

        return np.equal(np.diff(np.array(self._ends)), 0)

    def cosines(self, bag: Bag) -> Values:
        """Return the cosines of a bag with those of all patches."""
        import numpy as np

        if self._index is None:
            terms = np.array(self._terms, dtype=np.int64)
            order = np.argsort(terms, kind="stable")
            patches = np.repeat(np.arange(len(self)), np.diff(np.array(self._ends)))
            counts = np.bincount(terms, minlength=len(self._vocabulary))
            begins = np.concatenate(([0], np.cumsum(counts)))
            self._index = begins, patches[order], np.array(self._weights)[order]
        starts, owners, weights = self._index
        known = [self._vocabulary.number(term) for term in bag.terms]
        pairs = [(n, w) for n, w in zip(known, bag.weights, strict=True) if n is not None]
        numbers = np.array([n for n, _ in pairs], dtype=np.int64)
        first, sizes = starts[numbers], starts[numbers + 1] - starts[numbers]
        # All postings of the terms, one term after the other.
        before = np.cumsum(sizes) - sizes
        places = np.repeat(first - before, sizes) + np.arange(int(sizes.sum()))
        products = weights[places] * np.repeat(np.array([w for _, w in pairs]), sizes)
        sums = np.bincount(owners[places], weights=products, minlength=len(self))
        return np.minimum(sums, 1.0)
