# cython: language_level=3
"""Many multisets of small ints, one a patch, as sorted ids with counts."""
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from excise.kernels._tables cimport Large, large_at

cdef enum:
    MANY = 255            # marks counts that are in `large`

cdef struct Multisets:
    # Of patch i: ids[first[i]:first[i + 1]] in the order of their keys, and counts (`count_of`);
    # total: the sum.
    uint32_t* ids
    uint8_t* counts
    Large large
    int64_t* first
    int64_t* total
    int64_t n             # patches
    int64_t capacity
    int64_t n_capacity

cdef struct Item:
    uint64_t key          # what items are ordered by; its lower half is the id
    uint32_t part         # of the patch: one of its blocks
    uint32_t count


cdef inline uint32_t count_of(const Multisets* sets, int64_t at) noexcept nogil:
    cdef uint32_t count = sets.counts[at]
    return count if count != MANY else large_at(&sets.large, at)


cdef void ordered(Item* items, int64_t n) noexcept nogil
cdef int append(Multisets* sets, const Item* items, int64_t n) noexcept nogil
cdef int64_t merged(const Multisets* sets, int64_t i, int64_t j) noexcept nogil
cdef void free_multisets(Multisets* sets) noexcept nogil
