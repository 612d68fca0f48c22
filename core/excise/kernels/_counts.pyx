"""Divergent regions of a pair, their counts, and the scores of many pairs, without the GIL.

A pair is two edit lists over the same origin: merging them gives its regions at a cost that does
not depend on the length of the files. The regions of a pair ascend, and each lies in one hunk: so
those of a hunk are side by side, and are counted as the whole pair is, with the places that they
have in the whole pair.
"""
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memset

from array import array

from excise.errors import Cancelled

from excise.kernels._formula cimport ANYWHERE, HERE, WHOLE, Double2, formula, operation
from excise.kernels._ngrams cimport (
    ADD, CELL, DELETE, FIELDS, KEEP, ORDERS, Trie, count_regions, free_trie,
)
from excise.kernels._places cimport (
    MISNUMBERED, Places, free_places, link_numbered, link_places, root_of,
)
from excise.kernels._tables cimport make_room
from excise.kernels._walk cimport CANCELLED, NO_MEMORY, OK, CancelFlag, Stop, stopped


cdef struct Regions:
    int32_t* data         # six token places each: from and to in O, A and B
    Py_ssize_t n
    int64_t capacity


cdef struct Side:
    const int32_t* edits
    Py_ssize_t n_edits
    const int32_t* tokens
    const int32_t* starts     # unit -> first token; NULL when units are tokens


cdef struct Scratch:
    Regions regions
    Places places
    Trie trie


cdef struct Standing:
    # What a pair has in common, by three readings of "in common" (section 4a).
    double value
    double anchored
    double anywhere
    double a_in_b             # n-grams added and deleted that the other has at the same place
    double b_in_a


# Regions of a pair: the star alignment conserves an origin position iff both revisions keep it.

cdef int merge(
    const int32_t* ea, Py_ssize_t na, const int32_t* eb, Py_ssize_t nb, Regions* out
) noexcept nogil:
    """Merge two edit lists (of na and nb runs); runs that touch in O share a region."""
    cdef Py_ssize_t i = 0, j = 0
    cdef int32_t shift_a = 0, shift_b = 0, low, high
    cdef int32_t* region
    out.n = 0
    if make_room(<void**>&out.data, 6 * (na + nb), &out.capacity, sizeof(int32_t)) != 0:
        return NO_MEMORY
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

    - ``regions``: six token places a region: o_lo, o_hi, a_lo, a_hi, b_lo, b_hi.
    - ``lines``: the line of every origin token; lines with tokens are numbered without gaps.
    - ``o``, ``a``, ``b``: the tokens as ints.
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

    - ``regions``: six token places a region: o_lo, o_hi, a_lo, a_hi, b_lo, b_hi.
    - ``o``, ``a``, ``b``: the tokens as ints.
    - ``numbers``: the place of every region, as `number_places` has it, to count add and delete
      place by place; None: pooled, as if all regions were one place.
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


# What every pair does in every hunk.

cdef struct Entry:
    # One pair in one hunk; the layout that `excise.hunk_pairs` reads.
    int32_t first             # places of the two revisions in the batch
    int32_t second
    int64_t hunk
    double value
    double keep               # -1: not defined, as add and delete
    double add
    double delete
    double share


cdef struct Entries:
    Entry* data
    Py_ssize_t n
    int64_t capacity


cdef int64_t n_grams(int64_t length) noexcept nogil:
    """How many 1- to 4-grams a segment of so many tokens holds."""
    cdef int64_t orders = min(length, 4)
    return orders * (length + 1) - orders * (orders + 1) // 2


cdef int64_t size_of(const int32_t* region) noexcept nogil:
    return (n_grams(region[1] - region[0]) + n_grams(region[3] - region[2])
            + n_grams(region[5] - region[4]))


cdef bint is_alike(
    const int32_t* region, const int32_t* a, const int32_t* b
) noexcept nogil:
    """Whether both revisions have the same tokens in a region."""
    cdef int32_t length = region[3] - region[2]
    if length != region[5] - region[4]:
        return False
    return not length or not memcmp(a + region[2], b + region[4], length * sizeof(int32_t))


cdef double nearest(const int64_t* counts) noexcept nogil:
    cdef Double2 value
    return value.high if operation(counts, HERE, ANYWHERE, &value) else -1.0


cdef struct Inside:
    # The places of the regions in one hunk; grown on demand.
    Places places
    int32_t* numbers
    int64_t capacity


cdef int link_inside(
    Places* whole, Py_ssize_t low, Py_ssize_t high, Inside* inside
) noexcept nogil:
    """Link the regions `low` to `high` of a pair by the places that they have in the pair."""
    cdef int32_t at, first, root, known = 0
    if make_room(<void**>&inside.numbers, high - low, &inside.capacity, sizeof(int32_t)) != 0:
        return NO_MEMORY
    for at in range(<int32_t>low, <int32_t>high):
        # The tail of a place is its last region, `at` or later, until it is its first one here.
        root = root_of(whole.parent, at)
        first = whole.tail[root]
        if low <= first < at:
            inside.numbers[at - low] = inside.numbers[first - low]
        else:
            whole.tail[root] = at
            inside.numbers[at - low] = known
            known += 1
    return link_numbered(inside.numbers, high - low, &inside.places)


