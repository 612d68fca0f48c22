# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Divergent regions of a pair, their n-gram counts, and the score, without the GIL.

A pair is two edit lists over the same origin: merging them gives its regions at a cost that does
not depend on the length of the files. N-grams live in a trie of hashed edges (parent, token), so
that any vocabulary is counted exactly and one pass serves both directions.
"""
from libc.math cimport fma
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memset

from array import array

from excise.errors import Cancelled

from excise._walk cimport CANCELLED, NO_MEMORY, OK, CancelFlag, Stop, stopped

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


# ------------------------------------------------------------------------------------------------
# Equation 3 on counts, correctly rounded. `excision.py` has it in plain view with fractions; here
# sums run in twice the precision of a double, so that both give the same float.

cdef struct Double2:
    double high
    double low


cdef inline Double2 quotient(double x, double y) noexcept nogil:
    cdef Double2 result
    result.high = x / y
    result.low = fma(-result.high, y, x) / y
    return result


cdef inline Double2 plus(Double2 x, Double2 y) noexcept nogil:
    cdef double total = x.high + y.high
    cdef double part = total - x.high
    cdef double lost = (x.high - (total - part)) + (y.high - part) + x.low + y.low
    cdef Double2 result
    result.high = total + lost
    result.low = lost - (result.high - total)
    return result


cdef inline Double2 over(Double2 x, double y) noexcept nogil:
    cdef Double2 result
    cdef double high = x.high / y
    cdef double low = (fma(-high, y, x.high) + x.low) / y
    result.high = high + low
    result.low = low - (result.high - high)
    return result


cdef bint operation(const int64_t* counts, bint precision, Double2* value) noexcept nogil:
    """The mean of F (or P) over the defined orders; False when none is."""
    cdef int order, defined = 0
    cdef int64_t both, by_a, by_b
    value.high = value.low = 0.0
    for order in range(ORDERS):
        both = counts[3 * order]
        by_a = counts[3 * order + 1]
        by_b = counts[3 * order + 2]
        if by_a == 0 and by_b == 0:
            continue
        defined += 1
        if both:
            if precision:
                value[0] = plus(value[0], quotient(<double>both, <double>by_b))
            else:
                value[0] = plus(value[0], quotient(2.0 * both, <double>(by_a + by_b)))
    if defined:
        value[0] = over(value[0], defined)
    return defined != 0


cdef double formula(const int64_t* counts, bint precision) noexcept nogil:
    cdef Double2 value, total
    cdef int defined = 0
    total.high = total.low = 0.0
    if operation(counts + KEEP, False, &value):
        total = plus(total, value)
        defined += 1
    if operation(counts + ADD, False, &value):
        total = plus(total, value)
        defined += 1
    if operation(counts + DELETE, precision, &value):
        total = plus(total, value)
        defined += 1
    return over(total, defined).high if defined else 1.0


# ------------------------------------------------------------------------------------------------
# Regions of a pair: the star alignment conserves an origin position iff both revisions keep it.

cdef struct Regions:
    int32_t* data
    Py_ssize_t n          # regions
    Py_ssize_t capacity


cdef int merge(
    const int32_t* ea, Py_ssize_t na, const int32_t* eb, Py_ssize_t nb, Regions* out
) noexcept nogil:
    """Merge two edit lists (of na and nb runs); runs that touch in O share a region."""
    cdef Py_ssize_t i = 0, j = 0
    cdef int32_t shift_a = 0, shift_b = 0, low, high
    cdef int32_t* grown
    cdef int32_t* region
    out.n = 0
    if 6 * (na + nb) > out.capacity:
        grown = <int32_t*>realloc(out.data, 12 * (na + nb) * sizeof(int32_t))
        if grown is NULL:
            return NO_MEMORY
        out.data = grown
        out.capacity = 12 * (na + nb)
    while i < na or j < nb:
        if j >= nb or (i < na and ea[4 * i] <= eb[4 * j]):
            low = ea[4 * i]
        else:
            low = eb[4 * j]
        high = low
        region = out.data + 6 * out.n
        region[2] = low + shift_a
        region[4] = low + shift_b
        while True:
            if i < na and ea[4 * i] <= high:
                if ea[4 * i + 1] > high:
                    high = ea[4 * i + 1]
                shift_a = ea[4 * i + 3] - ea[4 * i + 1]
                i += 1
            elif j < nb and eb[4 * j] <= high:
                if eb[4 * j + 1] > high:
                    high = eb[4 * j + 1]
                shift_b = eb[4 * j + 3] - eb[4 * j + 1]
                j += 1
            else:
                break
        region[0] = low
        region[1] = high
        region[3] = high + shift_a
        region[5] = high + shift_b
        out.n += 1
    return OK


cdef void to_tokens(
    Regions* regions, const int32_t* o, const int32_t* a, const int32_t* b
) noexcept nogil:
    """Turn places of units (lines) into places of tokens."""
    cdef Py_ssize_t at
    cdef int32_t* region
    for at in range(regions.n):
        region = regions.data + 6 * at
        region[0] = o[region[0]]
        region[1] = o[region[1]]
        region[2] = a[region[2]]
        region[3] = a[region[3]]
        region[4] = b[region[4]]
        region[5] = b[region[5]]


def merge_edits(const int32_t[::1] a not None, const int32_t[::1] b not None):
    """Return the regions of two edit lists: a flat array of six unit places (O, A, B) each."""
    cdef Regions regions
    cdef int status
    memset(&regions, 0, sizeof(Regions))
    status = merge(&a[0] if a.shape[0] else NULL, a.shape[0] // 4,
                   &b[0] if b.shape[0] else NULL, b.shape[0] // 4, &regions)
    try:
        if status == NO_MEMORY:
            raise MemoryError("excise: out of memory while merging edits")
        result = array("i")
        if regions.n:
            result.frombytes((<char*>regions.data)[:regions.n * 6 * sizeof(int32_t)])
        return result
    finally:
        free(regions.data)


def count(const int32_t[::1] regions not None, const int32_t[::1] o not None,
          const int32_t[::1] a not None, const int32_t[::1] b not None):
    """Return the 36 counts of a pair: keep, add, delete x order 1..4 x (both, a, b).

    Parameters
    ----------
    regions
        Six token places a region: o_lo, o_hi, a_lo, a_hi, b_lo, b_hi.
    o, a, b
        The tokens as ints.
    """
    cdef Trie trie
    cdef int64_t counts[FIELDS]
    cdef int status
    cdef Py_ssize_t n = regions.shape[0] // 6
    cdef const int32_t* pr = &regions[0] if n else NULL
    cdef const int32_t* po = &o[0] if o.shape[0] else NULL
    cdef const int32_t* pa = &a[0] if a.shape[0] else NULL
    cdef const int32_t* pb = &b[0] if b.shape[0] else NULL
    memset(&trie, 0, sizeof(Trie))
    with nogil:
        status = count_regions(pr, n, po, pa, pb, &trie, counts)
        free_trie(&trie)
    if status == NO_MEMORY:
        raise MemoryError("excise: out of memory while counting n-grams")
    return tuple([counts[at] for at in range(FIELDS)])


def value(counts, bint precision=False):
    """Return equation 3 of 36 counts as a float, correctly rounded."""
    cdef int64_t held[FIELDS]
    cdef int at
    for at in range(FIELDS):
        held[at] = counts[at]
    return formula(held, precision)


# ------------------------------------------------------------------------------------------------
# Many pairs: rows of the upper triangle, each free of the GIL.

cdef struct Side:
    const int32_t* edits
    Py_ssize_t n_edits
    const int32_t* tokens
    const int32_t* starts     # unit -> first token; NULL when units are tokens


cdef class Batch:
    """The revisions of one origin, ready to be scored pair by pair.

    Parameters
    ----------
    tokens, starts
        The origin's tokens and, at `line`, the first token of every unit (and one past the last).
    revisions
        For each: its edits, its tokens, its starts (or None).
    """
    cdef Side* sides
    cdef Side origin
    cdef Py_ssize_t k
    cdef list held

    def __cinit__(self, tokens, starts, list revisions):
        cdef Py_ssize_t at
        self.k = len(revisions)
        self.held = []
        self.sides = <Side*>calloc(self.k + 1, sizeof(Side))
        if self.sides is NULL:
            raise MemoryError("excise: out of memory while preparing the matrix")
        self.fill(&self.origin, None, tokens, starts)
        for at in range(self.k):
            edits, held_tokens, held_starts = revisions[at]
            self.fill(&self.sides[at], edits, held_tokens, held_starts)

    def __dealloc__(self):
        free(self.sides)

    cdef int fill(self, Side* side, edits, tokens, starts) except -1:
        side.edits = self.hold(edits)
        side.n_edits = 0 if edits is None else len(edits) // 4
        side.tokens = self.hold(tokens)
        side.starts = self.hold(starts)
        return 0

    cdef const int32_t* hold(self, values) except? NULL:
        cdef const int32_t[::1] view
        if values is None or not len(values):
            return NULL
        view = values
        self.held.append(view)
        return &view[0]

    cdef int pair(self, Py_ssize_t i, Py_ssize_t j, Regions* regions, Trie* trie,
                  double* value) noexcept nogil:
        cdef const Side* a = &self.sides[i]
        cdef const Side* b = &self.sides[j]
        cdef int64_t counts[FIELDS]
        cdef int status = merge(a.edits, a.n_edits, b.edits, b.n_edits, regions)
        if status == OK:
            if self.origin.starts is not NULL:
                to_tokens(regions, self.origin.starts, a.starts, b.starts)
            status = count_regions(
                regions.data, regions.n, self.origin.tokens, a.tokens, b.tokens, trie, counts)
        if status == OK:
            value[0] = formula(counts, False)
        return status

    def rows(self, Py_ssize_t start, Py_ssize_t step, double[:, ::1] values not None,
             CancelFlag cancel=None):
        """Score the pairs (i, j), j > i, of every step-th row from `start` on, without the GIL.

        Writes both values[i, j] and values[j, i], and only where they are NaN: a caller decides the
        guarded pairs beforehand.
        """
        cdef Regions regions
        cdef Trie trie
        cdef Py_ssize_t i = start, j
        cdef int status = OK
        cdef double value
        cdef const Stop* stop = NULL if cancel is None else &cancel.stop
        memset(&regions, 0, sizeof(Regions))
        memset(&trie, 0, sizeof(Trie))
        with nogil:
            while i < self.k and status == OK:
                for j in range(i + 1, self.k):
                    if values[i, j] == values[i, j]:
                        continue
                    status = self.pair(i, j, &regions, &trie, &value)
                    if status != OK:
                        break
                    values[i, j] = value
                    values[j, i] = value
                if stopped(stop, 0):
                    status = CANCELLED
                i += step
            free(regions.data)
            free_trie(&trie)
        if status == NO_MEMORY:
            raise MemoryError("excise: out of memory while scoring pairs")
        if status == CANCELLED:
            raise Cancelled("cancelled while scoring pairs")
