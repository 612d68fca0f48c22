# cython: language_level=3
"""The n-grams of one change block at a time, as nodes of the trie of all patches."""
from libc.stdint cimport int32_t, int64_t, uint32_t

from excise.kernels._tables cimport Table

cdef enum:
    ORDERS = 4

cdef struct Gram:
    uint32_t node
    int32_t in_o          # how often the block has it, in O and in A
    int32_t in_a

cdef struct Grams:
    Gram* grams
    int64_t n
    int64_t room
    uint32_t* place       # of each node: the number of its n-gram + 1; 0: not in the block
    int64_t place_room
    uint32_t* path        # of each token: the node of the n-gram that starts there
    int64_t path_room


cdef int count_grams(Table* nodes, Grams* found, const int32_t* tokens, int64_t n, bint is_a
                     ) noexcept nogil
cdef void forget(Grams* found) noexcept nogil
cdef void free_grams(Grams* found) noexcept nogil
