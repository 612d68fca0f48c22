from array import array

from excise.kernels._walk import CancelFlag

MAX_LENGTH: int

def edits(
    o: array[int],
    a: array[int],
    *,
    engine: str = "auto",
    cancel: CancelFlag | None = None,
    work_done: list[int] | None = None,
) -> array[int]: ...
def nested_edits(
    origin: tuple[array[int], array[int], array[int]],
    revision: tuple[array[int], array[int], array[int]],
    *,
    engine: str = "auto",
    cancel: CancelFlag | None = None,
) -> array[int]: ...
