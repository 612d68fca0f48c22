from array import array

MAX_LENGTH: int

class CancelFlag:
    def __init__(self, seconds: float | None = None) -> None: ...
    def cancel(self) -> None: ...
    def check(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...
    @property
    def timed_out(self) -> bool: ...

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
