# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""What the engines share: the edits found, scratch memory, the flag to stop.

An engine calls `match` (in the .pxd) with each matched run, from the end of the table; the gaps
between them are the edits.
"""
from libc.stdint cimport int32_t
from libc.stdlib cimport free, realloc

from excise.errors import Cancelled

cdef extern from *:
    """
    #include <time.h>
    static double excise_now(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    }
    static double excise_cpu(void) {
        struct timespec now;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    }
    """
    double excise_now() noexcept nogil
    double excise_cpu() noexcept nogil


cdef class CancelFlag:
    """A flag that kernels poll while they run without the GIL.

    Raise it from any thread; the kernel then stops within a row and raises `Cancelled`. With
    `seconds` it raises itself that much later: by the clock, or with `cpu` by what the thread that
    made it has worked, which no load changes (then only that thread may look).
    """

    def __cinit__(self, seconds=None, *, cpu=False):
        self.stop.raised = 0
        self.stop.cpu = cpu
        self.stop.deadline = 0.0
        if seconds is not None:
            self.stop.deadline = (excise_cpu() if cpu else excise_now()) + max(seconds, 1e-9)

    def cancel(self):
        """Ask every kernel that holds this flag to stop."""
        self.stop.raised = 1

    @property
    def cancelled(self):
        """Whether `cancel` was called, or the time is over."""
        return stopped(&self.stop, 0)

    @property
    def timed_out(self):
        """Whether the time is over, and nobody called `cancel`."""
        return not self.stop.raised and bool(stopped(&self.stop, 0))

    def check(self):
        """Raise `Cancelled` if the flag is up: for the steps between kernels."""
        if stopped(&self.stop, 0):
            raise Cancelled("cancelled")


cdef bint stopped(const Stop* stop, Py_ssize_t step) noexcept nogil:
    """Whether to stop; the clock is read at every 32nd step only."""
    if stop is NULL:
        return False
    if stop.raised:
        return True
    if stop.deadline <= 0 or step & 31:
        return False
    return (excise_cpu() if stop.cpu else excise_now()) > stop.deadline


cdef int push(
    Edits* edits, int32_t o_lo, int32_t o_hi, int32_t a_lo, int32_t a_hi
) noexcept nogil:
    """Append one run; NO_MEMORY when it cannot grow."""
    cdef int32_t* grown
    cdef Py_ssize_t capacity
    if edits.n + 4 > edits.capacity:
        capacity = 2 * edits.capacity + 64
        grown = <int32_t*>realloc(edits.data, capacity * sizeof(int32_t))
        if grown is NULL:
            return NO_MEMORY
        edits.data = grown
        edits.capacity = capacity
    edits.data[edits.n] = o_lo
    edits.data[edits.n + 1] = o_hi
    edits.data[edits.n + 2] = a_lo
    edits.data[edits.n + 3] = a_hi
    edits.n += 4
    return OK


cdef void reverse(Edits* edits, Py_ssize_t start) noexcept nogil:
    """Turn the runs from `start` on around: engines walk from the end."""
    cdef int32_t* low = edits.data + start
    cdef int32_t* high = edits.data + edits.n - 4
    cdef int32_t held
    cdef int field
    while low < high:
        for field in range(4):
            held = low[field]
            low[field] = high[field]
            high[field] = held
        low += 4
        high -= 4


cdef void clear_work(Work* work) noexcept nogil:
    """Free the scratch memory."""
    free(work.rows)
    free(work.slots)
    work.rows = NULL
    work.slots = NULL
    work.rows_capacity = work.n_slots = 0


cdef void finish(Walk* walk) noexcept nogil:
    """Push the run before the first match."""
    if (walk.o_end or walk.a_end) and walk.status == OK:
        walk.status = push(
            walk.edits, walk.o_base, walk.o_base + walk.o_end,
            walk.a_base, walk.a_base + walk.a_end)
