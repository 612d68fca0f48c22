from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence

from tree_sitter import Node

Ints = array[int]

def walk(
    root: Node, data: bytes, roles: tuple[bytes, bytes], within: Sequence[int] | None
) -> tuple[array[int], list[tuple[int, int]]]: ...
def twins(
    origin: Node, revision: Node, data: bytes, kept: Ints, roles: bytes
) -> list[tuple[int, int]]: ...
def line_starts(data: bytes) -> Ints: ...
def line_edits(old: bytes, old_starts: Ints, new: bytes, new_starts: Ints) -> Ints: ...
def write(
    data: bytes, starts: Ints, spans: Ints
) -> tuple[list[str], list[int], list[int], list[int], list[int]]: ...
def assemble(
    origin: tuple[Ints, Ints, Ints, Ints],
    edits: Ints,
    stretches: list[tuple[int, int]],
    spans: Ints,
    data: bytes,
    starts: Ints,
    keys: Sequence[Hashable | None],
    intern: Callable[[Iterable[Hashable]], Ints],
) -> tuple[Ints, Ints, Ints, Ints]: ...
