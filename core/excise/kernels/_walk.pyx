"""The flag that stops work, and the scratch memory of alignments."""
from libc.stdlib cimport free

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


cdef void clear_work(Work* work) noexcept nogil:
    """Free the scratch memory."""
    free(work.rows)
    free(work.slots)
    work.rows = NULL
    work.slots = NULL
    work.rows_capacity = work.n_slots = 0


cdef int check(int status, str doing) except -1:
    """Raise what a status of a kernel says."""
    if status == NO_MEMORY:
        raise MemoryError(f"excise: out of memory while {doing}")
    if status == CANCELLED:
        raise Cancelled(f"cancelled while {doing}")
    return 0
