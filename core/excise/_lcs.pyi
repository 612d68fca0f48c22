from array import array

MAX_LENGTH: int

class CancelFlag:
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...

def edits(
    o: array[int],
    a: array[int],
    *,
    engine: str = "auto",
    cancel: CancelFlag | None = None,
    work_done: list[int] | None = None,
) -> array[int]: ...
def nested_edits(
    o_lines: array[int],
    a_lines: array[int],
    o_bounds: array[int],
    a_bounds: array[int],
    o: array[int],
    a: array[int],
    *,
    engine: str = "auto",
    cancel: CancelFlag | None = None,
) -> array[int]: ...
