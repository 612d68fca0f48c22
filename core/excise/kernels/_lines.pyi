from array import array
from collections.abc import Sequence

class OriginLines:
    starts: array[int]
    names: array[int]
    def __init__(self, data: bytes) -> None: ...
    def beside(self, data: bytes) -> tuple[array[int], array[int]]: ...

def tree_edits(
    old_data: bytes,
    old: Sequence[int],
    new: Sequence[int],
    edits: array[int],
) -> list[tuple[int, int, int, tuple[int, int], tuple[int, int], tuple[int, int]]]: ...
