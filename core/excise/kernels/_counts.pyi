from array import array

import numpy as np
import numpy.typing as npt

from excise.kernels._walk import CancelFlag

def merge_edits(a: array[int], b: array[int]) -> array[int]: ...
def number_places(
    regions: array[int], lines: array[int], o: array[int], a: array[int], b: array[int]
) -> array[int]: ...
def count(
    regions: array[int],
    o: array[int],
    a: array[int],
    b: array[int],
    numbers: array[int] | None = None,
) -> tuple[int, ...]: ...

PLACED: tuple[int, int]

class Batch:
    def __init__(
        self,
        tokens: array[int],
        starts: array[int] | None,
        revisions: list[tuple[array[int], array[int], array[int] | None]],
        lines: array[int] | None = None,
    ) -> None: ...
    def rows(
        self,
        start: int,
        step: int,
        standings: npt.NDArray[np.float64],
        cancel: CancelFlag | None = None,
    ) -> None: ...
    def by_hunk(
        self,
        starts: array[int],
        wanted: npt.NDArray[np.uint8],
        cancel: CancelFlag | None = None,
    ) -> bytes: ...
