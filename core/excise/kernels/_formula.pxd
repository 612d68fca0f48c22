"""Equation 3 on counts, correctly rounded.

`excision.py` has it in plain view with fractions; here sums run in twice the precision of a double,
so that both give the same float.
"""
from libc.math cimport fma
from libc.stdint cimport int64_t

from excise.kernels._ngrams cimport CELL, ORDERS


# What a pair has in common at the same place of the origin counts whole, HERE + ANYWHERE of WHOLE;
# what it has in common at different places counts a quarter, ANYWHERE of WHOLE. Nothing else sets
# these weights.
cdef enum:
    HERE = 3
    ANYWHERE = 1
    WHOLE = 4


cdef struct Double2:
    double high
    double low


cdef inline Double2 quotient(double x, double y) noexcept nogil:
    cdef Double2 result
    result.high = x / y
    result.low = fma(-result.high, y, x) / y
    return result


cdef inline Double2 plus(Double2 x, Double2 y) noexcept nogil:
    cdef double total = x.high + y.high
    cdef double part = total - x.high
    cdef double lost = (x.high - (total - part)) + (y.high - part) + x.low + y.low
    cdef Double2 result
    result.high = total + lost
    result.low = lost - (result.high - total)
    return result


cdef inline Double2 over(Double2 x, double y) noexcept nogil:
    cdef Double2 result
    cdef double high = x.high / y
    cdef double low = (fma(-high, y, x.high) + x.low) / y
    result.high = high + low
    result.low = low - (result.high - high)
    return result


cdef inline bint operation(
    const int64_t* counts, int here, int anywhere, Double2* value
) noexcept nogil:
    """The mean of F over the defined orders; False if none is.

    The number in common is (here * that at the same place + anywhere * that at any place) / WHOLE.
    """
    cdef int order, defined = 0
    cdef int64_t both, by_a, by_b
    value.high = value.low = 0.0
    for order in range(ORDERS):
        both = here * counts[CELL * order] + anywhere * counts[CELL * order + 3]
        by_a = counts[CELL * order + 1]
        by_b = counts[CELL * order + 2]
        if by_a == 0 and by_b == 0:
            continue
        defined += 1
        if both:
            value[0] = plus(value[0], quotient((2.0 / WHOLE) * both, <double>(by_a + by_b)))
    if defined:
        value[0] = over(value[0], defined)
    return defined != 0


cdef inline double formula(const int64_t* counts, int here, int anywhere) noexcept nogil:
    """Equation 3 of the counts, -1 where no operation is defined."""
    cdef Double2 value, total
    cdef int defined = 0, kind
    total.high = total.low = 0.0
    for kind in range(3):
        if operation(counts + kind * CELL * ORDERS, here, anywhere, &value):
            total = plus(total, value)
            defined += 1
    return over(total, defined).high if defined else -1.0
