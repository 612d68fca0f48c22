# cython: language_level=3
"""Counts of a pair's n-grams: 36 ints, keep / add / delete x order x (both, a, b)."""
from libc.stdint cimport int32_t, int64_t, uint32_t

cdef enum:
    ORDERS = 4
    FIELDS = 36           # 3 operations x 4 orders x (both, a, b)
    KEEP = 0
    ADD = 12
    DELETE = 24

cdef struct Node:
    # One n-gram: the edge `token` from the (n-1)-gram `parent`.
    uint32_t parent
    int32_t token
    int32_t order
    int32_t here[3]       # occurrences in the current region, in O, A, B
    int32_t total[3]      # occurrences in all regions before it


cdef struct Trie:
    Node* nodes           # nodes[0] is the root
    uint32_t n_nodes
    uint32_t* slots       # open addressing; 0 is free, as no edge leads to the root
    uint32_t mask
    uint32_t* touched     # the nodes of the current region
    uint32_t n_touched
    Py_ssize_t capacity
    Py_ssize_t slot_capacity


cdef void free_trie(Trie* trie) noexcept nogil
cdef int count_regions(
    const int32_t* regions, Py_ssize_t n_regions,
    const int32_t* o, const int32_t* a, const int32_t* b, Trie* trie, int64_t* counts
) noexcept nogil
