# cython: language_level=3
from libc.stdint cimport int32_t, int64_t, uint32_t

from excise._multisets cimport Item, Multisets
from excise._tables cimport Table

cdef enum:
    ORDERS = 4
    OPERATIONS = 3        # keep, add, delete


cdef class Index:
    cdef Table nodes      # (parent node, token) -> node; node 0 is the root
    cdef Table features_  # (node * operations + operation, name) -> feature
    cdef uint32_t* base   # feature -> node * operations + operation: the feature without a name
    cdef int64_t base_capacity
    cdef Multisets edits, lines
    cdef int64_t n_lines
    cdef bint keyed
    # Scratch of `add`: per node the occurrences in the block's O and A, and which nodes those are.
    cdef int32_t* in_o
    cdef int32_t* in_a
    cdef int64_t in_o_capacity, in_a_capacity, touched_capacity, items_capacity
    cdef uint32_t* touched
    cdef Item* items

    cdef int check(self, int64_t i) except -1
    cdef int walk(self, const int32_t* tokens, int32_t start, int32_t stop, bint is_a,
                  int64_t* n_touched) noexcept nogil
    cdef int widen(self, int64_t node) noexcept nogil
    cdef int64_t feature(self, uint32_t node, int operation, int32_t key) noexcept nogil
    cdef int put(self, uint32_t id, int32_t count, int64_t* n) noexcept nogil
    cdef int block(self, const int32_t* tokens, const int32_t* place, int64_t* n) noexcept nogil
    cdef int count(self, int64_t i, bint keyed, Item** items, int64_t* n) noexcept nogil
    cdef int kind(self, uint32_t id, bint keyed) noexcept nogil
