# cython: language_level=3
"""C interface of the canonical alignment kernel."""
from libc.stdint cimport int32_t, int64_t

cdef enum:
    OK = 0
    NO_MEMORY = -1
    CANCELLED = -2

cdef enum Engine:
    AUTO = 0
    MYERS = 1
    BITS = 2
    CHECKPOINTS = 3

cdef struct Edits:
    # Maximal unmatched runs, ascending: quadruples o_lo, o_hi, a_lo, a_hi.
    int32_t* data
    Py_ssize_t n
    Py_ssize_t capacity

cdef struct Stop:
    volatile int raised
    double deadline       # of the monotonic clock, in seconds; 0: none

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

cdef bint stopped(const Stop* stop, Py_ssize_t step) noexcept nogil
cdef int push(Edits* edits, int32_t o_lo, int32_t o_hi, int32_t a_lo, int32_t a_hi) noexcept nogil
cdef void clear_work(Work* work) noexcept nogil
cdef int canonical(
    const int32_t* o, int32_t n, const int32_t* a, int32_t m,
    int32_t o_base, int32_t a_base, Edits* edits, Work* work
) noexcept nogil

cdef class CancelFlag:
    cdef Stop stop
