"""The flag that stops work, and what alignments need: the edits found, scratch memory."""
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
    int64_t capacity

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
    int64_t rows_capacity
    int32_t* slots
    Py_ssize_t n_slots
    const Stop* stop
    int engine

cdef int check(int status, str doing) except -1
cdef bint stopped(const Stop* stop, Py_ssize_t step) noexcept nogil
cdef void clear_work(Work* work) noexcept nogil


cdef class CancelFlag:
    cdef Stop stop


cdef inline const int32_t* start_of(const int32_t[::1] values) noexcept nogil:
    """The first of some ints; NULL where there are none."""
    return &values[0] if values.shape[0] else NULL
