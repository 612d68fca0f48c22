# cython: language_level=3
"""Many multisets of small ints, one a patch, as sorted ids with counts."""
from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef struct Multisets:
    # Of patch i: ids[first[i]:first[i + 1]] in the order of their keys, and counts; total: the sum.
    uint32_t* ids
    uint32_t* counts
    int64_t* first
    int64_t* total
    int64_t n             # patches
    int64_t capacity
    int64_t n_capacity

cdef struct Item:
    uint64_t key          # what items are ordered by; its lower half is the id
    uint32_t part         # of the patch: one of its blocks
    uint32_t count


cdef void ordered(Item* items, int64_t n) noexcept nogil
cdef int append(Multisets* sets, const Item* items, int64_t n) noexcept nogil
cdef int64_t merged(const Multisets* sets, int64_t i, int64_t j) noexcept nogil
cdef void free_multisets(Multisets* sets) noexcept nogil
