"""The canonical LCS, as section 2 of the definition words it: a textbook table and one walk."""

from collections.abc import Hashable, Sequence

Pairs = list[tuple[int, int]]


def lengths(x: Sequence[Hashable], y: Sequence[Hashable]) -> list[list[int]]:
    """D[i][j] = |LCS(x[:i], y[:j])|."""
    rows = [[0] * (len(y) + 1)]
    for token in x:
        above, row = rows[-1], [0]
        for j, other in enumerate(y):
            row.append(above[j] + 1 if token == other else max(above[j + 1], row[j]))
        rows.append(row)
    return rows


def walk_back(x: Sequence[Hashable], y: Sequence[Hashable]) -> Pairs:
    """Walk from the end: drop the last of x if that costs nothing, else of y, else match both."""
    table = lengths(x, y)
    i, j = len(x), len(y)
    pairs: Pairs = []
    while i > 0 and j > 0:
        if table[i - 1][j] == table[i][j]:
            i -= 1
        elif table[i][j - 1] == table[i][j]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def common_prefix(x: Sequence[Hashable], y: Sequence[Hashable]) -> int:
    """How many first tokens x and y share."""
    shared = 0
    while shared < min(len(x), len(y)) and x[shared] == y[shared]:
        shared += 1
    return shared


def canonical_lcs(x: Sequence[Hashable], y: Sequence[Hashable]) -> Pairs:
    """Strip the common prefix, strip the common suffix of the rest, walk back on what remains."""
    prefix = common_prefix(x, y)
    x_rest, y_rest = x[prefix:], y[prefix:]
    suffix = common_prefix(x_rest[::-1], y_rest[::-1])
    x_end, y_end = len(x) - suffix, len(y) - suffix
    middle = walk_back(x[prefix:x_end], y[prefix:y_end])
    return (
        [(i, i) for i in range(prefix)]
        + [(prefix + i, prefix + j) for i, j in middle]
        + [(x_end + i, y_end + i) for i in range(suffix)]
    )
