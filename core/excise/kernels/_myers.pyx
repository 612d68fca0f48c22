# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""MYERS: greedy alignment by furthest-reaching points, every row kept: O(N + D^2)."""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport realloc

from excise.kernels._common cimport excise_common
from excise.kernels._walk cimport CANCELLED, NO_MEMORY, OK, TOO_FAR, Walk, Work, match, stopped

# rows[d] holds, for the diagonals k = i - j = -d, -d + 2, .., d, the furthest i whose cell
# (i, i - k) is at most d edits away from (0, 0).

cdef enum:
    UNREACHED = -1000000000


cdef inline int32_t* row_of(Work* work, int32_t d) noexcept nogil:
    # Rows are padded by one unreached diagonal on each side: d + 3 places from (d^2 + 5 d) / 2.
    return work.rows + (<int64_t>d * (d + 5)) // 2 + 1


cdef int reserve_row(Work* work, int32_t d) noexcept nogil:
    cdef Py_ssize_t needed = (<int64_t>(d + 1) * (d + 6)) // 2 + 1
    cdef Py_ssize_t capacity
    cdef int32_t* grown
    if needed > work.rows_capacity:
        capacity = 2 * needed + 1024
        grown = <int32_t*>realloc(work.rows, capacity * sizeof(int32_t))
        if grown is NULL:
            return NO_MEMORY
        work.rows = grown
        work.rows_capacity = capacity
    return OK


cdef int hopeless(
    const int32_t* row, int32_t d, int32_t low, int32_t high, int64_t total, int32_t limit
) noexcept nogil:
    """Whether the furthest point of a row, extrapolated, needs far more than `limit` edits."""
    cdef int64_t best = 1, reach
    cdef int32_t k
    for k in range(low, high + 1, 2):
        reach = 2 * <int64_t>row[(k + d) >> 1] - k
        if reach > best:
            best = reach
    return <int64_t>d * total > 2 * best * limit


cdef int myers(
    const int32_t* o, int32_t n, const int32_t* a, int32_t m, int32_t limit, Work* work, Walk* walk
) noexcept nogil:
    """Align by furthest-reaching points; TOO_FAR when more than `limit` edits are needed."""
    cdef int32_t d = 0, k, i, j, low, high, bound, goal = n - m
    cdef int32_t* row
    cdef int32_t* before
    cdef int status = reserve_row(work, 0)
    if status != OK:
        return status
    row = row_of(work, 0)
    (row - 1)[0] = UNREACHED
    row[1] = UNREACHED
    row[0] = excise_common(o, a, n if n < m else m)
    if row[0] == n and n == m:
        match(walk, 0, 0, n)
        return OK
    while True:
        d += 1
        if d > limit:
            return TOO_FAR
        if stopped(work.stop, d):
            return CANCELLED
        status = reserve_row(work, d)
        if status != OK:
            return status
        row = row_of(work, d)
        before = row_of(work, d - 1)
        low = -d if d <= m else -m + ((m ^ d) & 1)
        high = d if d <= n else n - ((n ^ d) & 1)
        # Diagonals outside the table stay unreached, and so do both ends of the padding.
        for k in range(-d - 2, low, 2):
            row[(k + d) >> 1] = UNREACHED
        for k in range(high + 2, d + 3, 2):
            row[(k + d) >> 1] = UNREACHED
        work.diagonals += (high - low) // 2 + 1
        for k in range(low, high + 1, 2):
            # before[k - 1] stands at ((k - 1) + (d - 1)) / 2, before[k + 1] one further
            i = before[((k + d) >> 1) - 1] + 1
            j = before[(k + d) >> 1]
            if j > i:
                i = j
            bound = n if n < m + k else m + k
            if i >= bound:
                i = bound
            else:
                j = i - k
                if o[i] == a[j]:
                    i += 1 + excise_common(o + i + 1, a + j + 1, bound - i - 1)
            row[(k + d) >> 1] = i
        if ((goal ^ d) & 1) == 0 and low <= goal <= high and row[(goal + d) >> 1] >= n:
            break
        if (d & (d - 1)) == 0 and d >= 64 and limit < n + m:
            if hopeless(row, d, low, high, <int64_t>n + m, limit):
                return TOO_FAR
    walk_rows(n, m, d, work, walk)
    return walk.status


cdef void walk_rows(int32_t n, int32_t m, int32_t d, Work* work, Walk* walk) noexcept nogil:
    """Walk back along the canonical path: a cell is d edits away iff its row reaches it."""
    cdef int32_t i = n, k = n - m, from_o, from_a, stop
    cdef int32_t* before
    while d > 0:
        before = row_of(work, d - 1)
        from_o = before[((k + d) >> 1) - 1] + 1    # dropping O[i - 1] is free up to this i
        from_a = before[(k + d) >> 1]              # dropping A[j - 1] is free up to this i
        stop = from_o if from_o > from_a else from_a
        if i > stop:
            match(walk, stop, stop - k, i - stop)
            i = stop
        if i <= from_o and i > 0:
            i -= 1
            k -= 1
        else:
            k += 1
        d -= 1
    if i > 0:
        match(walk, 0, 0, i)
