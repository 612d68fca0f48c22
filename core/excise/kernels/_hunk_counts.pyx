# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""What every pair does in every hunk: one pass over the regions of each pair, without the GIL.

The regions of a pair ascend, and each lies in one hunk. So those of a hunk stand side by side, and
are counted as the whole pair is, with the places that they have in the whole pair.
"""
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcmp, memset

from excise.errors import Cancelled

from excise.kernels._counts cimport Batch, Scratch, Side, free_scratch
from excise.kernels._formula cimport ANYWHERE, HERE, Double2, formula, operation
from excise.kernels._ngrams cimport ADD, DELETE, FIELDS, KEEP, count_regions
from excise.kernels._places cimport Places, free_places, link_numbered, root_of
from excise.kernels._walk cimport CANCELLED, NO_MEMORY, OK, CancelFlag, Stop, stopped


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
    Py_ssize_t capacity


cdef int reserve(Entries* entries, Py_ssize_t more) noexcept nogil:
    cdef Entry* grown
    cdef Py_ssize_t capacity = 2 * (entries.n + more)
    if entries.n + more <= entries.capacity:
        return OK
    grown = <Entry*>realloc(entries.data, capacity * sizeof(Entry))
    if grown is NULL:
        return NO_MEMORY
    entries.data = grown
    entries.capacity = capacity
    return OK


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
    return value.high if operation(counts, HERE, ANYWHERE, False, &value) else -1.0


cdef struct Inside:
    # The places of the regions in one hunk; grown on demand.
    Places places
    int32_t* numbers
    Py_ssize_t capacity


cdef int link_inside(
    Places* whole, Py_ssize_t low, Py_ssize_t high, Inside* inside
) noexcept nogil:
    """Link the regions `low` to `high` of a pair by the places that they have in the pair."""
    cdef int32_t at, first, root, known = 0
    cdef int32_t* grown
    if high - low > inside.capacity:
        grown = <int32_t*>realloc(inside.numbers, 2 * (high - low) * sizeof(int32_t))
        if grown is NULL:
            return NO_MEMORY
        inside.numbers = grown
        inside.capacity = 2 * (high - low)
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


cdef class HunkBatch(Batch):
    """The revisions of one origin, ready to be counted pair by pair in every hunk."""

    cdef int count(self, const Side* a, const Side* b, Py_ssize_t low, Py_ssize_t high,
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
        entry.value = formula(counts, HERE, ANYWHERE, False)
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
            status = reserve(out, n)
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
                status = self.count(a, b, low, high, scratch, inside, entry)
                out.n += 1
                total += size
            low = high
        for at in range(before, out.n):
            out.data[at].share /= <double>total
        return status

    def by_hunk(self, const int32_t[::1] starts not None, const uint8_t[:, ::1] wanted not None,
                CancelFlag cancel=None):
        """Count the wanted pairs (i, j), j > i, in every hunk that holds regions of them.

        Parameters
        ----------
        starts
            The first token of each hunk in the origin, ascending.
        wanted
            k x k: which pairs.

        Returns
        -------
        bytes
            Entries in the order of the pairs, then of the hunks: int32 i and j, int64 hunk, and as
            doubles the value, keep, add and delete (-1: not defined), and the part of all n-grams
            of the pair's regions that lie in the hunk.
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