cdef class Batch:
    """The revisions of one origin, ready to be scored pair by pair.

    - ``tokens``, ``starts``: the origin's tokens and, at `line`, the first token of every unit (and
      one past the last).
    - ``revisions``: for each: its edits, its tokens, its starts (or None).
    - ``lines``: the line of every origin token, to count place by place; None: pooled.
    """
    cdef Side* sides
    cdef Side origin
    cdef Py_ssize_t k
    cdef int32_t n_tokens
    cdef const int32_t* lines
    cdef bint pooled
    cdef list held

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
            standing.value = formula(counts, HERE, ANYWHERE)
            standing.anchored = standing.anywhere = standing.value
            if matches_elsewhere(counts):
                standing.anchored = formula(counts, WHOLE, 0)
                standing.anywhere = formula(counts, 0, WHOLE)
            contain(counts, standing)
        return status

    def rows(self, Py_ssize_t start, Py_ssize_t step, double[:, :, ::1] standings not None,
             CancelFlag cancel=None):
        """Score the pairs (i, j), j > i, of every step-th row from `start` on, without the GIL.

        - ``standings``: 4 x k x k: value, anchored, anywhere, and how much of i is in j. Of a pair
          without a defined operation the first three are -1. The diagonal stays as it is.
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

    cdef int count_inside(self, const Side* a, const Side* b, Py_ssize_t low, Py_ssize_t high,
                          Scratch* scratch, Inside* inside, Entry* entry) noexcept nogil:
        """Fill the numbers of the regions `low` to `high` of a pair."""
        cdef int64_t counts[FIELDS]
        cdef const int32_t* region = scratch.regions.data + 6 * low
        cdef const int32_t* following = NULL
        cdef Py_ssize_t n_places = 1, at
        cdef int status = OK
        if not self.pooled and high - low > 1:
            status = link_inside(&scratch.places, low, high, inside)
            following = inside.places.following
            n_places = inside.places.n
        if status == OK:
            status = count_regions(
                region, high - low, following, n_places,
                self.origin.tokens, a.tokens, b.tokens, &scratch.trie, counts)
        if status != OK:
            return status
        entry.value = formula(counts, HERE, ANYWHERE)
        entry.keep = nearest(counts + KEEP)
        entry.add = nearest(counts + ADD)
        entry.delete = nearest(counts + DELETE)
        if entry.value < 0:
            # Tokens only changed their order: 1 if they did alike, else 0.
            entry.value = 1.0
            for at in range(high - low):
                if not is_alike(region + 6 * at, a.tokens, b.tokens):
                    entry.value = 0.0
        return OK

    cdef int pair_by_hunk(
        self, Py_ssize_t i, Py_ssize_t j, const int32_t* starts, Py_ssize_t n_hunks,
        Scratch* scratch, Inside* inside, Entries* out
    ) noexcept nogil:
        """Add an entry for each hunk that holds regions of a pair."""
        cdef const Side* a = &self.sides[i]
        cdef const Side* b = &self.sides[j]
        cdef Py_ssize_t low = 0, high, n, at, before = out.n, hunk = 0
        cdef int64_t size, total = 0
        cdef int32_t* regions
        cdef Entry* entry
        cdef int status = self.link(a, b, scratch)
        n = scratch.regions.n
        regions = scratch.regions.data
        if status == OK:
            status = make_room(<void**>&out.data, out.n + n, &out.capacity, sizeof(Entry))
        while status == OK and low < n:
            while hunk + 1 < n_hunks and starts[hunk + 1] <= regions[6 * low]:
                hunk += 1
            size = 0
            high = low
            while high < n and (
                hunk + 1 == n_hunks or regions[6 * high] < starts[hunk + 1]
            ):
                size += size_of(regions + 6 * high)
                high += 1
            if size:
                entry = out.data + out.n
                entry.first = <int32_t>i
                entry.second = <int32_t>j
                entry.hunk = hunk
                entry.share = <double>size
                status = self.count_inside(a, b, low, high, scratch, inside, entry)
                out.n += 1
                total += size
            low = high
        for at in range(before, out.n):
            out.data[at].share /= <double>total
        return status

    def by_hunk(self, const int32_t[::1] starts not None, const uint8_t[:, ::1] wanted not None,
                CancelFlag cancel=None):
        """Count the wanted pairs (i, j), j > i, in every hunk that holds regions of them.

        - ``starts``: the first token of each hunk in the origin, ascending.
        - ``wanted``: k x k: which pairs.

        Returns: entries in the order of the pairs, then of the hunks: int32 i and j, int64 hunk,
        and as doubles the value, keep, add and delete (-1: not defined), and the part of all
        n-grams of the pair's regions that lie in the hunk.
        """
        cdef Scratch scratch
        cdef Inside inside
        cdef Entries out
        cdef Py_ssize_t i, j, n_hunks = starts.shape[0]
        cdef int status = OK
        cdef const int32_t* first = &starts[0] if n_hunks else NULL
        cdef const Stop* stop = NULL if cancel is None else &cancel.stop
        if wanted.shape[0] != self.k or wanted.shape[1] != self.k:
            raise ValueError("wanted is an entry for each pair")
        memset(&scratch, 0, sizeof(Scratch))
        memset(&inside, 0, sizeof(Inside))
        memset(&out, 0, sizeof(Entries))
        try:
            with nogil:
                for i in range(self.k if n_hunks else 0):
                    for j in range(i + 1, self.k):
                        if status == OK and wanted[i, j]:
                            status = self.pair_by_hunk(
                                i, j, first, n_hunks, &scratch, &inside, &out)
                    if status == OK and stopped(stop, 0):
                        status = CANCELLED
                    if status != OK:
                        break
            if status == NO_MEMORY:
                raise MemoryError("excise: out of memory while counting hunks")
            if status == CANCELLED:
                raise Cancelled("cancelled while counting hunks")
            return PyBytes_FromStringAndSize(<char*>out.data, out.n * sizeof(Entry))
        finally:
            free_scratch(&scratch)
            free_places(&inside.places)
            free(inside.numbers)
            free(out.data)
