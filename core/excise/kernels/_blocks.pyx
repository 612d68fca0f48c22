# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Counting the n-grams of a change block: all of one order before any of the next.

The n-grams of one order do not depend on each other: their nodes are looked up many at a time.
"""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from excise.kernels._tables cimport (
    NO_MEMORY, TOGETHER, Table, enlarged, number_all, prefetch,
)


cdef int count_grams(Table* nodes, Grams* found, const int32_t* tokens, int64_t n, bint is_a
                     ) noexcept nogil:
    """Count the n-grams of so many tokens, in O or in A."""
    cdef uint64_t keys[TOGETHER]
    cdef int64_t start, at, order
    cdef int size
    cdef void* moved = enlarged(found.path, n, &found.path_room, sizeof(uint32_t))
    if moved is NULL and n:
        return NO_MEMORY
    found.path = <uint32_t*>moved
    if n:
        memset(found.path, 0, n * sizeof(uint32_t))
    for order in range(min(<int64_t>ORDERS, n)):
        start = 0
        while start < n - order:
            size = <int>min(<int64_t>TOGETHER, n - order - start)
            for at in range(size):
                keys[at] = (<uint64_t>found.path[start + at] << 32
                            | <uint32_t>tokens[start + at + order])
            if (number_all(nodes, keys, size, found.path + start) != 0
                    or widen(found, nodes.n) != 0
                    or count(found, found.path + start, size, is_a) != 0):
                return NO_MEMORY
            start += size
    return 0


cdef int widen(Grams* found, int64_t nodes) noexcept nogil:
    cdef int64_t before = found.place_room
    cdef void* moved = enlarged(found.place, nodes, &found.place_room, sizeof(uint32_t))
    if moved is NULL:
        return NO_MEMORY
    found.place = <uint32_t*>moved
    if found.place_room > before:
        memset(found.place + before, 0, (found.place_room - before) * sizeof(uint32_t))
    return 0


cdef int count(Grams* found, const uint32_t* nodes, int n, bint is_a) noexcept nogil:
    """Count n-grams whose nodes are known."""
    cdef uint32_t place
    cdef int at
    cdef Gram* gram
    cdef void* moved = enlarged(found.grams, found.n + n, &found.room, sizeof(Gram))
    if moved is NULL:
        return NO_MEMORY
    found.grams = <Gram*>moved
    for at in range(n):
        prefetch(&found.place[nodes[at]])
    for at in range(n):
        place = found.place[nodes[at]]
        if not place:
            gram = &found.grams[found.n]
            gram.node, gram.in_o, gram.in_a = nodes[at], 0, 0
            found.n += 1
            place = <uint32_t>found.n
            found.place[nodes[at]] = place
        if is_a:
            found.grams[place - 1].in_a += 1
        else:
            found.grams[place - 1].in_o += 1
    return 0


cdef void forget(Grams* found) noexcept nogil:
    """Be ready for the next block."""
    cdef int64_t at
    for at in range(found.n):
        found.place[found.grams[at].node] = 0
    found.n = 0


cdef void free_grams(Grams* found) noexcept nogil:
    free(found.grams)
    free(found.place)
    free(found.path)
    memset(found, 0, sizeof(Grams))
