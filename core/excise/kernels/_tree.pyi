from array import array
from collections.abc import Sequence

from tree_sitter import Node

def walk(
    root: Node, data: bytes, roles: tuple[bytes, bytes], within: Sequence[int] | None
) -> tuple[array[int], list[tuple[int, int]]]: ...
