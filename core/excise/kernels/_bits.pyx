# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""BITS: the rows of the table, 64 cells a word: O(N M / 64); and BITS with checkpoints."""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from excise.kernels._walk cimport CANCELLED, NO_MEMORY, OK, Walk, Work, match, stopped

cdef extern from *:
    """
    #include <stdint.h>
    #include <time.h>
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
    """
    void excise_row(const uint64_t* mask, const uint64_t* before, uint64_t* after,
                    Py_ssize_t words) noexcept nogil

# Bit i of row j is 0 iff D[i + 1][j] = D[i][j] + 1; row 0 is all ones.

cdef struct Masks:
    # Frequent symbols have a ready mask; a rare one sets its few bits in `scratch` and clears them.
    Py_ssize_t words
    int32_t* first       # symbol -> start of its places in `places`
    int32_t* places      # places in O, grouped by symbol
    int32_t* dense       # symbol -> index of its mask, or -1
    uint64_t* masks
    uint64_t* scratch


cdef void free_masks(Masks* masks) noexcept nogil:
    free(masks.first)
    free(masks.places)
    free(masks.dense)
    free(masks.masks)
    free(masks.scratch)


cdef int make_masks(Masks* masks, const int32_t* o, int32_t n, int32_t symbols) noexcept nogil:
    """Group the places of O by symbol; give every frequent symbol its mask."""
    cdef int32_t i, symbol, count
    cdef Py_ssize_t n_dense = 0
    memset(masks, 0, sizeof(Masks))
    masks.words = (n + 63) >> 6
    masks.first = <int32_t*>calloc(symbols + 2, sizeof(int32_t))
    masks.places = <int32_t*>malloc(n * sizeof(int32_t))
    masks.dense = <int32_t*>malloc((symbols + 1) * sizeof(int32_t))
    masks.scratch = <uint64_t*>calloc(masks.words, sizeof(uint64_t))
    if (masks.first is NULL or masks.places is NULL or masks.dense is NULL
            or masks.scratch is NULL):
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
