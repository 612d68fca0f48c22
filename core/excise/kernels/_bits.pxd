# cython: language_level=3
from libc.stdint cimport int32_t

from excise.kernels._walk cimport Walk, Work

cdef int bits(
    const int32_t* o, int32_t n, const int32_t* a, int32_t m, int32_t symbols,
    bint checkpoints, Work* work, Walk* walk
) noexcept nogil
