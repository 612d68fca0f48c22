"""Word operations of text edits, and how the splits of a data set differ in them.

After "The Role of Text Simplification Operations in Evaluation" (Vásquez-Rodríguez, Shardlow,
Przybyła, Ananiadou 2021): words in lower case, Wagner and Fischer's distance on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
import numpy.typing as npt

from excise.errors import OptionError

__all__ = [
    "OPERATIONS",
    "Divergence",
    "Operations",
    "divergence",
    "edit_operations",
    "random_split",
    "stratified_split",
    "without_poor",
]

OPERATIONS = ("insert", "delete", "replace", "move")
CELLS = 25_000_000
"""Largest table of the distance: 100 MB."""

Floats = npt.NDArray[np.float64]
Split = dict[str, tuple[int, ...]]
"""The numbers of the pairs of each subset, ascending."""


@dataclass(frozen=True, slots=True)
class Operations:
    """How many words were inserted, deleted, replaced and moved.

    A move is a word that is deleted in one place and inserted in another; it is neither counted as
    a deletion nor as an insertion. ``change`` is the distance (a move has two of it) over the words
    of the longer text, in per cent: 0 for equal texts, 100 where no word stayed.
    """

    insert: int
    delete: int
    replace: int
    move: int
    change: float


def edit_operations(before: str, after: str) -> Operations:
    """Return the operations that turn one text into another, word by word.

    Raises
    ------
    OptionError
        If the texts have so many words that the table would not fit (`CELLS`).

    Examples
    --------
    >>> edit_operations("The cat sat on the mat", "the cat lay on a mat")
    Operations(insert=0, delete=0, replace=2, move=0, change=33.33333333333333)
    >>> edit_operations("now we go", "we go now").move
    1
    """
    a, b = before.lower().split(), after.lower().split()
    inserted, deleted, replaced = _steps(a, b)
    distance = len(inserted) + len(deleted) + replaced
    moved = (Counter(inserted) & Counter(deleted)).total()
    longer = max(len(a), len(b))
    return Operations(
        len(inserted) - moved,
        len(deleted) - moved,
        replaced,
        moved,
        100 * (distance / longer) if longer else 0.0,
    )


def _steps(a: Sequence[str], b: Sequence[str]) -> tuple[list[str], list[str], int]:
    """Walk back through the table: replace or keep before deleting, delete before inserting."""
    table = _table(a, b)
    inserted, deleted, replaced = [], [], 0
    i, j = len(a), len(b)
    while i or j:
        distance = table[i, j]
        if i and j and distance == table[i - 1, j - 1] + (a[i - 1] != b[j - 1]):
            i, j = i - 1, j - 1
            replaced += a[i] != b[j]
        elif i and distance == table[i - 1, j] + 1:
            i -= 1
            deleted.append(a[i])
        else:
            j -= 1
            inserted.append(b[j])
    return inserted, deleted, replaced


def _table(a: Sequence[str], b: Sequence[str]) -> npt.NDArray[np.int32]:
    if (len(a) + 1) * (len(b) + 1) > CELLS:
        raise OptionError(f"texts of {len(a):,} and {len(b):,} words are too long to compare")
    numbers: dict[str, int] = {}
    x, y = (np.array([numbers.setdefault(w, len(numbers)) for w in words]) for words in (a, b))
    columns = np.arange(len(b) + 1, dtype=np.int32)
    table = np.empty((len(a) + 1, len(b) + 1), dtype=np.int32)
    table[0] = columns
    for i in range(len(a)):
        row = table[i] + 1
        row[1:] = np.minimum(row[1:], table[i, :-1] + (y != x[i]))
        # Coming from the left costs one a step: a running minimum with a slope.
        table[i + 1] = np.minimum.accumulate(row - columns) + columns
    return table


# --- splits beside each other --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Divergence:
    """How far one distribution is from another.

    ``kl`` (Kullback-Leibler, nats) is infinite where the first has what the second lacks;
    ``js`` (Jensen-Shannon, nats, at most ln 2) never is; ``distance`` is its square root.
    """

    kl: float
    js: float
    distance: float


def divergence(
    values: Sequence[float], others: Sequence[float], *, bins: int = 20, smoothing: float = 0.0
) -> Divergence:
    """Compare two samples by histograms over the same bins.

    Parameters
    ----------
    values, others
        The samples. (The published code bins each by edges of its own, so that its bins do not
        mean the same.)
    bins
        The number of bins of equal width, from the least value of both to the largest.
    smoothing
        Added to the count of every bin; above 0, ``kl`` is finite.

    Raises
    ------
    OptionError
        If a sample is empty.
    """
    if not len(values) or not len(others):
        raise OptionError("a divergence needs at least one value on either side")
    samples = np.concatenate([np.asarray(values, dtype=float), np.asarray(others, dtype=float)])
    edges = np.histogram_bin_edges(samples, bins=bins)
    p, q = (np.histogram(side, edges)[0] + smoothing for side in (values, others))
    p, q = p / p.sum(), q / q.sum()
    middle = (p + q) / 2
    js = max(0.0, (_kl(p, middle) + _kl(q, middle)) / 2)
    return Divergence(_kl(p, q), js, sqrt(js))


def _kl(p: Floats, q: Floats) -> float:
    positive = p > 0
    if (q[positive] == 0).any():
        return inf
    return max(0.0, float((p[positive] * np.log(p[positive] / q[positive])).sum()))


def without_poor(changes: Sequence[float], percent: float) -> tuple[int, ...]:
    """Return the indices of the pairs without the ``percent`` that changed most.

    The number left out is that share of all, rounded down. Of equal changes, later ones go first.

    Examples
    --------
    >>> without_poor([0, 100, 20, 100], 50)
    (0, 2)
    """
    if not 0 <= percent <= 100:
        raise OptionError(f"percent is {percent}; it must be from 0 to 100")
    order = np.argsort(np.asarray(changes, dtype=float), kind="stable")
    count = len(order) - int(len(order) * percent / 100)
    return tuple(sorted(int(index) for index in order[:count]))


def random_split(sizes: Mapping[str, int], seed: int) -> Split:
    """Deal the numbers from 0 on into subsets of given sizes, at random."""
    chance = np.random.default_rng(seed)
    return _dealt(chance.permutation(sum(sizes.values())), sizes)


def stratified_split(
    counts: npt.ArrayLike, sizes: Mapping[str, int], seed: int, *, attempts: int = 10_000
) -> tuple[Split, float]:
    """Return the random split, of many, whose subsets have the most equal operations.

    Parameters
    ----------
    counts
        Shape (pairs, operations).
    sizes
        The sizes of the subsets, which add up to the number of pairs.
    attempts
        How many random splits are tried (Monte Carlo).

    Returns
    -------
    split, spread
        The spread is the standard deviation over subsets of the mean number of each operation,
        divided by its mean over all pairs, summed over operations.

    Raises
    ------
    OptionError
        If the sizes do not add up.
    """
    table = np.asarray(counts, dtype=float)
    if sum(sizes.values()) != len(table):
        raise OptionError(f"subsets of {sum(sizes.values())} pairs in all, of {len(table)} pairs")
    scale = table.mean(axis=0)
    table = table / np.where(scale > 0, scale, 1.0)
    chance = np.random.default_rng(seed)
    starts = np.cumsum([0, *sizes.values()])[:-1]
    lengths = np.maximum(np.array(list(sizes.values())), 1)[:, np.newaxis]
    best, spread = np.arange(len(table)), inf
    for _ in range(max(1, attempts)):
        order = chance.permutation(len(table))
        means = np.add.reduceat(table[order], starts, axis=0) / lengths
        candidate_spread = float(means.std(axis=0).sum())
        if candidate_spread < spread:
            best, spread = order, candidate_spread
    return _dealt(best, sizes), spread


def _dealt(order: npt.NDArray[np.int64], sizes: Mapping[str, int]) -> Split:
    split: Split = {}
    start = 0
    for name, size in sizes.items():
        split[name] = tuple(sorted(int(index) for index in order[start : start + size]))
        start += size
    return split
