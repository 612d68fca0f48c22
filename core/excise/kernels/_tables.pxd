# cython: language_level=3
"""What the index of patches is built of: tables from keys to numbers, and memory that grows."""
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define EXCISE_PREFETCH(place) __builtin_prefetch(place)
    #else
    #define EXCISE_PREFETCH(place) ((void)(place))
    #endif
    """
    void prefetch "EXCISE_PREFETCH" (const void* place) noexcept nogil

cdef enum:
    NO_MEMORY = -1
    MOST = 0x55555555     # numbers of a table: three times as many fit 32 bits
    TOGETHER = 64         # keys that are looked up at a time

cdef struct Table:
    # Keys by number, 0, 1, ..; open addressing from keys to them: a free slot holds 0, a used one
    # its number + 1.
    uint32_t* slots
    uint64_t mask
    uint64_t* keys
    int64_t room          # for `keys`
    uint32_t n


cdef struct Large:
    # What does not fit the narrow array that it belongs to, ascending by its place there.
    int64_t* places
    uint32_t* values
    int64_t n
    int64_t places_room
    int64_t values_room


cdef int empty(Table* table) noexcept nogil
cdef void release(Table* table) noexcept nogil
cdef int number_all(Table* table, const uint64_t* keys, int n, uint32_t* numbers) noexcept nogil
cdef int keep_large(Large* large, int64_t place, uint32_t value) noexcept nogil
cdef uint32_t large_at(const Large* large, int64_t place) noexcept nogil
cdef void free_large(Large* large) noexcept nogil
cdef void* enlarged(void* data, int64_t wanted, int64_t* capacity, size_t size) noexcept nogil


cdef inline int make_room(
    void** data, int64_t wanted, int64_t* capacity, size_t size
) noexcept nogil:
    """Have room for that many items, or return NO_MEMORY and leave the data as it is."""
    cdef void* moved
    if wanted > capacity[0]:
        moved = enlarged(data[0], wanted, capacity, size)
        if moved is NULL:
            return NO_MEMORY
        data[0] = moved
    return 0
