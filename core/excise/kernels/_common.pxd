# cython: language_level=3
"""How many first or last elements two sequences share, compared two at a time."""
from libc.stdint cimport int32_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

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
