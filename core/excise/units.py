"""Units: the hunks of one revision that belong together (docs/tasks.md).

Hunks of one file share a name if the revision newly binds it and both bind or read it (of members
and arguments, which are known by their names alone, if one of them is read). Taken without each
other, one lacks what the other defines, or both run and do half of what was meant. So all hunks
that share a name, directly or by others, are one unit. Whether two hunks belong together depends on
the origin and the revision alone, never on other revisions.

A slot is one decision among several revisions: units that do the same job, maybe at different
places, of which one is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence, Set
from typing import NamedTuple

from excise.bindings import HunkNames
from excise.components import components
from excise.names import KEYWORD, MEMBER, Key


class Unit(NamedTuple):
    """Hunks that belong together.

    - ``hunks``: their indices, ascending.
    - ``names``: the names that at least two of them share, sorted.
    - ``keys``: all fresh names of its hunks by which hunks can belong together, with their scopes.
    """

    hunks: tuple[int, ...]
    names: tuple[str, ...]
    keys: frozenset[Key]


def units_of(hunks: Sequence[HunkNames]) -> tuple[Unit, ...]:
    """Part the hunks of a revision into units, by their fresh names (`excise.bindings`).

    Returns: each hunk in one unit, in the order of their first hunks.

    >>> x, y = ((), "x"), ((), "y")
    >>> none = frozenset()
    >>> hunks = [HunkNames({x}, none), HunkNames({y}, none), HunkNames(none, {x})]
    >>> [(unit.hunks, unit.names) for unit in units_of(hunks)]
    [((0, 2), ('x',)), ((1,), ())]
    """
    read = frozenset[Key]().union(*(hunk.uses for hunk in hunks))
    keys_of = [
        {key for key in hunk.binds | hunk.uses if key in read or key[0] not in (MEMBER, KEYWORD)}
        for hunk in hunks
    ]
    units = []
    for members in _components(keys_of):
        counts = Counter(key for index in members for key in keys_of[index])
        names = {name for (_, name), count in counts.items() if count > 1}
        units.append(Unit(members, tuple(sorted(names)), frozenset(counts)))
    return tuple(units)


def slots_of(units: Sequence[Unit]) -> tuple[tuple[int, ...], ...]:
    """Return the decisions among units of several revisions with the same hunks.

    Units that share a hunk or a fresh name are alternatives, or lead to each other by others.

    Returns: the hunks of each decision, ascending, by their first hunks.

    >>> x = ((), "x")
    >>> slots_of([Unit((0, 2), ("x",), {x}), Unit((1, 2), ("x",), {x}), Unit((3,), (), {})])
    ((0, 1, 2), (3,))
    """
    parts = _components([{*unit.hunks, *unit.keys} for unit in units])
    hunks = (sorted({hunk for index in part for hunk in units[index].hunks}) for part in parts)
    return tuple(sorted(map(tuple, hunks)))


def _components(labels: Sequence[Set[Hashable]]) -> list[tuple[int, ...]]:
    """Return the items, by index, that labels connect, in the order of their first."""
    first: dict[Hashable, int] = {}
    edges = [(first.setdefault(label, i), i) for i, own in enumerate(labels) for label in own]
    return list(map(tuple, components(len(labels), edges)))
