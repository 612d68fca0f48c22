from array import array

from excise.kernels._walk import CancelFlag

def merge_edits(
    o: array[int], a: array[int], symbols: int, *, cancel: CancelFlag | None = None
) -> array[int]: ...
