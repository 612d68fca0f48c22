# cython: language_level=3
"""Equation 3 on counts, correctly rounded.

`excision.py` has it in plain view with fractions; here sums run in twice the precision of a double,
so that both give the same float.
"""
from libc.math cimport fma
from libc.stdint cimport int64_t

from excise.kernels._ngrams cimport ADD, CELL, DELETE, KEEP, ORDERS


# What a pair has in common counts HERE where it stands at one place of the origin and ANYWHERE
# wherever it stands, of a WHOLE: so it counts a quarter elsewhere. No other place says so.
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
    const int64_t* counts, int here, int anywhere, bint precision, Double2* value
) noexcept nogil:
    """The mean of F (or P) over the defined orders; False when none is.

    In common are (here * what stands at one place + anywhere * what does wherever) / WHOLE.
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
            if precision:
                value[0] = plus(value[0], quotient((1.0 / WHOLE) * both, <double>by_b))
            else:
                value[0] = plus(value[0], quotient((2.0 / WHOLE) * both, <double>(by_a + by_b)))
    if defined:
        value[0] = over(value[0], defined)
    return defined != 0


cdef inline double formula(
    const int64_t* counts, int here, int anywhere, bint precision
) noexcept nogil:
    """Equation 3 of the counts, -1 where no operation is defined."""
    cdef Double2 value, total
    cdef int defined = 0
    total.high = total.low = 0.0
    if operation(counts + KEEP, here, anywhere, False, &value):
        total = plus(total, value)
        defined += 1
    if operation(counts + ADD, here, anywhere, False, &value):
        total = plus(total, value)
        defined += 1
    if operation(counts + DELETE, here, anywhere, precision, &value):
        total = plus(total, value)
        defined += 1
    return over(total, defined).high if defined else -1.0
