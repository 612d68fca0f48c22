from array import array

import numpy as np
import numpy.typing as npt

from excise.kernels._patches import Index
from excise.kernels._walk import CancelFlag

class Search:
    def __init__(
        self, index: Index, least: float, idf: bool = False, distinct: bool = False
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def least(self) -> float: ...
    def size(self, i: int) -> int: ...
    def pairs(
        self, start: int, stop: int, cancel: CancelFlag | None = None
    ) -> tuple[array[int], array[int], array[float], tuple[int, int]]: ...
    def ranges(self, most: int, least: int = 1) -> list[tuple[int, int]]: ...
    def dense(
        self,
        members: array[int],
        values: npt.NDArray[np.float64],
        cancel: CancelFlag | None = None,
        *,
        missing: bool = False,
    ) -> None: ...
    def bound(self, i: int, j: int, context: bool = False) -> float: ...
