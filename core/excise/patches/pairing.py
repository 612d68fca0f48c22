"""Which files of two patches are compared with each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence

from excise.patches.model import FilePair, Patch

__all__ = ["Pairing", "common_keys", "paired", "paired_on_one_base"]

Pairing = tuple[FilePair | None, FilePair | None]
Keys = Callable[[FilePair], Iterable[Hashable]]


def paired(
    a: Iterable[FilePair], b: Iterable[FilePair], *, by_content: bool = False
) -> tuple[Pairing, ...]:
    """Pair files by path, by a rename's old path, by base name (which is what n-grams carry).

    With `by_content` (the patches' context lines agree) what is left is paired in order, too. A
    file that stays alone has None beside it.
    """
    return _paired(list(a), list(b), _EDITS if by_content else _EDITS[:-1])


def paired_on_one_base(a: Iterable[FilePair], b: Iterable[FilePair]) -> tuple[Pairing, ...]:
    """Pair files of one tree by old path, by new path, and created files by their content."""
    return _paired(list(a), list(b), _ORIGIN)


def common_keys(patch: Patch) -> set[Hashable]:
    """Return what two patches of one tree must have one of, to have a file in common.

    Patches without files have none in common, and are equal all the same.
    """
    found: set[Hashable] = {(rule, key) for rule, keys in enumerate(_ORIGIN) for pair in patch.files
             for key in keys(pair)}  # fmt: skip
    return found or {()}


def _paired(
    a: Sequence[FilePair], b: Sequence[FilePair], rules: Sequence[Keys]
) -> tuple[Pairing, ...]:
    """Pair each file of A, rule by rule, with the first file of B that shares a key and is free."""
    found: list[Pairing] = []
    left, free = dict(enumerate(a)), dict(enumerate(b))
    for keys in rules:
        # The places of B by key, the first one last; those that are taken stay until they come up.
        places: dict[Hashable, list[int]] = defaultdict(list)
        for at, pair in reversed(free.items()):
            for key in keys(pair):
                places[key].append(at)
        for at, pair in tuple(left.items()):
            heads = [place for key in keys(pair) if (place := _head(places[key], free)) is not None]
            if heads:
                found.append((left.pop(at), free.pop(min(heads))))
    return (*found, *((pair, None) for pair in left.values()),
            *((None, pair) for pair in free.values()))  # fmt: skip


def _head(places: list[int], free: dict[int, FilePair]) -> int | None:
    while places and places[-1] not in free:
        places.pop()
    return places[-1] if places else None


def _content(pair: FilePair) -> tuple[Hashable, ...]:
    content = tuple(hunk.lines for hunk in pair.hunks)
    return (content,) if pair.old is None and content else ()


_EDITS: tuple[Keys, ...] = (
    lambda pair: (pair.path,),
    lambda pair: {pair.old, pair.new} - {None},
    lambda pair: (pair.name,),
    lambda pair: ("",) if pair.hunks else (),
)
_ORIGIN: tuple[Keys, ...] = (
    lambda pair: (pair.old or pair.path,),
    lambda pair: (pair.path,),
    _content,
)
