# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Divergent regions of a pair, their counts, and the scores of many pairs, without the GIL.

A pair is two edit lists over the same origin: merging them gives its regions at a cost that does
not depend on the length of the files.
"""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset

from array import array

from excise.errors import Cancelled

from excise._formula cimport formula
from excise._ngrams cimport FIELDS, Trie, count_regions, free_trie
from excise._walk cimport CANCELLED, NO_MEMORY, OK, CancelFlag, Stop, stopped


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
