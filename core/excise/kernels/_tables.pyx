# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Tables that compare the whole key, so that equal numbers are equal keys."""
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memset


cdef int empty(Table* table) noexcept nogil:
    memset(table, 0, sizeof(Table))
    return grow(table, 1024)


cdef void release(Table* table) noexcept nogil:
    free(table.slots)
    free(table.keys)
    memset(table, 0, sizeof(Table))


cdef inline uint64_t mixed(uint64_t key) noexcept nogil:
    key ^= key >> 31
    key *= <uint64_t>0x9E3779B97F4A7C15
    key ^= key >> 29
    key *= <uint64_t>0xBF58476D1CE4E5B9
    return key ^ (key >> 32)


cdef int grow(Table* table, uint64_t size) noexcept nogil:
    cdef uint32_t* slots = <uint32_t*>calloc(size, sizeof(uint32_t))
    cdef uint64_t slot
    cdef uint32_t number
    if slots is NULL:
        return NO_MEMORY
    for number in range(table.n):
        slot = mixed(table.keys[number]) & (size - 1)
        while slots[slot]:
            slot = (slot + 1) & (size - 1)
        slots[slot] = number + 1
    free(table.slots)
    table.slots = slots
    table.mask = size - 1
    return 0


cdef int number_all(Table* table, const uint64_t* keys, int n, uint32_t* numbers) noexcept nogil:
    """Number up to `TOGETHER` keys; a new one gets the next number.

    Every step of a look-up is made for all keys before the next step: what one needs from memory is
    on its way while the others are looked at.
    """
    cdef uint64_t slots[TOGETHER]
    cdef uint64_t slot
    cdef uint32_t used
    cdef int at
    if <uint64_t>table.n + n > MOST:
        return NO_MEMORY
    while 2 * (<uint64_t>table.n + n) > table.mask:
        if grow(table, 2 * (table.mask + 1)) != 0:
            return NO_MEMORY
    if make_room(<void**>&table.keys, table.n + n, &table.room, sizeof(uint64_t)) != 0:
        return NO_MEMORY
    for at in range(n):
        slots[at] = mixed(keys[at]) & table.mask
        prefetch(&table.slots[slots[at]])
    for at in range(n):
        used = table.slots[slots[at]]
        if used:
            prefetch(&table.keys[used - 1])
    for at in range(n):
        slot = slots[at]
        used = table.slots[slot]
        while used and table.keys[used - 1] != keys[at]:
            slot = (slot + 1) & table.mask
            used = table.slots[slot]
        if not used:
            table.keys[table.n] = keys[at]
            table.n += 1
            used = table.n
            table.slots[slot] = used
        numbers[at] = used - 1
    return 0


cdef int keep_large(Large* large, int64_t place, uint32_t value) noexcept nogil:
    """Keep a value; its place is behind those of all others."""
    cdef int64_t n = large.n + 1
    if (make_room(<void**>&large.places, n, &large.places_room, sizeof(int64_t)) != 0
            or make_room(<void**>&large.values, n, &large.values_room, sizeof(uint32_t)) != 0):
        return NO_MEMORY
    large.places[large.n] = place
    large.values[large.n] = value
    large.n += 1
    return 0


cdef uint32_t large_at(const Large* large, int64_t place) noexcept nogil:
    """Return the value that was kept for a place."""
    cdef int64_t low = 0, high = large.n, middle
    while low < high:
        middle = (low + high) // 2
        if large.places[middle] < place:
            low = middle + 1
        else:
            high = middle
    return large.values[low]


cdef void free_large(Large* large) noexcept nogil:
    free(large.places)
    free(large.values)
    memset(large, 0, sizeof(Large))


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
