# cython: language_level=3
"""Which multisets can agree enough at all: levels, cuts, postings (proof in docs/algorithm.md)."""
from libc.stdint cimport int64_t, uint8_t, uint32_t

from excise.kernels._multisets cimport Multisets

cdef enum:
    LEVELS = 256

cdef struct Relation:
    # Pairs with 2 * shared >= least * (total + total), weights and all.
    const Multisets* sets
    int64_t n                 # multisets, and ids, when it was made
    int64_t ids
    double least
    uint32_t* weights         # per id; NULL: 1
    uint8_t* levels           # per id: the more sets have it, the higher
    int64_t* total            # per set
    uint8_t* cut              # per set: ids up to this level are looked up,
    int64_t* rest             # and what all others weigh
    const uint8_t* is_again   # per set: whether it equals an earlier one, and is left out; or NULL
    const uint32_t* order     # the sets by rank: who is near in size is near in rank

cdef struct Postings:
    # Of a range of ranks from `start`: those of rank start + who[head[f]:end[f]] have id f at or
    # below their cuts, ascending. Those that `gather` has passed are before the head.
    int64_t start
    uint32_t* head
    uint32_t* end
    uint32_t* who
    uint32_t* often


cdef int relate(Relation* relation) noexcept nogil
cdef void free_relation(Relation* relation) noexcept nogil
cdef int invert(
    const Relation* relation, int64_t start, int64_t stop, Postings* postings) noexcept nogil
cdef void free_postings(Postings* postings) noexcept nogil
cdef int64_t gather(
    const Relation* relation, Postings* postings, int64_t rank, int64_t last,
    int64_t* shared, uint32_t* touched, int64_t* n_touched
) noexcept nogil
cdef int64_t unseen(const Relation* relation, int64_t i, int64_t j) noexcept nogil
cdef bint hopeless(const Relation* relation, int64_t i, int64_t j, int64_t most) noexcept nogil
