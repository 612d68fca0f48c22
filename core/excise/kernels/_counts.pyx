# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Divergent regions of a pair, their counts, and the scores of many pairs, without the GIL.

A pair is two edit lists over the same origin: merging them gives its regions at a cost that does
not depend on the length of the files. Over 300 lines: the scores of many pairs run these loops with
one scratch memory, which C interfaces would have to pass.
"""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from array import array

from excise.errors import Cancelled

from excise.kernels._formula cimport ANYWHERE, HERE, WHOLE, formula
from excise.kernels._ngrams cimport ADD, CELL, FIELDS, ORDERS, Trie, count_regions, free_trie
from excise.kernels._places cimport (
    MISNUMBERED, Places, free_places, link_numbered, link_places, root_of,
)
from excise.kernels._walk cimport CANCELLED, NO_MEMORY, OK, CancelFlag, Stop, stopped


# Regions of a pair: the star alignment conserves an origin position iff both revisions keep it.

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


def number_places(
    const int32_t[::1] regions not None, const int32_t[::1] lines not None,
    const int32_t[::1] o not None, const int32_t[::1] a not None, const int32_t[::1] b not None
):
    """Return the number of the place of every region: 0, 1, .. in the order of their first regions.

    Parameters
    ----------
    regions
        Six token places a region: o_lo, o_hi, a_lo, a_hi, b_lo, b_hi.
    lines
        The line of every origin token; lines with tokens are numbered without gaps.
    o, a, b
        The tokens as ints.
    """
    cdef Places places
    cdef int32_t i, known = 0
    cdef Py_ssize_t n = regions.shape[0] // 6
    cdef int status
    cdef const int32_t* pl = &lines[0] if lines.shape[0] else NULL
    cdef const int32_t* po = &o[0] if o.shape[0] else NULL
    cdef const int32_t* pa = &a[0] if a.shape[0] else NULL
    cdef const int32_t* pb = &b[0] if b.shape[0] else NULL
    if n == 0:
        return array("i")
    memset(&places, 0, sizeof(Places))
    status = link_places(&regions[0], n, pl, <int32_t>lines.shape[0], po, pa, pb, &places)
    try:
        if status == NO_MEMORY:
            raise MemoryError("excise: out of memory while joining regions to places")
        numbers = []
        for i in range(<int32_t>n):
            if places.parent[i] == i:
                numbers.append(known)
                known += 1
            else:
                numbers.append(numbers[root_of(places.parent, i)])
        return array("i", numbers)
    finally:
        free_places(&places)


def count(const int32_t[::1] regions not None, const int32_t[::1] o not None,
          const int32_t[::1] a not None, const int32_t[::1] b not None,
          const int32_t[::1] numbers=None):
    """Return the 48 counts of a pair: keep, add, delete x order 1..4 x (here, a, b, anywhere).

    Parameters
    ----------
    regions
        Six token places a region: o_lo, o_hi, a_lo, a_hi, b_lo, b_hi.
    o, a, b
        The tokens as ints.
    numbers
        The place of every region, as `number_places` has it, to count add and delete place by
        place; None: pooled, as if all regions were one place.
    """
    cdef Trie trie
    cdef Places places
    cdef int64_t counts[FIELDS]
    cdef int status = OK
    cdef Py_ssize_t n = regions.shape[0] // 6
    cdef const int32_t* pn = NULL if numbers is None or not numbers.shape[0] else &numbers[0]
    cdef const int32_t* pr = &regions[0] if n else NULL
    cdef const int32_t* po = &o[0] if o.shape[0] else NULL
    cdef const int32_t* pa = &a[0] if a.shape[0] else NULL
    cdef const int32_t* pb = &b[0] if b.shape[0] else NULL
    if numbers is not None and numbers.shape[0] != n:
        raise ValueError("every region needs the number of its place")
    memset(&trie, 0, sizeof(Trie))
    memset(&places, 0, sizeof(Places))
    with nogil:
        if pn is not NULL:
            status = link_numbered(pn, n, &places)
        if status == OK:
            status = count_regions(
                pr, n, places.following, places.n, po, pa, pb, &trie, counts)
        free_trie(&trie)
        free_places(&places)
    if status == NO_MEMORY:
        raise MemoryError("excise: out of memory while counting n-grams")
    if status == MISNUMBERED:
        raise ValueError("places are numbered 0, 1, .. in the order of their first regions")
    return tuple([counts[field] for field in range(FIELDS)])


PLACED = (HERE, ANYWHERE)
"""What counts where it stands, and wherever it stands, of their sum."""


def value(counts, bint precision=False):
    """Return equation 3 of 48 counts as a float, correctly rounded; 1 where nothing is defined."""
    cdef int64_t held[FIELDS]
    cdef int field
    cdef double result
    for field in range(FIELDS):
        held[field] = counts[field]
    result = formula(held, HERE, ANYWHERE, precision)
    return 1.0 if result < 0 else result


# ------------------------------------------------------------------------------------------------
# Many pairs: rows of the upper triangle, each free of the GIL.

cdef void free_scratch(Scratch* scratch) noexcept nogil:
    free(scratch.regions.data)
    free_places(&scratch.places)
    free_trie(&scratch.trie)


cdef bint matches_elsewhere(const int64_t* counts) noexcept nogil:
    cdef int cell
    for cell in range(ORDERS, 3 * ORDERS):
        if counts[CELL * cell] != counts[CELL * cell + 3]:
            return True
    return False


cdef void contain(const int64_t* counts, Standing* standing) noexcept nogil:
    """Containment (section 6a): 0 for a revision that adds and deletes nothing."""
    cdef int64_t here = 0, by_a = 0, by_b = 0
    cdef const int64_t* changed = counts + ADD
    cdef int cell
    for cell in range(2 * ORDERS):
        here += changed[CELL * cell]
        by_a += changed[CELL * cell + 1]
        by_b += changed[CELL * cell + 2]
    standing.a_in_b = <double>here / <double>by_a if by_a else 0.0
    standing.b_in_a = <double>here / <double>by_b if by_b else 0.0


cdef class Batch:
    """The revisions of one origin, ready to be scored pair by pair.

    Parameters
    ----------
    tokens, starts
        The origin's tokens and, at `line`, the first token of every unit (and one past the last).
    revisions
        For each: its edits, its tokens, its starts (or None).
    lines
        The line of every origin token, to count place by place; None: pooled.
    """
    def __cinit__(self, tokens, starts, list revisions, lines=None):
        cdef Py_ssize_t i
        self.k = len(revisions)
        self.held = []
        self.sides = <Side*>calloc(self.k + 1, sizeof(Side))
        if self.sides is NULL:
            raise MemoryError("excise: out of memory while preparing the matrix")
        self.pooled = lines is None
        self.n_tokens = <int32_t>len(tokens)
        if lines is not None and len(lines) != len(tokens):
            raise ValueError("every token of the origin needs its line")
        self.lines = self.hold(lines)
        self.fill(&self.origin, None, tokens, starts)
        for i in range(self.k):
            edits, held_tokens, held_starts = revisions[i]
            self.fill(&self.sides[i], edits, held_tokens, held_starts)

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

    cdef int link(self, const Side* a, const Side* b, Scratch* scratch) noexcept nogil:
        """Find the regions of a pair, and which of them share a place."""
        cdef Regions* regions = &scratch.regions
        cdef int status = merge(a.edits, a.n_edits, b.edits, b.n_edits, regions)
        if status == OK and self.origin.starts is not NULL:
            to_tokens(regions, self.origin.starts, a.starts, b.starts)
        if status == OK and not self.pooled:
            status = link_places(regions.data, regions.n, self.lines, self.n_tokens,
                                 self.origin.tokens, a.tokens, b.tokens, &scratch.places)
        return status

    cdef int pair(self, Py_ssize_t i, Py_ssize_t j, Scratch* scratch,
                  Standing* standing) noexcept nogil:
        cdef const Side* a = &self.sides[i]
        cdef const Side* b = &self.sides[j]
        cdef Regions* regions = &scratch.regions
        cdef Places* places = &scratch.places
        cdef int64_t counts[FIELDS]
        cdef int status = self.link(a, b, scratch)
        if status == OK:
            status = count_regions(
                regions.data, regions.n, NULL if self.pooled else places.following, places.n,
                self.origin.tokens, a.tokens, b.tokens, &scratch.trie, counts)
        if status == OK:
            standing.value = formula(counts, HERE, ANYWHERE, False)
            standing.anchored = standing.anywhere = standing.value
            if matches_elsewhere(counts):
                standing.anchored = formula(counts, WHOLE, 0, False)
                standing.anywhere = formula(counts, 0, WHOLE, False)
            contain(counts, standing)
        return status

    def rows(self, Py_ssize_t start, Py_ssize_t step, double[:, :, ::1] standings not None,
             CancelFlag cancel=None):
        """Score the pairs (i, j), j > i, of every step-th row from `start` on, without the GIL.

        Parameters
        ----------
        standings
            4 x k x k: value, anchored, anywhere, and how much of i is in j. Of a pair without a
            defined operation the first three are -1. The diagonal stays as it is.
        """
        cdef Scratch scratch
        cdef Standing standing
        cdef Py_ssize_t i = start, j
        cdef int status = OK
        cdef const Stop* stop = NULL if cancel is None else &cancel.stop
        memset(&scratch, 0, sizeof(Scratch))
        with nogil:
            while i < self.k and status == OK:
                for j in range(i + 1, self.k):
                    status = self.pair(i, j, &scratch, &standing)
                    if status != OK:
                        break
                    standings[0, i, j] = standings[0, j, i] = standing.value
                    standings[1, i, j] = standings[1, j, i] = standing.anchored
                    standings[2, i, j] = standings[2, j, i] = standing.anywhere
                    standings[3, i, j] = standing.a_in_b
                    standings[3, j, i] = standing.b_in_a
                if stopped(stop, 0):
                    status = CANCELLED
                i += step
            free_scratch(&scratch)
        if status == NO_MEMORY:
            raise MemoryError("excise: out of memory while scoring pairs")
        if status == CANCELLED:
            raise Cancelled("cancelled while scoring pairs")
