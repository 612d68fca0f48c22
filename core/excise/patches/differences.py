"""Where two patches differ: their change blocks side by side, for people to read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from excise.kernels._matches import places
from excise.kernels._patches import Index
from excise.patches.features import IGNORED, EditedBlock, Reader, compared, edited_blocks, paired
from excise.patches.model import Patch
from excise.signature import MAX_ORDER

MOST_WORK = 2_000_000
"""Tokens looked at to match a file's blocks; where it takes more, blocks are taken in order."""

Row = tuple[int | None, int | None]
"""Blocks of A and of B that are read side by side, by their numbers."""

Grams = Counter[tuple[Hashable, ...]]


@dataclass(frozen=True, slots=True)
class BlockSide:
    """A change block as one patch has it: lines without their ends, undecodable bytes as latin-1.

    ``line`` is the first deleted line of the old file, from 1 (or the line before which the new
    ones go), and ``heading`` that of its hunk: the function, as git sees it.
    """

    path: str
    line: int
    heading: str
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """N-grams in common with a block of the other patch that is at another place.

    ``of_a`` tells that they are those of A's block; path, line and heading are then B's.
    """

    of_a: bool
    path: str
    line: int
    heading: str
    n_grams: int


@dataclass(frozen=True, slots=True)
class Difference:
    """A change block in which two patches differ, or that only one of them has.

    - ``size``: n-grams of the block, or of both blocks.
    - ``here``: how many of them the other patch has at the same place.
    - ``elsewhere``: where it has others of them, the largest first.
    """

    a: BlockSide | None
    b: BlockSide | None
    size: int
    here: int
    elsewhere: tuple[Match, ...]


@dataclass(frozen=True, slots=True)
class Differences:
    """The common and the different parts of two patches.

    - ``files``: paths that were compared with each other, (a, b); None: the other has no such file.
    - ``same``: how many change blocks both have at the same place.
    - ``same_size``: n-grams of these, of both patches.
    - ``differing``: all others, file by file, in their order.
    """

    files: tuple[tuple[str | None, str | None], ...]
    same: int
    same_size: int
    differing: tuple[Difference, ...]

    @property
    def exact(self) -> Fraction | None:
        """The score, which is what these parts add up to, or None if no line is changed."""
        here = self.same_size + sum(row.here for row in self.differing)
        moved = sum(match.n_grams for row in self.differing for match in row.elsewhere)
        size = self.same_size + sum(row.size for row in self.differing)
        return (here + Fraction(moved, 4)) / size if size else None


def differences(
    a: Patch, b: Patch, *, ignored: Sequence[str] = IGNORED, renamed: bool = False
) -> Differences:
    r"""Return where two patches differ (``basis:edits``).

    Blocks are alike when their tokens are, at the same place; in patches that change white space
    only, when their lines are. The rest of a file's blocks is matched in order, so that the sum of
    similarities is largest. Blocks that are alike but at different places stand side by side, too.

    - ``ignored``: globs of base names or paths that are left out.
    - ``renamed``: n-grams match whatever the names of their files, and files are paired by their
      order, too, where paths and names do not agree (`Pool.rescued` says when).

    >>> from excise.patches.parse import parse
    >>> one = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b c\n@@ -9 +9 @@\n-d\n+e\n"
    >>> found = differences(parse(one), parse(one.replace(b"b c", b"b d")))
    >>> found.same, found.differing[0].a.new, found.differing[0].b.new
    (1, ('b c',), ('b d',))
    """
    return _Compared(a, b, ignored, renamed).differences()


