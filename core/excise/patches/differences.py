"""Where two patches differ: their change blocks side by side, for people to read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from excise.lexical import words
from excise.patches.blocks import Block, blocks_of
from excise.patches.features import IGNORED, compared
from excise.patches.model import FilePair, Patch
from excise.patches.pairing import paired
from excise.signature import MAX_ORDER
from excise.tokens import Vocabulary

__all__ = ["Difference", "Differences", "Side", "differences"]

MOST_WORK = 2_000_000
"""Tokens looked at to match a file's blocks; where it takes more, blocks are taken in order."""


@dataclass(frozen=True, slots=True)
class Side:
    """A change block as one patch has it: lines without their ends, undecodable bytes as latin-1.

    ``line`` is the first deleted line of the old file, from 1 (or the line before which the new
    ones go).
    """

    path: str
    line: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A change block that both patches have, but not alike, or that only one has.

    ``similarity`` is ``2 * shared / (a + b)`` over the n-grams of the two blocks alone, in [0, 1).
    """

    a: Side | None
    b: Side | None
    similarity: float


@dataclass(frozen=True, slots=True)
class Differences:
    """What two patches do alike, and where they differ.

    Attributes
    ----------
    files
        Paths that were compared with each other, (a, b); None: the other has no such file.
    same
        How many change blocks both have, wherever they stand.
    differing
        All others, file by file, by their place.
    """

    files: tuple[tuple[str | None, str | None], ...]
    same: int
    differing: tuple[Difference, ...]


def differences(
    a: Patch, b: Patch, *, ignored: Sequence[str] = IGNORED, renamed: bool = False
) -> Differences:
    r"""Return where two patches differ.

    Blocks are alike when their tokens are; in patches that change white space only, when their
    lines are. The rest of a file's blocks is matched in order, so that the sum of similarities is
    largest.

    Parameters
    ----------
    ignored
        Globs of base names or paths that are left out.
    renamed
        Files are paired by their order, too, where paths and names do not agree
        (`Pool.rescued` says when).

    Examples
    --------
    >>> from excise.patches.parse import parse
    >>> one = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b c\n@@ -9 +9 @@\n-d\n+e\n"
    >>> found = differences(parse(one), parse(one.replace(b"b c", b"b d")))
    >>> found.same, found.differing[0].a.new, found.differing[0].b.new
    (1, ('b c',), ('b d',))
    """
    files = [compared(patch, ignored)[0] for patch in (a, b)]
    pairs = paired(*files, by_content=renamed)
    raw = not any(block.changed for pair in (*files[0], *files[1]) for block in _blocks(pair))
    same = 0
    differing: list[Difference] = []
    for one, other in pairs:
        sides = [_blocks(pair, raw) if pair else [] for pair in (one, other)]
        left, right = _without_same(*sides)
        same += len(sides[0]) - len(left)
        differing += _matched(left, right)
    names = tuple((x.path if x else None, y.path if y else None) for x, y in pairs)
    return Differences(names, same, tuple(differing))


@dataclass(frozen=True, slots=True)
class _Tokens:
    """A block, and what is compared of it."""

    block: Block
    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def changed(self) -> bool:
        return self.old != self.new

    def side(self) -> Side:
        return Side(self.block.pair.path, self.block.place, self.block.old, self.block.new)

    def grams(self) -> Counter[tuple[str, ...]]:
        """Return the n-grams of all orders, each with its operation."""
        old, new = (_grams(tokens) for tokens in (self.old, self.new))
        found: Counter[tuple[str, ...]] = Counter()
        for name, part in (("keep", old & new), ("add", new - old), ("delete", old - new)):
            found.update({(name, *gram): count for gram, count in part.items()})
        return found


def _grams(tokens: tuple[str, ...]) -> Counter[tuple[str, ...]]:
    return Counter(
        tokens[at : at + n] for n in range(1, MAX_ORDER + 1) for at in range(len(tokens) - n + 1)
    )


def _blocks(pair: FilePair, raw: bool = False) -> list[_Tokens]:
    found = []
    for block in blocks_of(pair, Vocabulary(), raw=raw):
        old, new = (
            lines if raw else tuple(words("\n".join(lines))) for lines in (block.old, block.new)
        )
        found.append(_Tokens(block, old, new))
    return found


def _without_same(
    a: Sequence[_Tokens], b: Sequence[_Tokens]
) -> tuple[list[_Tokens], list[_Tokens]]:
    """Return the blocks of each side that the other side does not have, too."""
    places: dict[tuple[tuple[str, ...], tuple[str, ...]], list[int]] = defaultdict(list)
    for at in reversed(range(len(b))):
        places[b[at].old, b[at].new].append(at)
    left, taken = [], set()
    for block in a:
        equal = places[block.old, block.new]
        if equal:
            taken.add(equal.pop())
        else:
            left.append(block)
    return left, [block for at, block in enumerate(b) if at not in taken]


def _matched(a: Sequence[_Tokens], b: Sequence[_Tokens]) -> Iterator[Difference]:
    """Yield the blocks of both sides in order, side by side where they share n-grams."""
    grams = [[block.grams() for block in side] for side in (a, b)]
    work = sum(
        len(grams[1 - side]) * (1 + found.total()) for side in (0, 1) for found in grams[side]
    )
    if work > MOST_WORK:
        pairs = [(at, at) for at in range(min(len(a), len(b)))]
    else:
        pairs = _best([[_similarity(x, y) for y in grams[1]] for x in grams[0]])
    i = j = 0
    for k, m in [*pairs, (len(a), len(b))]:
        yield from (Difference(block.side(), None, 0.0) for block in a[i:k])
        yield from (Difference(None, block.side(), 0.0) for block in b[j:m])
        if k < len(a) and m < len(b):
            value = _similarity(grams[0][k], grams[1][m])
            yield Difference(a[k].side(), b[m].side(), value)
        i, j = k + 1, m + 1


def _best(scores: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return the pairs (row, column), both ascending, whose scores add up to most."""
    n, m = len(scores), len(scores[0]) if scores else 0
    best = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            both = scores[i][j] + best[i + 1][j + 1]
            best[i][j] = max(best[i + 1][j], best[i][j + 1], both)
    found, i, j = [], 0, 0
    while i < n and j < m and best[i][j] > 0:
        if scores[i][j] > 0 and best[i][j] == scores[i][j] + best[i + 1][j + 1]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return found


def _similarity(a: Counter[tuple[str, ...]], b: Counter[tuple[str, ...]]) -> float:
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 0.0
