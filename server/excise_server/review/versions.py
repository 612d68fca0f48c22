"""Which patch of a series became which one in its next version, by what they change. Pure.

Patches pair by content: first those that are the same edit, then the best assignment by similarity.
Titles and places in the series decide where contents do not. What is left over went into other
patches, or came out of them, if at least half of its changed text did; else it is dropped, or new.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from excise.clustering import assigned
from excise.patches import Patch, Pool, ids_of
from excise.patches.features import facts_of
from excise_server.review.since import DROPPED, NEW, SAME, patches_since

AMENDED, REORDERED, SPLIT, SQUASHED = "amended", "reordered", "split", "squashed"

_LEAST = 0.4
"""Similarity from which two patches are versions of one, whatever their titles: `git range-diff`
pairs two whose lines differ in less than 60 %."""
_RENAMED = 0.8
"""The same, where a new file has another name."""
_HALF = 0.5
"""Share of a patch that makes it a part of another one."""
_TITLE, _PLACE = 0.1, 1e-6
"""What an equal title and a near number add to a similarity: they decide near ties, and ties."""

_Edits = Mapping[tuple[str, bytes], int]
"""How often a patch inserts (or deletes: below 0) a line of a file, by path and text."""


@dataclass(frozen=True)
class SeriesPatch:
    """One patch of a series: its number in it, from 1, the first line of its message, its edits.

    - ``read``: returns the patch, which is not asked of patches that are the same edit.
    - ``known``: the name of its edit (`ids_of`), if it was read before.
    """

    number: int
    title: str
    read: Callable[[], Patch]
    known: str = ""

    @cached_property
    def patch(self) -> Patch:
        """What it changes."""
        return self.read()

    @cached_property
    def edit(self) -> str:
        """A name that patches share which make the same edit."""
        return self.known or ids_of(self.patch).edit

    @cached_property
    def edits(self) -> _Edits:
        """Its inserted and deleted lines, without those that only moved."""
        edits = Counter[tuple[str, bytes]]()
        for pair in self.patch.files:
            for line in (line for hunk in pair.hunks for line in hunk.lines):
                if line[:1] in (b"+", b"-"):
                    edits[pair.path, line[1:]] += 1 if line[:1] == b"+" else -1
            for fact in facts_of(pair):
                edits[pair.path, f"\n{fact}".encode("utf-8", "surrogateescape")] += 1
        return {key: count for key, count in edits.items() if count}


class PatchPair(NamedTuple):
    """A patch in two versions of a series, and what became of it.

    - ``status``: `SAME`, `REORDERED` (the same, elsewhere in the series), `AMENDED`, `DROPPED` (no
      new one), `NEW` (no old one), `SQUASHED` (the old one is a part of the new one, which is a
      version of another), or `SPLIT` (the new one is a part of the old one, which has another new
      version).
    - ``is_moved``: whether it stands elsewhere in the series, amended or not.
    """

    status: str
    old: SeriesPatch | None
    new: SeriesPatch | None
    is_moved: bool = False


class Partners(NamedTuple):
    """Which patches of two versions belong together, by their places in these.

    - ``pairs``: the older version of a newer patch.
    - ``squashed``: of an old patch without a newer version the new ones that it went into.
    - ``split``: of a new patch without an older version the old ones that it came out of. The one
      with the largest part is the first.
    - ``rest``: of a new patch what neither its older version has nor squashes and splits explain;
      empty: nothing.
    """

    pairs: dict[int, int]
    squashed: dict[int, list[int]]
    split: dict[int, list[int]]
    rest: list[_Edits]


def partners(old: Sequence[SeriesPatch], new: Sequence[SeriesPatch]) -> Partners:
    """Find out which patches of two versions of a series belong together."""
    same = defaultdict[str, list[int]](list)
    for o, each in enumerate(old):
        same[each.edit].append(o)
    pairs = {n: same[each.edit].pop(0) for n, each in enumerate(new) if same[each.edit]}
    kept = set(pairs.values())
    left = [o for o in range(len(old)) if o not in kept]
    came = [n for n in range(len(new)) if n not in pairs]
    shares: dict[tuple[int, int], tuple[float, float]] = {}
    if left and came:
        alike, shares = _alike(old, new, left, came)
        pairs |= alike
        kept = set(pairs.values())
        left = [o for o in left if o not in kept]
    # What a pair gained (and lost, below 0). Pairs of one edit have gained nothing.
    gained = [_Gap({}, {}) for _ in new]
    for n in came:
        gained[n] = _Gap(new[n].edits, old[pairs[n]].edits if n in pairs else {})
    squashed = {o: to for o in left if (to := _parts(old[o].edits, gained, 1))}
    for (o, n), (share, _) in sorted(shares.items(), key=lambda item: -item[1][0]):
        if o in left and share >= _HALF:  # amended, too
            squashed.setdefault(o, [n])
    lost = [_Gap({}, {}) for _ in old]
    for o in left:
        lost[o] = _Gap({}, old[o].edits)
    for n, o in pairs.items():
        lost[o] = gained[n]
    alone = [n for n in came if n not in pairs]
    split = {n: of for n in alone if (of := _parts(new[n].edits, lost, -1))}
    for (o, n), (_, share) in sorted(shares.items(), key=lambda item: -item[1][1]):
        if n in alone and share >= _HALF:
            split.setdefault(n, [o])
    # Where neither has another version, they are versions of each other.
    for o, (n, *_) in list(squashed.items()):
        if n not in pairs:
            pairs[n] = o
            del squashed[o]
    for n, (o, *_) in list(split.items()):
        if n in pairs or o not in pairs.values():
            pairs.setdefault(n, o)
            del split[n]
    return Partners(pairs, squashed, split, [gap.left for gap in gained])


class _Gap:
    """The difference of two edits, of which `take` removes what is explained."""

    def __init__(self, new: _Edits, old: _Edits) -> None:
        self.left = {
            key: gap
            for key in new.keys() | old.keys()
            if (gap := new.get(key, 0) - old.get(key, 0))
        }

    def take(self, edits: _Edits, sign: int) -> dict[tuple[str, bytes], int]:
        """Return what of edits this has in the same direction (1), or in the other one (-1)."""
        return {
            key: min(count, there, key=abs)
            for key, count in edits.items()
            if (there := sign * self.left.get(key, 0)) * count > 0
        }

    def remove(self, edits: _Edits, sign: int) -> None:
        """Leave out what is explained."""
        for key, count in edits.items():
            self.left[key] -= sign * count
            if not self.left[key]:
                del self.left[key]


def _weight(edits: _Edits) -> int:
    """Return how much text edits have: characters that are not blank."""
    return sum(abs(n) * len(b"".join(text.split())) for (_, text), n in edits.items())


def _parts(edits: _Edits, gaps: Sequence[_Gap], sign: int) -> list[int]:
    """Return whose differences have at least half of the edits, the largest part first."""
    rest, found = dict(edits), dict[int, _Edits]()
    while rest and len(found) < len(gaps):
        taken = {at: gap.take(rest, sign) for at, gap in enumerate(gaps) if at not in found}
        best = max(taken, key=lambda at: _weight(taken[at]))
        if not _weight(taken[best]):
            break
        found[best] = taken[best]
        rest = {key: left for key, n in rest.items() if (left := n - taken[best].get(key, 0))}
    if _weight(edits) - _weight(rest) < _HALF * max(_weight(edits), 1):
        return []
    for at, part in found.items():
        gaps[at].remove(part, sign)
    return list(found)


def _alike(
    old: Sequence[SeriesPatch], new: Sequence[SeriesPatch], left: list[int], came: list[int]
) -> tuple[dict[int, int], dict[tuple[int, int], tuple[float, float]]]:
    """Return which of the old patches the new ones are versions of.

    Then come, of an old and a new one that change a file in common, the share of the old one that
    the new one has at the same place, and the other way round.
    """
    own = [*(old[o] for o in left), *(new[n] for n in came)]
    pool, nameless = Pool(), Pool(key="none")
    for each in own:
        pool.add(each.patch)
    width = len(left)
    values = {(i, j - width): v for i, j, v in pool.near(0.0) if i < width <= j and v > 0}
    titles = [[side[at].title.lower() for at in own] for side, own in ((old, left), (new, came))]

    def tie(i: int, j: int) -> float:
        near = _PLACE / (1 + abs(left[i] - came[j]))
        return near + _TITLE * (titles[0][i] == titles[1][j])

    sure = {(i, j): value + tie(i, j) for (i, j), value in values.items() if value >= _LEAST}
    pairs = assigned(sure, (width, len(came)))
    # A version that was much changed has the title, or all of what the other one has.
    weak, shares = [], {}
    for (i, j), value in values.items():
        is_named = titles[0][i] == titles[1][j]
        likeness = pool.likeness(i, width + j)
        share = likeness.contained_in_b, likeness.contained_in_a
        if not set(own[i].patch.paths).isdisjoint(own[width + j].patch.paths):
            shares[left[i], came[j]] = share
        if is_named or max(share) >= _HALF:
            weak.append((is_named, value + tie(i, j), i, j))
    taken = {i for i, _ in pairs}, {j for _, j in pairs}
    if min(width - len(pairs), len(came) - len(pairs)) > 0:
        for each in own:
            nameless.add(each.patch)
        weak += (
            (False, value, i, j - width)
            for i, j, value in nameless.near(_RENAMED)
            if i < width <= j and _creates(own[i].patch) and _creates(own[j].patch)
        )
    for _, _, i, j in sorted(weak, reverse=True):
        if i not in taken[0] and j not in taken[1]:
            pairs.append((i, j))
            taken[0].add(i)
            taken[1].add(j)
    return {came[j]: left[i] for i, j in pairs}, shares


def _creates(patch: Patch) -> bool:
    return any(pair.old is None for pair in patch.files)


def paired_patches(old: Sequence[SeriesPatch], new: Sequence[SeriesPatch]) -> list[PatchPair]:
    """Say what became of the patches of a series, in the order of the newer version.

    A pair is the same if no edit differs: moved hunks and other lines around them do not count, nor
    does what was squashed into it or split from it.
    """
    found = partners(old, new)
    joined = {n for to in found.squashed.values() for n in to}
    parted = {o for of in found.split.values() for o in of}
    words = {}
    for n, o in found.pairs.items():
        before, after = old[o], new[n]
        is_same = before.edit == after.edit
        if not is_same and (n in joined or o in parted):
            is_same = not found.rest[n]
        words[n] = SAME if is_same or _is_same(before, after) else AMENDED
    moved = _moved(found.pairs, words)
    result = []
    for n, after in enumerate(new):
        if n in found.pairs:
            is_moved = n in moved
            word = REORDERED if is_moved and words[n] == SAME else words[n]
            result.append(PatchPair(word, old[found.pairs[n]], after, is_moved))
        elif n in found.split:
            result.append(PatchPair(SPLIT, old[found.split[n][0]], after))
        else:
            result.append(PatchPair(NEW, None, after))
    kept = set(found.pairs.values())
    for o, before in enumerate(old):
        if o in found.squashed:
            result.append(PatchPair(SQUASHED, before, new[found.squashed[o][0]]))
        elif o not in kept:
            result.append(PatchPair(DROPPED, before, None))
    return result


def _is_same(before: SeriesPatch, after: SeriesPatch) -> bool:
    return set(patches_since(before.patch, after.patch).counts) <= {SAME}


def _moved(pairs: Mapping[int, int], words: Mapping[int, str]) -> set[int]:
    """Return the fewest pairs whose order is another one; amended ones stay, if they can."""
    best = list[tuple[int, int, int, int]]()  # weight, old, new, and the one before
    for n, o in sorted(pairs.items()):
        weight, before = max(
            ((w, at) for at, (w, other, _, _) in enumerate(best) if other < o), default=(0, -1)
        )
        own = len(pairs) + (words[n] == AMENDED)
        best.append((weight + own, o, n, before))
    at = max(range(len(best)), key=lambda at: best[at][0], default=-1)
    kept = set[int]()
    while at >= 0:
        kept.add(best[at][2])
        at = best[at][3]
    return pairs.keys() - kept


def groups_of(pairs: Sequence[PatchPair]) -> Iterator[tuple[list[SeriesPatch], list[SeriesPatch]]]:
    """Yield the old and the new patches that belong together, in the order of the pairs."""
    groups: list[tuple[dict[int, SeriesPatch], dict[int, SeriesPatch]]] = []
    for pair in pairs:
        own = [{each.number: each} if each else {} for each in (pair.old, pair.new)]
        group = own[0], own[1]
        for other in [
            other
            for other in groups
            if any(mine.keys() & theirs.keys() for mine, theirs in zip(own, other, strict=True))
        ]:
            groups.remove(other)
            group = other[0] | group[0], other[1] | group[1]
        groups.append(group)
    for before, after in groups:
        yield [before[n] for n in sorted(before)], [after[n] for n in sorted(after)]