class _Compared:
    """Two patches, block by block, each with its own block numbers."""

    def __init__(self, a: Patch, b: Patch, ignored: Sequence[str], renamed: bool) -> None:
        files = [compared(patch, ignored)[0] for patch in (a, b)]
        self.pairs = paired(*files, by_content=renamed)
        self.blocks = edited_blocks(files[0])[0], edited_blocks(files[1])[0]
        grams = ([_grams(block, not renamed) for block in side] for side in self.blocks)
        self.grams: tuple[list[Grams], list[Grams]] = next(grams), next(grams)
        reader, index = Reader(), Index()
        for patch in (a, b):
            index.add(*reader.edits(patch, ignored).ints)
        self.places = places(index, 0, 1, not renamed)
        # The matched n-grams of each block: at the same place, and by the other side's blocks.
        self.here = tuple([0] * len(side) for side in self.blocks)
        self.elsewhere = tuple([Counter[int]() for _ in side] for side in self.blocks)

    def differences(self) -> Differences:
        alike: list[tuple[int, int]] = []
        rows: list[Row] = []
        for pair in self.pairs:
            own = [
                [at for at, edited in enumerate(side) if edited.block and edited.block.pair is file]
                for side, file in zip(self.blocks, pair, strict=True)
            ]
            # The blocks that both sides have at one place, and those left of each.
            there: dict[Hashable, list[int]] = defaultdict(list)
            for y in reversed(own[1]):
                there[self._text(1, y), self.places[1][y]].append(y)
            named = ((x, there[self._text(0, x), self.places[0][x]]) for x in own[0])
            same = [(x, equal.pop()) for x, equal in named if equal]
            taken = [set(side) for side in zip(*same, strict=True)] or [set(), set()]
            alike += same
            rows += self._beside(
                *(
                    [at for at in side if at not in gone]
                    for side, gone in zip(own, taken, strict=True)
                )
            )
        rows = self._with_moved(rows)
        beside = [(x, y) for x, y in (*alike, *rows) if x is not None and y is not None]
        self._match(beside)
        return Differences(
            tuple((x.path if x else None, y.path if y else None) for x, y in self.pairs),
            len(alike),
            sum(self._size(x, y) for x, y in alike),
            tuple(self._difference(x, y) for x, y in rows),
        )

    def _text(self, side: int, at: int) -> Hashable:
        return self.blocks[side][at].old, self.blocks[side][at].new

    def _beside(self, a: Sequence[int], b: Sequence[int]) -> Iterator[Row]:
        """Yield the blocks of both sides in order, side by side where they share n-grams."""
        work = sum(
            (1 + len(b if side == 0 else a)) * (1 + self.grams[side][at].total())
            for side, own in enumerate((a, b))
            for at in own
        )
        if work > MOST_WORK:
            pairs = [(at, at) for at in range(min(len(a), len(b)))]
        else:
            pairs = _best([[self._likeness(x, y) for y in b] for x in a])
        i = j = 0
        for k, m in [*pairs, (len(a), len(b))]:
            yield from ((x, None) for x in a[i:k])
            yield from ((None, y) for y in b[j:m])
            if k < len(a) and m < len(b):
                yield a[k], b[m]
            i, j = k + 1, m + 1

    def _likeness(self, x: int, y: int) -> float:
        """2 * shared / (a + b) over the n-grams of two blocks alone, or 0 at different places."""
        if self.places[0][x] != self.places[1][y]:
            return 0.0
        total = self._size(x, y)
        return 2 * (self.grams[0][x] & self.grams[1][y]).total() / total if total else 0.0

    def _with_moved(self, rows: Sequence[Row]) -> list[Row]:
        """Return the rows, blocks that are alike but at different places side by side."""
        there: dict[Hashable, list[int]] = defaultdict(list)
        for x, y in reversed(rows):
            if x is None and y is not None:
                there[self._text(1, y)].append(y)
        found: list[Row] = []
        for x, y in rows:
            equal = there[self._text(0, x)] if x is not None and y is None else []
            found.append((x, equal.pop() if equal else y))
        moved = {y for x, y in found if x is not None}
        return [(x, y) for x, y in found if x is not None or y not in moved]

    def _size(self, x: int | None, y: int | None) -> int:
        sizes = (self.grams[side][at].total() for side, at in enumerate((x, y)) if at is not None)
        return sum(sizes)

    def _match(self, beside: Sequence[tuple[int, int]]) -> None:
        """Match all n-grams in common, each once.

        Those of blocks `beside` each other come first, then all others at one place, in the order
        of the blocks, then the rest.
        """
        left = [[Counter(block) for block in side] for side in self.grams]
        for together in (True, False):
            for x, y in beside:
                if (self.places[0][x] == self.places[1][y]) is together:
                    both = left[0][x] & left[1][y]
                    left[0][x] -= both
                    left[1][y] -= both
                    self._note(x, y, both.total())
            waiting: dict[Hashable, list[int]] = defaultdict(list)
            for y in reversed(range(len(left[1]))):
                for gram in left[1][y]:
                    waiting[gram, self.places[1][y] if together else None].append(y)
            for x, grams in enumerate(left[0]):
                taken: Grams = Counter()
                for gram, count in grams.items():
                    others = waiting.get((gram, self.places[0][x] if together else None))
                    while others and taken[gram] < count:
                        y = others[-1]
                        n = min(count - taken[gram], left[1][y][gram])
                        taken[gram] += n
                        left[1][y][gram] -= n
                        self._note(x, y, n)
                        if left[1][y][gram] == 0:
                            del left[1][y][gram]
                            others.pop()
                grams -= taken

    def _note(self, x: int, y: int, n: int) -> None:
        if self.places[0][x] == self.places[1][y]:
            self.here[0][x] += n
            self.here[1][y] += n
        else:
            self.elsewhere[0][x][y] += n
            self.elsewhere[1][y][x] += n

    def _difference(self, x: int | None, y: int | None) -> Difference:
        here, elsewhere = 0, []
        for side, at in enumerate((x, y)):
            if at is not None:
                here += self.here[side][at]
                for other, n in self.elsewhere[side][at].items():
                    place = self._side(1 - side, other)
                    elsewhere.append(Match(side == 0, place.path, place.line, place.heading, n))
        return Difference(
            None if x is None else self._side(0, x),
            None if y is None else self._side(1, y),
            self._size(x, y),
            here,
            tuple(sorted(elsewhere, key=lambda match: -match.n_grams)),
        )

    def _side(self, side: int, at: int) -> BlockSide:
        block = self.blocks[side][at].block
        assert block is not None
        return BlockSide(block.pair.path, block.line, block.heading, block.old, block.new)


def _grams(edited: EditedBlock, keyed: bool) -> Grams:
    """Return the n-grams of all orders, each with its operation and, if keyed, its file's name."""
    old, new = (
        Counter(
            tokens[at : at + n]
            for n in range(1, MAX_ORDER + 1)
            for at in range(len(tokens) - n + 1)
        )
        for tokens in (edited.old, edited.new)
    )
    found: Grams = Counter()
    name = edited.name if keyed else ""
    for operation, part in (("keep", old & new), ("add", new - old), ("delete", old - new)):
        found.update({(name, operation, *gram): count for gram, count in part.items()})
    return found


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
