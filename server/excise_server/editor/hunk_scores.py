"""What the score says about one hunk: the numbers of the divergent regions in it.

Every divergent region of a pair lies in one hunk. A hunk's numbers are the formula on the counts of
its regions, and their share of all divergent 1- to 4-grams of the pair. What both revisions do
alike in other hunks counts nothing here. With a single hunk these are the numbers of the pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

import excise
from excise.excision import excision
from excise.hunks import Key
from excise_server.foundation.cancellation import raise_if_cancelled

__all__ = [
    "MAX_COMPARED",
    "MAX_PAIRS",
    "HunkScores",
    "KnownPairs",
    "Numbers",
    "PairNumbers",
    "mean_numbers",
    "score_hunks",
]

MAX_COMPARED = 50
"""Most revisions whose pairs are counted hunk by hunk (1,225 pairs); the first in rank order."""

MAX_PAIRS = 45
"""Most pairs of a hunk that anything shows (those of ten revisions)."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The score and its operations; None: undefined."""

    es: float
    keep: float | None
    add: float | None
    delete: float | None


@dataclass(frozen=True, slots=True)
class PairNumbers:
    """Two revisions (by index) that diverge in a hunk, and its share of all that they do."""

    a: int
    b: int
    numbers: Numbers
    share: float


@dataclass(frozen=True, slots=True)
class HunkScores:
    """A hunk with its numbers.

    ``compared`` are the revisions whose pairs were counted, by index, in rank order; ``pairs`` are
    those of their pairs that diverge here, in that order. ``mean`` and ``share`` are over all of
    their pairs (None and 0 without pairs).
    """

    hunk: excise.Hunk
    compared: tuple[int, ...]
    pairs: Sequence[PairNumbers]
    mean: Numbers | None
    share: float


@dataclass(frozen=True, slots=True)
class _Pair:
    """What is known of a pair: its numbers in each hunk, and the regions that share the hunk.

    Regions are known by their first tokens; ``groups`` says which of the numbers each is part of.
    """

    reading: Key
    first: tuple[int, ...]
    groups: tuple[int, ...]
    numbers: tuple[PairNumbers, ...]

    def homes(self, hunks: excise.Hunks) -> dict[int, int] | None:
        """Return the hunk of each of the numbers.

        None: the texts were read in another way then, or other regions share hunks now.
        """
        if not hunks.knows(self.reading):
            return None
        homes = hunks.homes(self.reading, self.first)
        pairs = set(zip(self.groups, homes, strict=True))
        return dict(pairs) if len(pairs) == len(self.numbers) == len(set(homes)) else None

    def named(self, a: int, b: int) -> _Pair:
        """Return the same of the revisions that now have these texts."""
        if all((pair.a, pair.b) == (a, b) for pair in self.numbers[:1]):
            return self
        return replace(self, numbers=tuple(replace(pair, a=a, b=b) for pair in self.numbers))


class KnownPairs:
    """Pairs of texts that were counted, for the next comparison with the same origin.

    Numbers are symmetric, and depend on the two texts, how they are read, and which of their
    regions share a hunk. Used by one thread.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self._pairs: dict[tuple[str, str], _Pair] = {}

    def find(self, texts: tuple[str, str]) -> _Pair | None:
        """Return what is known of a pair."""
        return self._pairs.get(texts) or self._pairs.get(texts[::-1])

    def renew(self, pairs: dict[tuple[str, str], _Pair]) -> None:
        """Know these pairs, and no other ones."""
        self._pairs = pairs


def score_hunks(
    hunks: excise.Hunks,
    matrix: excise.ScoreMatrix,
    order: Sequence[int],
    cancel: excise.CancelFlag | None = None,
    known: tuple[KnownPairs, Sequence[str]] | None = None,
) -> tuple[HunkScores, ...]:
    """Return the numbers of every hunk; pairs are taken among the first of ``order``.

    Parameters
    ----------
    known
        Pairs that were counted before, and the texts of the revisions; it knows these pairs then.

    Raises
    ------
    excise.errors.Cancelled
        When the flag was raised meanwhile.
    """
    if not hunks:
        return ()
    compared = tuple(order[:MAX_COMPARED])
    diverging: list[list[PairNumbers]] = [[] for _ in hunks]
    before, texts = known or (KnownPairs(), [str(index) for index in range(len(matrix.ids))])
    # Many pairs do the same in a hunk: one made an edit that the other did not.
    numbers: dict[excise.EditCounts, Numbers] = {}
    counted: dict[tuple[str, str], _Pair] = {}
    for a, b in combinations(compared, 2):
        raise_if_cancelled(cancel)
        key = texts[a], texts[b]
        pair = before.find(key)
        homes = None if pair is None else pair.homes(hunks)
        if pair is None or homes is None:
            pair, homes = _counted(hunks, matrix.pair(a, b), numbers)
        counted[key] = pair = pair.named(a, b)
        for group, own in enumerate(pair.numbers):
            diverging[homes[group]].append(own)
    before.renew(counted)
    total = _pairs(len(compared))
    return tuple(
        HunkScores(
            hunk=hunk,
            compared=compared,
            pairs=tuple(pairs),
            mean=mean_numbers((p.numbers for p in pairs), total),
            share=sum(p.share for p in pairs) / max(total, 1),
        )
        for hunk, pairs in zip(hunks, diverging, strict=True)
    )


def _counted(
    hunks: excise.Hunks, score: excise.Score, known: dict[excise.EditCounts, Numbers]
) -> tuple[_Pair, dict[int, int]]:
    """Count a pair in every hunk that holds regions of it; return also which these are."""
    found: dict[int, PairNumbers] = {}
    for home, counts, share in hunks.counts(score):
        if not counts.defined:
            numbers = _undefined(hunks, home, score)
        else:
            numbers = known.get(counts) or known.setdefault(counts, _numbers(counts))
        found[home] = PairNumbers(-1, -1, numbers, share)
    first = tuple(outline.bounds.o_lo for outline in score.outlines)
    group = {home: number for number, home in enumerate(found)}
    groups = tuple(group[home] for home in hunks.homes(score.reading, first))
    return _Pair(score.reading, first, groups, tuple(found.values())), dict(enumerate(found))


def _numbers(counts: excise.EditCounts) -> Numbers:
    operations = excision(counts)
    keep, add, delete = (None if x is None else float(x) for x in operations[:3])
    return Numbers(float(operations.value), keep, add, delete)


def _undefined(hunks: excise.Hunks, home: int, score: excise.Score) -> Numbers:
    """Return the numbers of a hunk where tokens only changed their order: 1 if alike, else 0."""
    alike = all(
        region.a.tokens == region.b.tokens
        for outline, region in zip(score.outlines, score.regions, strict=True)
        if hunks.home(score, outline) == home
    )
    return Numbers(float(alike), None, None, None)


def mean_numbers(diverging: Iterable[Numbers], total: int) -> Numbers | None:
    """Return the mean of ``total`` pairs, of which all but these agree; None of no pair.

    An operation's mean is over the pairs where it is defined.
    """
    if not total:
        return None
    numbers = list(diverging)
    agreeing = total - len(numbers)
    return Numbers(
        es=(sum(n.es for n in numbers) + agreeing) / total,
        keep=_mean(n.keep for n in numbers),
        add=_mean(n.add for n in numbers),
        delete=_mean(n.delete for n in numbers),
    )


def _mean(values: Iterator[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return fmean(defined) if defined else None


def _pairs(count: int) -> int:
    return count * (count - 1) // 2
