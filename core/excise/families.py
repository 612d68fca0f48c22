r"""Families: edits that are near each other, each to be read (docs/tasks.md).

A family is a heading for readers and never a claim: its members are different programs, and may
have different verdicts. It is made of the statements that an edit adds and deletes, function by
function: neither the place of a statement in its function counts, nor a new name.

>>> from excise import ScoreMatrix
>>> origin = "def area(r):\n    return 3 * r\n"
>>> texts = [
...     "def area(r):\n    s = r * r\n    return 3.14 * s\n",
...     "def area(r):\n    q = r * r\n    print(r)\n    return 3.14 * q\n",
...     "def area(r):\n    raise ValueError\n",
... ]
>>> families(ScoreMatrix.from_texts(origin, texts, language="python"), similarity=0.5)
((0, 1), (2,))
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from excise.clustering import labels

if TYPE_CHECKING:
    from excise.pairwise import ScoreMatrix
    from excise.statements import Statement

SIGNATURE = "family:1"
"""The version of the rules by which families are cited."""

NEAR = 0.8
"""From which likeness of their changed statements two edits may be of one family."""

_LONGEST = 4


def families(
    matrix: ScoreMatrix, members: Sequence[int] | None = None, *, similarity: float = NEAR
) -> tuple[tuple[int, ...], ...]:
    """Group the revisions of a matrix into families, by complete linkage.

    - ``members``: the revisions to look at, by index (default: all). Others have no influence.
    - ``similarity``: two members of a family are at least that near (`near`), in [0, 1].

    Returns: each member in one family; families and their members in the order of `members`. Those
    that are the same up to names are of one family.
    """
    import numpy as np

    chosen = list(range(len(matrix.ids)) if members is None else members)
    changed = {index: matrix.statements(index) for index in chosen}
    edits = {index: grams(statements) for index, statements in changed.items()}
    places = {index: {(path, own[0]) for path, _, own in changed[index]} for index in chosen}
    sizes = {index: edit.total() for index, edit in edits.items()}
    distances = np.zeros((len(chosen), len(chosen)))
    for row, i in enumerate(chosen):
        for column, j in enumerate(chosen[:row]):
            # Far apart are two of which one is much larger, or which change no function in common.
            can_be = 2 * min(sizes[i], sizes[j]) >= similarity * (sizes[i] + sizes[j])
            is_near = can_be and not places[i].isdisjoint(places[j])
            alike = near(edits[i], edits[j]) if is_near else 0.0
            if alike < 1.0 and matrix.level(i, j) is not None:
                alike = 1.0
            distances[row, column] = distances[column, row] = 1.0 - alike
    # Strictly below the threshold is near: what is exactly as near as asked is near as well.
    threshold = float(np.nextafter(1.0 - similarity, 2.0)) if similarity > 0 else 1.0
    found: dict[int, list[int]] = defaultdict(list)
    for index, label in zip(
        chosen, labels(distances, min(threshold, 1.0), "complete"), strict=True
    ):
        found[label].append(index)
    return tuple(map(tuple, found.values()))


def near(a: Counter[object], b: Counter[object]) -> float:
    """Return the share of two edits' n-grams that both have, in [0, 1]; 0 if there are none."""
    if len(a) > len(b):  # an intersection looks at all of the first
        a, b = b, a
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 0.0


def grams(changed: Mapping[tuple[str, int, Statement], int]) -> Counter[object]:
    """Return the n-grams of changed statements, up to four tokens, by file, function and sign."""
    grams: Counter[object] = Counter()
    for (path, sign, (function, tokens)), count in changed.items():
        for length in range(1, _LONGEST + 1):
            for start in range(len(tokens) - length + 1):
                grams[path, sign, function, tokens[start : start + length]] += count
    return grams
