# cython: language_level=3
"""What the index of patches is built of: tables from keys to numbers, and memory that grows."""
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint32_t, uint64_t

cdef enum:
    NO_MEMORY = -1
    MOST = 0x55555555     # numbers of a table: three times as many fit 32 bits

cdef struct Table:
    # Open addressing from keys to numbers 0, 1, ..; a free slot holds 0, a used one number + 1.
    uint64_t* keys
    uint32_t* numbers
    uint64_t mask
    uint32_t n


cdef int empty(Table* table) noexcept nogil
cdef void release(Table* table) noexcept nogil
cdef int grow(Table* table) noexcept nogil
cdef void* enlarged(void* data, int64_t wanted, int64_t* capacity, size_t size) noexcept nogil


cdef inline uint64_t mixed(uint64_t key) noexcept nogil:
    key ^= key >> 31
    key *= <uint64_t>0x9E3779B97F4A7C15
    key ^= key >> 29
    key *= <uint64_t>0xBF58476D1CE4E5B9
    return key ^ (key >> 32)


cdef inline int64_t find(Table* table, uint64_t key, bint insert) noexcept nogil:
    """Return the number of a key; -1 when it has none and gets none (or no memory is left)."""
    cdef uint64_t slot
    if insert and 2 * <uint64_t>table.n > table.mask and grow(table) != 0:
        return NO_MEMORY
    slot = mixed(key) & table.mask
    while table.numbers[slot]:
        if table.keys[slot] == key:
            return table.numbers[slot] - 1
        slot = (slot + 1) & table.mask
    if not insert or table.n >= MOST:
        return -1
    table.keys[slot] = key
    table.n += 1
    table.numbers[slot] = table.n
    return table.n - 1
