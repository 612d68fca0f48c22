"""Which regions of a pair stand at one place of the origin."""
from libc.stdint cimport int32_t


cdef enum:
    MISNUMBERED = -3


cdef struct Places:
    # For every region the next one of its place, as `count_regions` walks them.
    int32_t* following
    Py_ssize_t n          # places
    # Scratch of union-find, grown on demand.
    int32_t* parent
    int32_t* tail
    Py_ssize_t capacity


cdef int link_places(
    const int32_t* regions, Py_ssize_t n_regions, const int32_t* lines, int32_t n_tokens,
    const int32_t* o, const int32_t* a, const int32_t* b, Places* places
) noexcept nogil
cdef int link_numbered(
    const int32_t* numbers, Py_ssize_t n_regions, Places* places
) noexcept nogil
cdef int32_t root_of(int32_t* parent, int32_t region) noexcept nogil
cdef void free_places(Places* places) noexcept nogil
