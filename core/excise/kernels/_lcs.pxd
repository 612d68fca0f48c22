"""C interface of the canonical alignment."""
from libc.stdint cimport int32_t

from excise.kernels._walk cimport Edits, Work

cdef int canonical(
    const int32_t* o, int32_t n, const int32_t* a, int32_t m,
    int32_t o_base, int32_t a_base, Edits* edits, Work* work
) noexcept nogil
