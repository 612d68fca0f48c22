"""The longest common subsequence of three sequences, exactly: the alignment of equation 3 itself.

``star`` and ``paper`` (section 3) are two ways not to pay for it: a table of O(l^3) cells.

``EXCISE_DATA=DIR python benchmarks/shorter.py`` counts how often either is shorter.
"""

from collections.abc import Hashable, Sequence

from tests.reference.lcs import common_prefix

Column = tuple[int, int, int]

MOST_CELLS = 60_000
"""Largest table, of what is left without what all three have at both ends."""


class TooLargeError(ValueError):
    """The table would have more than `MOST_CELLS` cells."""


def three_way_lcs(*three: Sequence[Hashable]) -> list[Column]:
    """The places of a longest common subsequence in each of three sequences.

    Of several, that of the walk of section 2: from the end, drop the last of the first sequence if
    that costs nothing, else of the second, else of the third, else match all.
    """
    prefix = shared(*three)
    rest = [one[prefix:] for one in three]
    suffix = shared(*(one[::-1] for one in rest))
    x, y, z = (one[: len(one) - suffix] for one in rest)
    ends = [prefix + len(one) for one in (x, y, z)]
    return [
        *((i, i, i) for i in range(prefix)),
        *(tuple(prefix + place for place in column) for column in walk_back(x, y, z)),
        *(tuple(end + i for end in ends) for i in range(suffix)),
    ]


def shared(x: Sequence[Hashable], y: Sequence[Hashable], z: Sequence[Hashable]) -> int:
    """How many first tokens all three share."""
    return min(common_prefix(x, y), common_prefix(x, z))


def walk_back(x: Sequence[Hashable], y: Sequence[Hashable], z: Sequence[Hashable]) -> list[Column]:
    if (len(x) + 1) * (len(y) + 1) * (len(z) + 1) > MOST_CELLS:
        raise TooLargeError
    plane = [[0] * (len(z) + 1) for _ in range(len(y) + 1)]
    table = [plane]
    for token in x:
        below, plane = plane, [[0] * (len(z) + 1)]
        for j, other in enumerate(y):
            row = [0]
            for k, third in enumerate(z):
                if token == other == third:
                    row.append(below[j][k] + 1)
                else:
                    row.append(max(below[j + 1][k + 1], plane[j][k + 1], row[k]))
            plane.append(row)
        table.append(plane)
    i, j, k = len(x), len(y), len(z)
    columns: list[Column] = []
    while i and j and k:
        if table[i - 1][j][k] == table[i][j][k]:
            i -= 1
        elif table[i][j - 1][k] == table[i][j][k]:
            j -= 1
        elif table[i][j][k - 1] == table[i][j][k]:
            k -= 1
        else:
            i, j, k = i - 1, j - 1, k - 1
            columns.append((i, j, k))
    return columns[::-1]
