from array import array

def slide(
    edits: array[int],
    o: array[int],
    o_first: array[int] | None,
    a: array[int],
    a_first: array[int] | None,
) -> array[int]: ...
