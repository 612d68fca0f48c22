"""N-grams of divergent regions, counted exactly in a trie of hashed edges, without the GIL.

An n-gram is named by its node, an edge by (parent, token): any vocabulary is counted exactly, and
one pass serves both directions.
"""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from excise.kernels._walk cimport NO_MEMORY, OK

cdef void free_trie(Trie* trie) noexcept nogil:
    free(trie.nodes)
    free(trie.slots)
    free(trie.touched)
    free(trie.placed)
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
        free(trie.placed)
        trie.nodes = <Node*>malloc(2 * wanted * sizeof(Node))
        trie.touched = <uint32_t*>malloc(2 * wanted * sizeof(uint32_t))
        trie.placed = <uint32_t*>malloc(2 * wanted * sizeof(uint32_t))
        trie.capacity = 2 * wanted
        if trie.nodes is NULL or trie.touched is NULL or trie.placed is NULL:
            trie.capacity = 0
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
    trie.n_touched = trie.n_placed = 0
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


cdef inline void add_kept(int64_t* cell, const int32_t* here) noexcept nogil:
    cdef int32_t by_a = least(here[0], here[1])
    cdef int32_t by_b = least(here[0], here[2])
    cell[0] += least(by_a, by_b)
    cell[1] += by_a
    cell[2] += by_b


cdef void end_region(Trie* trie, int64_t* counts) noexcept nogil:
    """Keep is counted region by region; then the region joins its place."""
    cdef uint32_t i
    cdef Node* node
    for i in range(trie.n_touched):
        node = &trie.nodes[trie.touched[i]]
        if node.here[0]:
            add_kept(counts + KEEP + CELL * node.order, node.here)
        if not (node.place[0] | node.place[1] | node.place[2]):
            trie.placed[trie.n_placed] = trie.touched[i]
            trie.n_placed += 1
        node.place[0] += node.here[0]
        node.place[1] += node.here[1]
        node.place[2] += node.here[2]
        node.here[0] = node.here[1] = node.here[2] = 0
    trie.n_touched = 0


cdef inline void add_common(int64_t* cell, int32_t by_a, int32_t by_b) noexcept nogil:
    cell[0] += least(by_a, by_b)
    cell[1] += by_a
    cell[2] += by_b


cdef inline void count_changed(
    Node* node, const int32_t* place, int64_t* counts
) noexcept nogil:
    """What A and B add to the origin at a place, and what they delete there, of one n-gram."""
    cdef int32_t by_a = surplus(place[1], place[0])
    cdef int32_t by_b = surplus(place[2], place[0])
    if by_a | by_b:
        add_common(counts + ADD + CELL * node.order, by_a, by_b)
        node.added[0] += by_a
        node.added[1] += by_b
    by_a = surplus(place[0], place[1])
    by_b = surplus(place[0], place[2])
    if by_a | by_b:
        add_common(counts + DELETE + CELL * node.order, by_a, by_b)
        node.deleted[0] += by_a
        node.deleted[1] += by_b


cdef void end_place(Trie* trie, int64_t* counts) noexcept nogil:
    """Add and delete are what the place as a whole gained and lost."""
    cdef uint32_t i
    cdef int32_t* place
    cdef Node* node
    for i in range(trie.n_placed):
        node = &trie.nodes[trie.placed[i]]
        place = node.place
        count_changed(node, place, counts)
        place[0] = place[1] = place[2] = 0
    trie.n_placed = 0


cdef void end_lone_region(Trie* trie, int64_t* counts) noexcept nogil:
    """A region that is a place of its own, which most are: `end_region` and `end_place` in one."""
    cdef uint32_t i
    cdef int32_t* here
    cdef Node* node
    for i in range(trie.n_touched):
        node = &trie.nodes[trie.touched[i]]
        here = node.here
        if here[0]:
            add_kept(counts + KEEP + CELL * node.order, here)
        count_changed(node, here, counts)
        here[0] = here[1] = here[2] = 0
    trie.n_touched = 0


cdef void end_pair(Trie* trie, Py_ssize_t n_places, int64_t* counts) noexcept nogil:
    """Count what is in common wherever it stands: with one place, what is in common there."""
    cdef uint32_t i
    cdef int cell
    cdef Node* node
    for cell in range(3 * ORDERS):
        if n_places <= 1 or cell < ORDERS:
            counts[CELL * cell + 3] = counts[CELL * cell]
    if n_places <= 1:
        return
    for i in range(1, trie.n_nodes):
        node = &trie.nodes[i]
        counts[ADD + CELL * node.order + 3] += least(node.added[0], node.added[1])
        counts[DELETE + CELL * node.order + 3] += least(node.deleted[0], node.deleted[1])


cdef int count_regions(
    const int32_t* regions, Py_ssize_t n_regions, const int32_t* following, Py_ssize_t n_places,
    const int32_t* o, const int32_t* a, const int32_t* b, Trie* trie, int64_t* counts
) noexcept nogil:
    """Fill the 48 counts of a pair from its regions (six token places each).

    `following` names for every region the next one of its place, -1 at the last, and -2 - r at
    the last where the next place begins with region r. NULL: all regions are one place.
    """
    cdef Py_ssize_t i, tokens = 0
    cdef int32_t current = 0, next_region
    cdef bint first = True
    cdef const int32_t* region
    for i in range(n_regions):
        region = regions + 6 * i
        tokens += (region[1] - region[0]) + (region[3] - region[2]) + (region[5] - region[4])
    memset(counts, 0, FIELDS * sizeof(int64_t))
    if reset_trie(trie, tokens) != OK:
        return NO_MEMORY
    for i in range(n_regions):
        region = regions + 6 * current
        add_segment(trie, o, region[0], region[1], 0)
        add_segment(trie, a, region[2], region[3], 1)
        add_segment(trie, b, region[4], region[5], 2)
        next_region = <int32_t>i + 1 if following is NULL else following[current]
        if first and next_region < 0:
            end_lone_region(trie, counts)
        else:
            end_region(trie, counts)
            if next_region < 0:
                end_place(trie, counts)
        first = next_region < 0
        current = -2 - next_region if first else next_region
    end_place(trie, counts)
    end_pair(trie, n_places, counts)
    return OK
