# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Tables that compare the whole key, so that equal numbers are equal keys."""
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc


cdef int empty(Table* table) noexcept nogil:
    table.keys = <uint64_t*>malloc(1024 * sizeof(uint64_t))
    table.numbers = <uint32_t*>calloc(1024, sizeof(uint32_t))
    table.mask = 1023
    table.n = 0
    return NO_MEMORY if table.keys is NULL or table.numbers is NULL else 0


cdef void release(Table* table) noexcept nogil:
    free(table.keys)
    free(table.numbers)
    table.keys = NULL
    table.numbers = NULL


cdef int grow(Table* table) noexcept nogil:
    cdef uint64_t size = 2 * (table.mask + 1), at, slot
    cdef uint64_t* keys = <uint64_t*>malloc(size * sizeof(uint64_t))
    cdef uint32_t* numbers = <uint32_t*>calloc(size, sizeof(uint32_t))
    if keys is NULL or numbers is NULL:
        free(keys)
        free(numbers)
        return NO_MEMORY
    for at in range(table.mask + 1):
        if table.numbers[at]:
            slot = mixed(table.keys[at]) & (size - 1)
            while numbers[slot]:
                slot = (slot + 1) & (size - 1)
            keys[slot] = table.keys[at]
            numbers[slot] = table.numbers[at]
    release(table)
    table.keys = keys
    table.numbers = numbers
    table.mask = size - 1
    return 0


cdef void* enlarged(void* data, int64_t wanted, int64_t* capacity, size_t size) noexcept nogil:
    """Return room for that many items; NULL, and the data where it was, when there is none."""
    cdef int64_t room = capacity[0]
    cdef void* found
    if wanted <= room:
        return data
    while room < wanted:
        room = 2 * room + 64
    found = realloc(data, room * size)
    if found is not NULL:
        capacity[0] = room
    return found
