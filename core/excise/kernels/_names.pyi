from array import array

from tree_sitter import Tree

from excise.names import PartNames, ScopedName

def walk_names(
    tree: Tree,
    data: bytes,
    starts: array[int],
    within: array[int] | None,
    known: PartNames | None,
) -> list[ScopedName]: ...
