# cython: language_level=3
"""What the engines share: the edits found, scratch memory, the flag to stop, the walk back."""
from libc.stdint cimport int32_t, int64_t

cdef enum:
    OK = 0
    NO_MEMORY = -1
    CANCELLED = -2
    TOO_FAR = 1           # more edits than an engine was allowed

cdef struct Edits:
    # Maximal unmatched runs, ascending: quadruples o_lo, o_hi, a_lo, a_hi.
    int32_t* data
    Py_ssize_t n
    Py_ssize_t capacity

cdef struct Stop:
    volatile int raised
    double deadline       # in seconds; 0: none
    bint cpu              # of the thread's own CPU time, not of the monotonic clock

cdef struct Work:
    # Counts of what was done, so that a slow path cannot hide behind a fast machine.
    int64_t diagonals
    int64_t words
    # Scratch, grown on demand and reused from call to call.
    int32_t* rows
    Py_ssize_t rows_capacity
    int32_t* slots
    Py_ssize_t n_slots
    const Stop* stop
    int engine

cdef struct Walk:
    Edits* edits
    int32_t o_base
    int32_t a_base
    const int32_t* o_places   # places in the whole sequences, when symbols were dropped
    const int32_t* a_places
    int32_t o_end             # the unmatched run that is open ends here (exclusive)
    int32_t a_end
    int status


cdef bint stopped(const Stop* stop, Py_ssize_t step) noexcept nogil
cdef int push(Edits* edits, int32_t o_lo, int32_t o_hi, int32_t a_lo, int32_t a_hi) noexcept nogil
cdef void reverse(Edits* edits, Py_ssize_t start) noexcept nogil
cdef void clear_work(Work* work) noexcept nogil
cdef void finish(Walk* walk) noexcept nogil


cdef class CancelFlag:
    cdef Stop stop


cdef inline void match(Walk* walk, int32_t i, int32_t j, int32_t length) noexcept nogil:
    """Take the matched run O[i:i+length] = A[j:j+length]; called from the end of the table."""
    cdef int32_t o_place, a_place
    if walk.o_places is NULL:
        if (i + length != walk.o_end or j + length != walk.a_end) and walk.status == OK:
            walk.status = push(
                walk.edits, walk.o_base + i + length, walk.o_base + walk.o_end,
                walk.a_base + j + length, walk.a_base + walk.a_end)
        walk.o_end = i
        walk.a_end = j
        return
    while length > 0:
        length -= 1
        o_place = walk.o_places[i + length]
        a_place = walk.a_places[j + length]
        if (o_place + 1 != walk.o_end or a_place + 1 != walk.a_end) and walk.status == OK:
            walk.status = push(
                walk.edits, walk.o_base + o_place + 1, walk.o_base + walk.o_end,
                walk.a_base + a_place + 1, walk.a_base + walk.a_end)
        walk.o_end = o_place
        walk.a_end = a_place
