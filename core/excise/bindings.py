"""What texts bind and read of names, by scope, for any grammar (docs/tasks.md, "Units").

What a name is, and what is done with it, `excise.names` says by the types and fields of syntax
nodes. So a name that is not found to be fresh may still be, and nothing is claimed of one that the
origin reads, whoever defines it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from excise.kernels._names import walk_names
from excise.names import KEYWORD, MEMBER, Key, NameRole, NameScope, PartNames, ScopedName
from excise.syntax import encode, line_starts

if TYPE_CHECKING:
    from tree_sitter import Tree


@dataclass(frozen=True, slots=True)
class Bindings:
    """The names of a whole text.

    - ``bound``: what it binds.
    - ``free``: by name, the scopes in which it is read and nothing in the text binds it, each with
      the first such line (from 0).
    """

    bound: frozenset[Key]
    free: dict[str, dict[tuple[str, ...], int]]

    @classmethod
    def of(cls, tree: Tree, text: str, known: PartNames | None = None) -> Bindings:
        """Collect the names of a normalised text, given its tree by `excise.syntax.parse`.

        - ``known``: the names of parts of other texts of the grammar; those of this text are added.
        """
        names = _names_of(tree, text, known=known)
        bound = _bound(names, frozenset())
        free: dict[str, dict[tuple[str, ...], int]] = {}
        for name in names:
            if (key := _read(name, bound)) is not None and key not in bound:
                free.setdefault(name.name, {}).setdefault(key[0], name.line)
        return cls(frozenset(bound), free)

    def lacks(self, key: Key) -> bool:
        """Whether a key is fresh beside this text, which neither binds it nor reads it."""
        scope, name = key
        return key not in self.bound and not any(
            reading[: len(scope)] == scope for reading in self.free.get(name, ())
        )


class HunkNames(NamedTuple):
    """The fresh names that some lines of a revision bind, and those that they read."""

    binds: frozenset[Key]
    uses: frozenset[Key]

    @classmethod
    def none(cls) -> HunkNames:
        """Return those of lines of which nothing is known."""
        return cls(frozenset(), frozenset())


def fresh_names(
    origin: Bindings, tree: Tree, text: str, spans: Sequence[tuple[int, int]]
) -> list[HunkNames]:
    """Return what each of a revision's changed parts binds and reads of its fresh names.

    A name is fresh if some changed line binds it, and the origin neither binds it in that scope nor
    reads it there. Nothing is said of lines whose syntax is broken.

    - ``origin``: those of the text that was revised.
    - ``tree``: the revision's, by `excise.syntax.parse`.
    - ``text``: the normalised revision.
    - ``spans``: its lines (from, to) that the origin does not have, ascending and apart.

    Returns: one for each span.

    >>> from excise.syntax import parse
    >>> before, after = "a()\\nb()\\nc()\\n", "x = a()\\nb()\\nc(x)\\n"
    >>> names = Bindings.of(parse(before, "python"), before)
    >>> [*map(tuple, fresh_names(names, parse(after, "python"), after, [(0, 1), (2, 3)]))]
    [(frozenset({((), 'x')}), frozenset()), (frozenset(), frozenset({((), 'x')}))]
    """
    names = _names_of(tree, text, spans)
    here = _bound(names, origin.bound)
    fresh = {key for key in here if origin.lacks(key)}
    known = origin.bound | here.keys()
    binds: list[set[Key]] = [set() for _ in spans]
    uses: list[set[Key]] = [set() for _ in spans]
    starts = [start for start, _ in spans]
    declared = {key for name in names if name.role is NameRole.BIND for key in name.bound}
    for key in fresh:
        for line in here[key]:
            binds[bisect_right(starts, line) - 1].add(key)
    for name in names:
        read = _read(name, known)
        if name.role is NameRole.MEMBER and (MEMBER, name.name) in declared:
            read = MEMBER, name.name  # also where `self.name` is assigned: it does not declare it
        if read is not None and read in fresh:
            uses[bisect_right(starts, name.line) - 1].add(read)
    return [
        HunkNames(frozenset(own), frozenset(read)) for own, read in zip(binds, uses, strict=True)
    ]


def _bound(names: Sequence[ScopedName], known: frozenset[Key]) -> dict[Key, list[int]]:
    """Return the keys that names bind, with the lines; ``known`` are bound elsewhere in the text.

    An assignment binds where nothing there or around does otherwise.
    """
    bound: dict[Key, list[int]] = defaultdict(list)
    for name in names:
        for key in name.bound:
            bound[key].append(name.line)
    declared = frozenset(bound)
    for name in names:
        if name.role is NameRole.ASSIGN and not _resolved(name.scope, name.name, declared, known):
            bound[name.scope.path, name.name].append(name.line)
    return bound


def _resolved(scope: NameScope | None, name: str, *bound: Iterable[Key]) -> Key | None:
    """Return the key of the innermost scope that binds a name."""
    while scope is not None:
        key = scope.path, name
        if any(key in keys for keys in bound):
            return key
        scope = scope.outer
    return None


def _read(name: ScopedName, bound: Iterable[Key]) -> Key | None:
    """Return the key that a name reads, as if it was bound in its own scope if nothing binds it."""
    match name.role:
        case NameRole.READ | NameRole.ASSIGN:
            return _resolved(name.scope, name.name, bound) or (name.scope.path, name.name)
        case NameRole.MEMBER if not name.is_member:
            return MEMBER, name.name
        case NameRole.KEYWORD:
            return KEYWORD, name.name
    return None


def _names_of(
    tree: Tree,
    text: str,
    spans: Sequence[tuple[int, int]] | None = None,
    known: PartNames | None = None,
) -> list[ScopedName]:
    """Return the names of a normalised text, or only those of some lines."""
    data = encode(text)
    within = None if spans is None else array("i", chain.from_iterable(spans))
    return walk_names(tree, data, line_starts(data), within, known)
