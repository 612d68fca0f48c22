"""Counts of a pair's n-grams: 48 ints, keep / add / delete x order x (here, a, b, anywhere)."""
from libc.stdint cimport int32_t, int64_t, uint32_t

cdef enum:
    ORDERS = 4
    CELL = 4              # here, a, b, anywhere
    FIELDS = 48           # 3 operations x 4 orders x CELL
    KEEP = 0
    ADD = 16
    DELETE = 32

cdef struct Node:
    # One n-gram: the edge `token` from the (n-1)-gram `parent`.
    uint32_t parent
    int32_t token
    int32_t order
    int32_t here[3]       # occurrences in the current region, in O, A, B
    int32_t place[3]      # occurrences in the regions of the current place before it
    int32_t added[2]      # surplus over O, summed over the places before, of A and B
    int32_t deleted[2]    # surplus of O, likewise


cdef struct Trie:
    Node* nodes           # nodes[0] is the root
    uint32_t n_nodes
    uint32_t* slots       # open addressing; 0 is free, as no edge leads to the root
    uint32_t mask
    uint32_t* touched     # the nodes of the current region
    uint32_t n_touched
    uint32_t* placed      # the nodes of the current place
    uint32_t n_placed
    Py_ssize_t capacity
    Py_ssize_t slot_capacity


cdef void free_trie(Trie* trie) noexcept nogil
cdef int count_regions(
    const int32_t* regions, Py_ssize_t n_regions, const int32_t* following, Py_ssize_t n_places,
    const int32_t* o, const int32_t* a, const int32_t* b, Trie* trie, int64_t* counts
) noexcept nogil
