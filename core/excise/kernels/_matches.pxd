"""What two patches have in common: n-grams at one place, and n-grams anywhere."""
from libc.stdint cimport int64_t, uint32_t

from excise.kernels._patches cimport Index
from excise.kernels._sites cimport Joined

cdef void placed(Index index, int64_t i, int64_t j, const uint32_t* own, const uint32_t* bare,
                 Joined* joined, const uint32_t* weights, int64_t* here, int64_t* shared
                 ) noexcept nogil
