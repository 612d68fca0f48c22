# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""N-grams of divergent regions, counted exactly in a trie of hashed edges, without the GIL.

An n-gram is named by its node, an edge by (parent, token): any vocabulary is counted exactly, and
one pass serves both directions.
"""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from excise._walk cimport NO_MEMORY, OK

cdef void free_trie(Trie* trie) noexcept nogil:
    free(trie.nodes)
    free(trie.slots)
    free(trie.touched)
    memset(trie, 0, sizeof(Trie))


cdef int reset_trie(Trie* trie, Py_ssize_t tokens) noexcept nogil:
    """Make room for every n-gram of that many tokens, and forget the last pair."""
    cdef Py_ssize_t wanted = ORDERS * tokens + 1, slots = 16
    while slots < 2 * wanted:
        slots *= 2
    if slots >= <Py_ssize_t>1 << 31:
        return NO_MEMORY
    if wanted > trie.capacity:
        free(trie.nodes)
        free(trie.touched)
        trie.nodes = <Node*>malloc(2 * wanted * sizeof(Node))
        trie.touched = <uint32_t*>malloc(2 * wanted * sizeof(uint32_t))
        trie.capacity = 2 * wanted if trie.nodes is not NULL and trie.touched is not NULL else 0
        if trie.capacity == 0:
            return NO_MEMORY
    if slots > trie.slot_capacity:
        free(trie.slots)
        trie.slots = <uint32_t*>malloc(slots * sizeof(uint32_t))
        trie.slot_capacity = slots if trie.slots is not NULL else 0
        if trie.slots is NULL:
            return NO_MEMORY
    memset(trie.slots, 0, slots * sizeof(uint32_t))
    trie.mask = <uint32_t>(slots - 1)
    trie.n_nodes = 1
    trie.n_touched = 0
    return OK


cdef inline uint32_t child(
    Trie* trie, uint32_t parent, int32_t token, int32_t order
) noexcept nogil:
    """The node of an n-gram, made on first sight."""
    cdef uint64_t key = (<uint64_t>parent << 32) | <uint32_t>token
    cdef uint32_t slot = <uint32_t>((key * <uint64_t>0x9E3779B97F4A7C15) >> 32) & trie.mask
    cdef uint32_t found
    cdef Node* node
    while True:
        found = trie.slots[slot]
        if found == 0:
            break
        node = &trie.nodes[found]
        if node.token == token and node.parent == parent:
            return found
        slot = (slot + 1) & trie.mask
    found = trie.n_nodes
    trie.n_nodes += 1
    trie.slots[slot] = found
    node = &trie.nodes[found]
    memset(node, 0, sizeof(Node))
    node.parent = parent
    node.token = token
    node.order = order
    return found


cdef void add_segment(
    Trie* trie, const int32_t* tokens, int32_t start, int32_t stop, int side
) noexcept nogil:
    """Count the n-grams of one segment on its side (0 O, 1 A, 2 B)."""
    cdef int32_t at, order, last
    cdef uint32_t name
    cdef Node* node
    for at in range(start, stop):
        name = 0
        last = stop - at if stop - at < ORDERS else ORDERS
        for order in range(last):
            name = child(trie, name, tokens[at + order], order)
            node = &trie.nodes[name]
            if not (node.here[0] | node.here[1] | node.here[2]):
                trie.touched[trie.n_touched] = name
                trie.n_touched += 1
            node.here[side] += 1


cdef inline int32_t least(int32_t x, int32_t y) noexcept nogil:
    return x if x < y else y


cdef inline int32_t surplus(int32_t x, int32_t y) noexcept nogil:
    return x - y if x > y else 0


cdef void end_region(Trie* trie, int64_t* counts) noexcept nogil:
    """Keep is counted region by region; then the region joins the totals."""
    cdef uint32_t at
    cdef int32_t by_a, by_b
    cdef int64_t* cell
    cdef Node* node
    for at in range(trie.n_touched):
        node = &trie.nodes[trie.touched[at]]
        by_a = least(node.here[0], node.here[1])
        by_b = least(node.here[0], node.here[2])
        cell = counts + KEEP + 3 * node.order
        cell[0] += least(by_a, by_b)
        cell[1] += by_a
        cell[2] += by_b
        node.total[0] += node.here[0]
        node.total[1] += node.here[1]
        node.total[2] += node.here[2]
        node.here[0] = node.here[1] = node.here[2] = 0
    trie.n_touched = 0


cdef void end_pair(Trie* trie, int64_t* counts) noexcept nogil:
    """Add and delete are pooled over the regions."""
    cdef uint32_t at
    cdef int32_t by_a, by_b
    cdef int64_t* cell
    cdef Node* node
    for at in range(1, trie.n_nodes):
        node = &trie.nodes[at]
        by_a = surplus(node.total[1], node.total[0])
        by_b = surplus(node.total[2], node.total[0])
        cell = counts + ADD + 3 * node.order
        cell[0] += least(by_a, by_b)
        cell[1] += by_a
        cell[2] += by_b
        by_a = surplus(node.total[0], node.total[1])
        by_b = surplus(node.total[0], node.total[2])
        cell = counts + DELETE + 3 * node.order
        cell[0] += least(by_a, by_b)
        cell[1] += by_a
        cell[2] += by_b


cdef int count_regions(
    const int32_t* regions, Py_ssize_t n_regions,
    const int32_t* o, const int32_t* a, const int32_t* b, Trie* trie, int64_t* counts
) noexcept nogil:
    """Fill the 36 counts of a pair from its regions (six token places each)."""
    cdef Py_ssize_t at, tokens = 0
    cdef const int32_t* region
    for at in range(n_regions):
        region = regions + 6 * at
        tokens += (region[1] - region[0]) + (region[3] - region[2]) + (region[5] - region[4])
    memset(counts, 0, FIELDS * sizeof(int64_t))
    if reset_trie(trie, tokens) != OK:
        return NO_MEMORY
    for at in range(n_regions):
        region = regions + 6 * at
        add_segment(trie, o, region[0], region[1], 0)
        add_segment(trie, a, region[2], region[3], 1)
        add_segment(trie, b, region[4], region[5], 2)
        end_region(trie, counts)
    end_pair(trie, counts)
    return OK
