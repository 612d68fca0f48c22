from array import array
from collections.abc import Callable, Hashable, Iterable, Sequence

Ints = array[int]

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
