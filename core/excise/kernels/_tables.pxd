"""What the index of patches is built of: memory that grows, tables from keys to numbers, multisets.

A multiset of small ints is one patch, as sorted ids with counts.
"""
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport realloc

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


cdef inline int make_room(
    void** data, int64_t wanted, int64_t* capacity, size_t size
) noexcept nogil:
    """Have room for that many items, or return NO_MEMORY and leave the data as it is."""
    cdef int64_t room = capacity[0]
    cdef void* moved
    if wanted > room:
        while room < wanted:
            room = 2 * room + 64
        moved = realloc(data[0], room * size)
        if moved is NULL:
            return NO_MEMORY
        data[0] = moved
        capacity[0] = room
    return 0


# --- multisets

cdef enum:
    MANY = 255            # marks counts that are in `large`

cdef struct Multisets:
    # Of patch i: ids[first[i]:first[i + 1]] in the order of their keys, and counts (`count_of`);
    # total: the sum.
    uint32_t* ids
    uint8_t* counts
    Large large
    int64_t* first
    int64_t* total
    int64_t n             # patches
    int64_t capacity
    int64_t n_capacity

cdef struct Item:
    uint64_t key          # what items are ordered by; its lower half is the id
    uint32_t part         # of the patch: one of its blocks
    uint32_t count


cdef inline uint32_t count_of(const Multisets* sets, int64_t at) noexcept nogil:
    cdef uint32_t count = sets.counts[at]
    return count if count != MANY else large_at(&sets.large, at)


cdef void ordered(Item* items, int64_t n) noexcept nogil
cdef int append(Multisets* sets, const Item* items, int64_t n) noexcept nogil
cdef int64_t merged(const Multisets* sets, int64_t i, int64_t j) noexcept nogil
cdef void free_multisets(Multisets* sets) noexcept nogil
