"""Canonical alignment: one longest common subsequence, exactly the definition's, without the GIL.

The definition (section 2) strips the common prefix, then the common suffix of the rest, and walks
the table back from its end: drop from O if that loses nothing, else drop from A, else match.
Three engines return exactly that walk (docs/algorithm.md has the proofs):

* MYERS keeps every row of furthest-reaching points: O(N + D^2);
* BITS keeps the bit-parallel rows of the table: O(N M / 64), for files with little in common;
* CHECKPOINTS is BITS that keeps every sqrt(M)-th row and computes the rest again.

Over 300 lines: a reader holds each engine against the one walk, and they share scratch memory.
"""
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from array import array

from excise.errors import OptionError

from excise.kernels._tables cimport make_room
from excise.kernels._walk cimport (
    CANCELLED, NO_MEMORY, OK, TOO_FAR,
    CancelFlag, Edits, Work, check, clear_work, start_of, stopped,
)

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #if defined(__x86_64__) && defined(__GNUC__)
      #include <immintrin.h>
      #define EXCISE_ADD(carry, x, y, out) \\
          (carry) = _addcarry_u64((carry), (x), (y), (unsigned long long *)(out))
    #else
      #define EXCISE_ADD(carry, x, y, out) do { \\
          uint64_t first_ = (x) + (y), sum_ = first_ + (carry); \\
          (carry) = (unsigned char)((first_ < (x)) | (sum_ < first_)); \\
          *(out) = sum_; } while (0)
    #endif

    /* One row of the bit-parallel table: v + (v & mask) | (v & ~mask), with carry over words. */
    static void excise_row(const uint64_t *mask, const uint64_t *before, uint64_t *after,
                           Py_ssize_t words) {
        unsigned char carry = 0;
        Py_ssize_t w;
        for (w = 0; w < words; w++) {
            uint64_t v = before[w], both = v & mask[w], sum;
            EXCISE_ADD(carry, v, both, &sum);
            after[w] = sum | (v & ~mask[w]);
        }
    }

    /* How many leading elements two sequences share, two at a time. */
    static int32_t excise_common(const int32_t *x, const int32_t *y, int32_t limit) {
        int32_t i = 0;
        while (i + 2 <= limit) {
            uint64_t p, q;
            memcpy(&p, x + i, 8);
            memcpy(&q, y + i, 8);
            if (p != q) break;
            i += 2;
        }
        while (i < limit && x[i] == y[i]) i++;
        return i;
    }

    static int32_t excise_common_end(const int32_t *x, const int32_t *y, int32_t limit) {
        /* x and y point one past the end */
        int32_t i = 0;
        while (i + 2 <= limit) {
            uint64_t p, q;
            memcpy(&p, x - i - 2, 8);
            memcpy(&q, y - i - 2, 8);
            if (p != q) break;
            i += 2;
        }
        while (i < limit && x[-1 - i] == y[-1 - i]) i++;
        return i;
    }
    """
    int32_t excise_common(const int32_t* x, const int32_t* y, int32_t limit) noexcept nogil
    int32_t excise_common_end(const int32_t* x, const int32_t* y, int32_t limit) noexcept nogil
    void excise_row(const uint64_t* mask, const uint64_t* before, uint64_t* after,
                    Py_ssize_t words) noexcept nogil

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
# The walk back: an engine calls `match` with each matched run, from the end of the table; the gaps
# between them are the edits.

cdef struct Walk:
    Edits* edits
    int32_t o_base
    int32_t a_base
    const int32_t* o_places   # places in the whole sequences, when symbols were dropped
    const int32_t* a_places
    int32_t o_end             # the unmatched run that is open ends here (exclusive)
    int32_t a_end
    int status


cdef int push(
    Edits* edits, int32_t o_lo, int32_t o_hi, int32_t a_lo, int32_t a_hi
) noexcept nogil:
    """Append one run; NO_MEMORY when it cannot grow."""
    if make_room(<void**>&edits.data, edits.n + 4, &edits.capacity, sizeof(int32_t)) != 0:
        return NO_MEMORY
    edits.data[edits.n] = o_lo
    edits.data[edits.n + 1] = o_hi
    edits.data[edits.n + 2] = a_lo
    edits.data[edits.n + 3] = a_hi
    edits.n += 4
    return OK


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


cdef void finish(Walk* walk) noexcept nogil:
    """Push the run before the first match."""
    if (walk.o_end or walk.a_end) and walk.status == OK:
        walk.status = push(
            walk.edits, walk.o_base, walk.o_base + walk.o_end,
            walk.a_base, walk.a_base + walk.a_end)


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


# ------------------------------------------------------------------------------------------------
# MYERS: greedy alignment by furthest-reaching points, every row kept: O(N + D^2).
# rows[d] holds, for the diagonals k = i - j = -d, -d + 2, .., d, the furthest i whose cell
# (i, i - k) is at most d edits away from (0, 0).

cdef enum:
    UNREACHED = -1000000000


cdef inline int32_t* row_of(Work* work, int32_t d) noexcept nogil:
    # Rows are padded by one unreached diagonal on each side: d + 3 places from (d^2 + 5 d) / 2.
    return work.rows + (<int64_t>d * (d + 5)) // 2 + 1


cdef int reserve_row(Work* work, int32_t d) noexcept nogil:
    cdef int64_t needed = (<int64_t>(d + 1) * (d + 6)) // 2 + 1
    return make_room(<void**>&work.rows, needed, &work.rows_capacity, sizeof(int32_t))


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


# ------------------------------------------------------------------------------------------------
# BITS: the rows of the table, 64 cells a word: O(N M / 64); and BITS with checkpoints.
# Bit i of row j is 0 iff D[i + 1][j] = D[i][j] + 1; row 0 is all ones.

cdef struct Masks:
    # Only frequent symbols have a ready mask.
    Py_ssize_t words
    int32_t* first       # symbol -> start of its places in `places`
    int32_t* places      # places in O, grouped by symbol
    int32_t* dense       # symbol -> index of its mask, or -1
    uint64_t* masks


cdef void free_masks(Masks* masks) noexcept nogil:
    free(masks.first)
    free(masks.places)
    free(masks.dense)
    free(masks.masks)


cdef int make_masks(Masks* masks, const int32_t* o, int32_t n, int32_t symbols) noexcept nogil:
    """Group the places of O by symbol; give every frequent symbol its mask."""
    cdef int32_t i, symbol, count
    cdef Py_ssize_t n_dense = 0
    memset(masks, 0, sizeof(Masks))
    masks.words = (n + 63) >> 6
    masks.first = <int32_t*>calloc(symbols + 2, sizeof(int32_t))
    masks.places = <int32_t*>malloc(n * sizeof(int32_t))
    masks.dense = <int32_t*>malloc((symbols + 1) * sizeof(int32_t))
    if masks.first is NULL or masks.places is NULL or masks.dense is NULL:
        return NO_MEMORY
    for i in range(n):
        masks.first[o[i] + 2] += 1
    for symbol in range(symbols):
        count = masks.first[symbol + 2]
        masks.dense[symbol] = -1
        if count * 4 > masks.words:
            masks.dense[symbol] = <int32_t>n_dense
            n_dense += 1
        masks.first[symbol + 2] += masks.first[symbol + 1]
    for i in range(n):
        masks.places[masks.first[o[i] + 1]] = i
        masks.first[o[i] + 1] += 1
    if n_dense:
        masks.masks = <uint64_t*>calloc(n_dense * masks.words, sizeof(uint64_t))
        if masks.masks is NULL:
            return NO_MEMORY
        for i in range(n):
            if masks.dense[o[i]] >= 0:
                masks.masks[masks.dense[o[i]] * masks.words + (i >> 6)] |= <uint64_t>1 << (i & 63)
    return OK


cdef void sparse_row(
    Masks* masks, int32_t symbol, const uint64_t* before, uint64_t* after
) noexcept nogil:
    """A row of a rare symbol: only the words of its places change, and where a carry runs."""
    cdef int32_t at = masks.first[symbol], end = masks.first[symbol + 1]
    cdef Py_ssize_t w
    cdef uint64_t mask, v, both, total, carry
    memcpy(after, before, masks.words * sizeof(uint64_t))
    w = -1
    carry = 0
    while at < end or carry:
        if carry and (at >= end or masks.places[at] >> 6 > w):
            # The carry runs on through a word without a place.
            if w >= masks.words:
                return
            v = before[w]
            total = v + 1
            after[w] = total | v
            carry = total == 0
            w += 1
            continue
        w = masks.places[at] >> 6
        mask = 0
        while at < end and masks.places[at] >> 6 == w:
            mask |= <uint64_t>1 << (masks.places[at] & 63)
            at += 1
        v = before[w]
        both = v & mask
        total = v + both
        if total < v:
            total += carry
            carry = 1
        else:
            total += carry
            carry = carry and total == 0
        after[w] = total | (v & ~mask)
        w += 1


cdef inline void next_row(
    Masks* masks, int32_t symbol, const uint64_t* before, uint64_t* after
) noexcept nogil:
    cdef int32_t dense = masks.dense[symbol]
    if dense >= 0:
        excise_row(masks.masks + dense * masks.words, before, after, masks.words)
    else:
        sparse_row(masks, symbol, before, after)


cdef int32_t walk_bits(
    const uint64_t* rows, Py_ssize_t words, int32_t* column, int32_t row, Walk* walk, int32_t j_base
) noexcept nogil:
    """Walk back over rows[0..row]; stops at row 0 or column 0 and returns the row reached."""
    cdef int32_t i = column[0]
    cdef const uint64_t* here = rows + row * words
    cdef const uint64_t* above
    cdef uint64_t bit
    while row > 0 and i > 0:
        bit = <uint64_t>1 << ((i - 1) & 63)
        if here[(i - 1) >> 6] & bit:              # D[i-1][j] = D[i][j]: drop from O
            i -= 1
            continue
        above = here - words
        row -= 1
        if above[(i - 1) >> 6] & bit:             # D grows only here: match
            i -= 1
            match(walk, i, j_base + row, 1)
        here = above                              # else D[i][j-1] = D[i][j]: drop from A
    column[0] = i
    return row


cdef int bits(
    const int32_t* o, int32_t n, const int32_t* a, int32_t m, int32_t symbols,
    bint checkpoints, Work* work, Walk* walk
) noexcept nogil:
    """Align by bit-parallel rows: all of them kept, or every sqrt(m)-th and the rest redone."""
    cdef Masks masks
    cdef int status = make_masks(&masks, o, n, symbols)
    cdef uint64_t* kept = NULL
    cdef uint64_t* block = NULL
    cdef int32_t step = m, j, start, rows, column = n
    cdef Py_ssize_t words = masks.words
    if status == OK and checkpoints:
        step = 1
        while <int64_t>step * step < m:
            step += 1
    if status == OK:
        block = <uint64_t*>malloc((step + 1) * words * sizeof(uint64_t))
        kept = <uint64_t*>malloc((m // step + 1) * words * sizeof(uint64_t))
        if block is NULL or kept is NULL:
            status = NO_MEMORY
    if status == OK:
        # Forward: row `start` of every block is kept, the last block stays whole.
        memset(block, 0xFF, words * sizeof(uint64_t))
        memcpy(kept, block, words * sizeof(uint64_t))
        for j in range(m):
            if j % step == 0 and j:
                memcpy(kept + (j // step) * words, block + step * words, words * sizeof(uint64_t))
                memcpy(block, block + step * words, words * sizeof(uint64_t))
            if stopped(work.stop, j):
                status = CANCELLED
                break
            next_row(&masks, a[j], block + (j % step) * words, block + (j % step + 1) * words)
        work.words += m * words
    start = ((m - 1) // step) * step
    rows = m - start
    while status == OK:
        j = walk_bits(block, words, &column, rows, walk, start)
        if start == 0 or column == 0:
            status = walk.status
            break
        start -= step
        rows = step
        memcpy(block, kept + (start // step) * words, words * sizeof(uint64_t))
        for j in range(step):
            next_row(&masks, a[start + j], block + j * words, block + (j + 1) * words)
        work.words += step * words
        if stopped(work.stop, 0):
            status = CANCELLED
    free(block)
    free(kept)
    free_masks(&masks)
    return status


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

    - ``o``, ``a``: symbols as non-negative 32-bit ints, best counted from 0.
    - ``engine``: for tests only: every engine returns the same.
    - ``cancel``: polled once per row.
    - ``work_done``: receives the number of diagonals and of 64-bit words that were computed.
    """
    cdef Edits found
    cdef Work work
    cdef int status
    cdef Py_ssize_t n = o.shape[0], m = a.shape[0]
    check_length(n)
    check_length(m)
    memset(&found, 0, sizeof(Edits))
    start_work(&work, engine, cancel)
    with nogil:
        status = canonical(
            start_of(o), <int32_t>n, start_of(a), <int32_t>m, 0, 0, &found, &work)
    try:
        check(status, "aligning")
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

    - ``origin``, ``revision``: each three int arrays: the id of every line (-1: blank), the first
      token of every line and one past the last token, the tokens.
    """
    cdef const int32_t[::1] o_ids = origin[0], o_first = origin[1], o = origin[2]
    cdef const int32_t[::1] a_ids = revision[0], a_first = revision[1], a = revision[2]
    cdef Edits lines, found
    cdef Written ol, al
    cdef Work work
    cdef int status
    check_length(max(o.shape[0], a.shape[0], o_ids.shape[0], a_ids.shape[0]))
    if o_first.shape[0] != o_ids.shape[0] + 1 or a_first.shape[0] != a_ids.shape[0] + 1:
        raise OptionError("every line needs its first token, and the last line an end")
    memset(&lines, 0, sizeof(Edits))
    memset(&found, 0, sizeof(Edits))
    memset(&ol, 0, sizeof(Written))
    memset(&al, 0, sizeof(Written))
    start_work(&work, engine, cancel)
    with nogil:
        status = written(start_of(o_ids), &o_first[0], <int32_t>o_ids.shape[0], &ol)
        if status == OK:
            status = written(start_of(a_ids), &a_first[0], <int32_t>a_ids.shape[0], &al)
        if status == OK:
            status = canonical(ol.ids, ol.n, al.ids, al.n, 0, 0, &lines, &work)
        if status == OK:
            status = align_tokens(&lines, &ol, &al, start_of(o), start_of(a), &found, &work)
    try:
        check(status, "aligning")
        return as_array(&found)
    finally:
        clear_work(&work)
        free(ol.ids)
        free(al.ids)
        free(lines.data)
        free(found.data)
