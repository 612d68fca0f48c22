# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Canonical alignment: one longest common subsequence, exactly the definition's, without the GIL.

The definition (section 2) strips the common prefix, then the common suffix of the rest, and walks
the table back from its end: drop from O if that loses nothing, else drop from A, else match.
Three engines return exactly that walk (docs/algorithm.md has the proofs; over 300 lines, as a
reader holds each against the one walk):

* MYERS keeps every row of furthest-reaching points: O(N + D^2);
* BITS keeps the bit-parallel rows of the table: O(N M / 64), for files with little in common;
* CHECKPOINTS is BITS that keeps every sqrt(M)-th row and computes the rest again.

Longer than most files: the choice of engine, dropping one-sided symbols and the nested alignment
share their scratch memory, and stand together so that one walk can be read from end to end.
"""
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from array import array

from excise.errors import Cancelled, OptionError

from excise.kernels._bits cimport bits
from excise.kernels._common cimport excise_common, excise_common_end
from excise.kernels._myers cimport myers
from excise.kernels._walk cimport (
    NO_MEMORY, CANCELLED, OK, TOO_FAR,
    CancelFlag, Edits, Walk, Work, clear_work, finish, push, reverse,
)

cdef enum Engine:
    AUTO = 0
    MYERS = 1
    BITS = 2
    CHECKPOINTS = 3

# Above this many bytes of table rows BITS gives way to CHECKPOINTS, and MYERS to BITS.
cdef Py_ssize_t ROWS_LIMIT = 8 << 20
# The largest length whose positions, sums of two lengths included, fit 32 bits.
MAX_LENGTH = (1 << 30) - 1


# ------------------------------------------------------------------------------------------------
# Symbols that stand on one side only never match and may go: the walk over the rest is the same.

cdef struct Reduced:
    int32_t n
    int32_t m
    int32_t symbols
    int32_t* memory      # o, a, places of o, places of a
    int32_t* o
    int32_t* a
    int32_t* o_places
    int32_t* a_places


cdef int reserve_slots(
    const int32_t* o, int32_t n, const int32_t* a, int32_t m, Work* work
) noexcept nogil:
    """Make a zeroed slot for every symbol; slots stay zero between calls."""
    cdef int32_t i, largest = 0
    for i in range(n):
        if o[i] > largest:
            largest = o[i]
    for i in range(m):
        if a[i] > largest:
            largest = a[i]
    if largest >= work.n_slots:
        free(work.slots)
        work.slots = <int32_t*>calloc(<size_t>largest + 1, sizeof(int32_t))
        work.n_slots = 0 if work.slots is NULL else <Py_ssize_t>largest + 1
        if work.slots is NULL:
            return NO_MEMORY
    return OK


cdef int reduce(
    const int32_t* o, int32_t n, const int32_t* a, int32_t m, Work* work, Reduced* out
) noexcept nogil:
    """Drop one-sided symbols and name the others 0, 1, .."""
    cdef int32_t i, slot
    cdef int32_t* slots
    out.memory = NULL
    if reserve_slots(o, n, a, m, work) != OK:
        return NO_MEMORY
    out.memory = <int32_t*>malloc(2 * (<size_t>n + m) * sizeof(int32_t) + 8)
    if out.memory is NULL:
        return NO_MEMORY
    out.o = out.memory
    out.a = out.o + n
    out.o_places = out.a + m
    out.a_places = out.o_places + n
    out.n = out.m = out.symbols = 0
    slots = work.slots
    for i in range(n):
        slots[o[i]] = -1                       # stands in O
    for i in range(m):
        slot = slots[a[i]]
        if slot == -1:
            out.symbols += 1
            slot = slots[a[i]] = out.symbols   # in both, named from 1
        if slot > 0:
            out.a[out.m] = slot - 1
            out.a_places[out.m] = i
            out.m += 1
    for i in range(n):
        slot = slots[o[i]]
        if slot > 0:
            out.o[out.n] = slot - 1
            out.o_places[out.n] = i
            out.n += 1
    for i in range(n):
        slots[o[i]] = 0
    for i in range(m):
        slots[a[i]] = 0
    return OK


cdef int32_t myers_limit(int32_t n, int32_t m) noexcept nogil:
    """Where the bit-parallel table is cheaper: D^2 > n m / 128, or the rows grow too large."""
    cdef int32_t by_time = <int32_t>sqrt(<double>n * m / 128) + 32
    cdef int32_t by_memory = <int32_t>sqrt(2.0 * ROWS_LIMIT / sizeof(int32_t))
    return by_time if by_time < by_memory else by_memory


cdef int align_core(
    const int32_t* o, int32_t n, const int32_t* a, int32_t m, Work* work, Walk* walk
) noexcept nogil:
    """Choose the engine for what is left between prefix and suffix."""
    cdef Reduced reduced
    cdef int status = TOO_FAR
    cdef bint checkpoints
    if work.engine == MYERS:
        return myers(o, n, a, m, n + m, work, walk)
    if work.engine == AUTO:
        status = myers(o, n, a, m, <int32_t>sqrt(<double>n + m) + 16, work, walk)
        if status != TOO_FAR:
            return status
    status = reduce(o, n, a, m, work, &reduced)
    if status == OK and reduced.n and reduced.m:
        walk.o_places = reduced.o_places
        walk.a_places = reduced.a_places
        status = TOO_FAR
        if work.engine == AUTO:
            status = myers(reduced.o, reduced.n, reduced.a, reduced.m,
                           myers_limit(reduced.n, reduced.m), work, walk)
        if status == TOO_FAR:
            checkpoints = (
                work.engine == CHECKPOINTS
                or (work.engine == AUTO
                    and <int64_t>reduced.m * ((reduced.n + 63) >> 6) * 8 > ROWS_LIMIT))
            status = bits(reduced.o, reduced.n, reduced.a, reduced.m, reduced.symbols,
                          checkpoints, work, walk)
        walk.o_places = walk.a_places = NULL
    free(reduced.memory)
    return status


cdef int canonical(
    const int32_t* o, int32_t n, const int32_t* a, int32_t m,
    int32_t o_base, int32_t a_base, Edits* edits, Work* work
) noexcept nogil:
    """Append the edits of the canonical alignment of O and A, places counted from the bases."""
    cdef int32_t shorter = n if n < m else m
    cdef int32_t prefix = excise_common(o, a, shorter)
    cdef int32_t suffix = excise_common_end(o + n, a + m, shorter - prefix)
    cdef Py_ssize_t start = edits.n
    cdef Walk walk
    cdef int status = OK
    n -= prefix + suffix
    m -= prefix + suffix
    if n == 0 and m == 0:
        return OK
    if n == 0 or m == 0:
        return push(edits, o_base + prefix, o_base + prefix + n, a_base + prefix,
                    a_base + prefix + m)
    walk.edits = edits
    walk.o_base = o_base + prefix
    walk.a_base = a_base + prefix
    walk.o_places = walk.a_places = NULL
    walk.o_end = n
    walk.a_end = m
    walk.status = OK
    status = align_core(o + prefix, n, a + prefix, m, work, &walk)
    if status == OK:
        finish(&walk)
        status = walk.status
        reverse(edits, start)
    return status


# ------------------------------------------------------------------------------------------------
# What Python sees.

cdef object as_array(Edits* edits):
    result = array("i")
    if edits.n:
        result.frombytes((<char*>edits.data)[:edits.n * sizeof(int32_t)])
    return result


cdef int check(int status) except -1:
    if status == NO_MEMORY:
        raise MemoryError("excise: out of memory while aligning")
    if status == CANCELLED:
        raise Cancelled("cancelled while aligning")
    return 0


cdef int check_length(Py_ssize_t n) except -1:
    if n > MAX_LENGTH:
        raise OptionError(f"a sequence of {n} units is too long; the limit is {MAX_LENGTH}")
    return 0


cdef object start_work(Work* work, str engine, CancelFlag cancel):
    memset(work, 0, sizeof(Work))
    engines = {"auto": AUTO, "myers": MYERS, "bits": BITS, "checkpoints": CHECKPOINTS}
    work.engine = engines[engine]
    work.stop = NULL if cancel is None else &cancel.stop


def edits(const int32_t[::1] o not None, const int32_t[::1] a not None, *,
          str engine="auto", CancelFlag cancel=None, list work_done=None):
    """Return the canonical edits of two int sequences as a flat array of o_lo, o_hi, a_lo, a_hi.

    Parameters
    ----------
    o, a
        Symbols as non-negative 32-bit ints, best counted from 0.
    engine
        For tests only: every engine returns the same.
    cancel
        Polled once per row.
    work_done
        Receives the number of diagonals and of 64-bit words that were computed.
    """
    cdef Edits found
    cdef Work work
    cdef int status
    cdef Py_ssize_t n = o.shape[0], m = a.shape[0]
    cdef const int32_t* po = &o[0] if n else NULL
    cdef const int32_t* pa = &a[0] if m else NULL
    check_length(n)
    check_length(m)
    memset(&found, 0, sizeof(Edits))
    start_work(&work, engine, cancel)
    with nogil:
        status = canonical(po, <int32_t>n, pa, <int32_t>m, 0, 0, &found, &work)
    try:
        check(status)
        if work_done is not None:
            work_done.extend((work.diagonals, work.words))
        return as_array(&found)
    finally:
        clear_work(&work)
        free(found.data)


# ------------------------------------------------------------------------------------------------
# Nested: lines first, then the tokens between matched lines.

cdef struct Written:
    # The lines that are not blank: their ids, and the first token and one past the last of each.
    int32_t* ids
    int32_t* bounds
    int32_t n
    int32_t n_tokens


cdef int written(
    const int32_t* ids, const int32_t* first, int32_t n, Written* out
) noexcept nogil:
    cdef int32_t line
    out.ids = <int32_t*>malloc(3 * <size_t>n * sizeof(int32_t) + 8)
    if out.ids is NULL:
        return NO_MEMORY
    out.bounds = out.ids + n
    out.n = 0
    out.n_tokens = first[n]
    for line in range(n):
        if ids[line] >= 0:
            out.ids[out.n] = ids[line]
            out.bounds[2 * out.n] = first[line]
            out.bounds[2 * out.n + 1] = first[line + 1]
            out.n += 1
    return OK


cdef int align_tokens(
    Edits* lines, Written* ol, Written* al, const int32_t* o, const int32_t* a,
    Edits* found, Work* work
) noexcept nogil:
    """Align the tokens between consecutive matched lines, those on blank lines included."""
    cdef Py_ssize_t at = 0
    cdef int32_t i = 0, j = 0, o_from = 0, a_from = 0, o_to, a_to
    cdef int status = OK
    while status == OK:
        if at < lines.n and lines.data[at] == i and lines.data[at + 2] == j:
            i = lines.data[at + 1]
            j = lines.data[at + 3]
            at += 4
        o_to = ol.bounds[2 * i] if i < ol.n else ol.n_tokens
        a_to = al.bounds[2 * j] if j < al.n else al.n_tokens
        if o_to > o_from or a_to > a_from:
            status = canonical(o + o_from, o_to - o_from, a + a_from, a_to - a_from,
                               o_from, a_from, found, work)
        if i >= ol.n or j >= al.n:
            break
        o_from = ol.bounds[2 * i + 1]
        a_from = al.bounds[2 * j + 1]
        i += 1
        j += 1
    return status


def nested_edits(tuple origin not None, tuple revision not None, *,
                 str engine="auto", CancelFlag cancel=None):
    """Return the token edits of the nested alignment, flat: o_lo, o_hi, a_lo, a_hi.

    Parameters
    ----------
    origin, revision
        Each three int arrays: the id of every line (-1: blank), the first token of every line and
        one past the last token, the tokens.
    """
    cdef const int32_t[::1] o_ids = origin[0], o_first = origin[1], o = origin[2]
    cdef const int32_t[::1] a_ids = revision[0], a_first = revision[1], a = revision[2]
    cdef Edits lines, found
    cdef Written ol, al
    cdef Work work
    cdef int status
    cdef const int32_t* po = &o[0] if o.shape[0] else NULL
    cdef const int32_t* pa = &a[0] if a.shape[0] else NULL
    cdef const int32_t* poi = &o_ids[0] if o_ids.shape[0] else NULL
    cdef const int32_t* pai = &a_ids[0] if a_ids.shape[0] else NULL
    cdef int32_t n_lines, m_lines
    check_length(max(o.shape[0], a.shape[0], o_ids.shape[0], a_ids.shape[0]))
    if o_first.shape[0] != o_ids.shape[0] + 1 or a_first.shape[0] != a_ids.shape[0] + 1:
        raise OptionError("every line needs its first token, and the last line an end")
    n_lines, m_lines = <int32_t>o_ids.shape[0], <int32_t>a_ids.shape[0]
    memset(&lines, 0, sizeof(Edits))
    memset(&found, 0, sizeof(Edits))
    memset(&ol, 0, sizeof(Written))
    memset(&al, 0, sizeof(Written))
    start_work(&work, engine, cancel)
    with nogil:
        status = written(poi, &o_first[0], n_lines, &ol)
        if status == OK:
            status = written(pai, &a_first[0], m_lines, &al)
        if status == OK:
            status = canonical(ol.ids, ol.n, al.ids, al.n, 0, 0, &lines, &work)
        if status == OK:
            status = align_tokens(&lines, &ol, &al, po, pa, &found, &work)
    try:
        check(status)
        return as_array(&found)
    finally:
        clear_work(&work)
        free(ol.ids)
        free(al.ids)
        free(lines.data)
        free(found.data)
