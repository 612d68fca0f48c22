# cython: language_level=3
"""Many multisets of small ints, one a patch, as sorted ids with counts."""
from libc.stdint cimport int64_t, uint32_t

cdef struct Multisets:
    # Of patch i: ids[first[i]:first[i + 1]] ascending, with their counts; total: their sum.
    uint32_t* ids
    uint32_t* counts
    int64_t* first
    int64_t* total
    int64_t n             # patches
    int64_t capacity
    int64_t n_capacity

cdef struct Item:
    uint32_t id
    uint32_t count


cdef int append(Multisets* sets, Item* items, int64_t n) noexcept nogil
cdef int64_t gathered(Item* items, int64_t n) noexcept nogil
cdef int64_t merged(const Multisets* sets, int64_t i, int64_t j) noexcept nogil
cdef void free_multisets(Multisets* sets) noexcept nogil
