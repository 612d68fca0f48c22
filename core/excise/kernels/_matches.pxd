# cython: language_level=3
"""What two patches have in common: n-grams at one place, and n-grams anywhere."""
from libc.stdint cimport int64_t, uint32_t

from excise.kernels._patches cimport OPERATIONS, Index
from excise.kernels._sites cimport Joined

cdef struct Tally:
    # Of each operation the common n-grams at one place, and anywhere.
    int64_t here[OPERATIONS]
    int64_t shared[OPERATIONS]


cdef void tally(Index index, int64_t i, int64_t j, bint keyed, Joined* joined,
                const uint32_t* weights, Tally* found) noexcept nogil
cdef void placed(Index index, int64_t i, int64_t j, const uint32_t* own, const uint32_t* bare,
                 Joined* joined, const uint32_t* weights, int64_t* here, int64_t* shared
                 ) noexcept nogil
