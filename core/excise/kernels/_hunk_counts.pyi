from array import array

import numpy as np
import numpy.typing as npt

from excise.kernels._counts import Batch
from excise.kernels._walk import CancelFlag

class HunkBatch(Batch):
    def by_hunk(
        self,
        starts: array[int],
        wanted: npt.NDArray[np.uint8],
        cancel: CancelFlag | None = None,
    ) -> bytes: ...
