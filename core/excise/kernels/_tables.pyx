"""Tables, columns and multisets, of which tables compare the whole key.

A table, a column that grows, a multiset: each is plain memory that its owner frees.
"""
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memcpy, memset

cdef enum:
    SHORT = 64            # so few items are sorted by comparing
    DIGIT_BITS = 11
    DIGITS = 1 << DIGIT_BITS


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


# --- multisets

cdef int by_key(const void* x, const void* y) noexcept nogil:
    cdef const Item* a = <const Item*>x
    cdef const Item* b = <const Item*>y
    if a.key != b.key:
        return (a.key > b.key) - (a.key < b.key)
    return (a.part > b.part) - (a.part < b.part)


cdef void ordered(Item* items, int64_t n) noexcept nogil:
    """Sort items by their keys, and those of one key by their parts."""
    cdef Item* spare = <Item*>malloc(n * sizeof(Item)) if n > SHORT else NULL
    cdef int64_t start = 0, stop
    cdef bint sorted
    if spare is NULL:
        qsort(items, n, sizeof(Item), by_key)
        return
    by_upper_half(items, spare, n)
    free(spare)
    while start < n:
        sorted = True
        stop = start + 1
        while stop < n and items[stop].key >> 32 == items[start].key >> 32:
            sorted = sorted and by_key(&items[stop - 1], &items[stop]) <= 0
            stop += 1
        if not sorted:
            qsort(items + start, stop - start, sizeof(Item), by_key)
        start = stop


cdef void by_upper_half(Item* items, Item* spare, int64_t n) noexcept nogil:
    """Sort items by the upper halves of their keys: least digits first, each keeping the order."""
    cdef int64_t places[DIGITS]
    cdef int64_t at, digit, before, here
    cdef uint64_t most = 0
    cdef int shift = 32
    cdef Item* source = items
    cdef Item* target = spare
    for at in range(n):
        most = max(most, items[at].key)
    while shift < 64 and most >> shift:
        memset(places, 0, sizeof(places))
        for at in range(n):
            places[(source[at].key >> shift) & (DIGITS - 1)] += 1
        before = 0
        for digit in range(DIGITS):
            here = places[digit]
            places[digit] = before
            before += here
        for at in range(n):
            digit = (source[at].key >> shift) & (DIGITS - 1)
            target[places[digit]] = source[at]
            places[digit] += 1
        source, target = target, source
        shift += DIGIT_BITS
    if source is not items:
        memcpy(items, source, n * sizeof(Item))


cdef int append(Multisets* sets, const Item* items, int64_t n) noexcept nogil:
    """Add one multiset of `ordered` items: those of one key are added up."""
    cdef int64_t used = sets.first[sets.n] if sets.first is not NULL else 0
    cdef int64_t room, i, stop, kinds = 0
    cdef uint32_t count
    for i in range(n):
        kinds += i == 0 or items[i].key != items[i - 1].key
    room = sets.capacity
    if make_room(<void**>&sets.ids, used + kinds, &room, sizeof(uint32_t)) != 0:
        return NO_MEMORY
    if make_room(<void**>&sets.counts, used + kinds, &sets.capacity, sizeof(uint8_t)) != 0:
        return NO_MEMORY
    room = sets.n_capacity
    if make_room(<void**>&sets.first, sets.n + 2, &room, sizeof(int64_t)) != 0:
        return NO_MEMORY
    if make_room(<void**>&sets.total, sets.n + 2, &sets.n_capacity, sizeof(int64_t)) != 0:
        return NO_MEMORY
    sets.first[sets.n] = used
    sets.total[sets.n] = i = 0
    while i < n:
        sets.ids[used] = <uint32_t>items[i].key
        count, stop = 0, i
        while stop < n and items[stop].key == items[i].key:
            count += items[stop].count
            stop += 1
        sets.counts[used] = <uint8_t>min(count, <uint32_t>MANY)
        if count >= MANY and keep_large(&sets.large, used, count) != 0:
            return NO_MEMORY
        sets.total[sets.n] += count
        used += 1
        i = stop
    sets.n += 1
    sets.first[sets.n] = used
    return 0


cdef int64_t merged(const Multisets* sets, int64_t i, int64_t j) noexcept nogil:
    """Return the size of the intersection of two of them, whose keys are their ids."""
    cdef int64_t p = sets.first[i], q = sets.first[j], found = 0
    while p < sets.first[i + 1] and q < sets.first[j + 1]:
        if sets.ids[p] == sets.ids[q]:
            found += min(count_of(sets, p), count_of(sets, q))
            p += 1
            q += 1
        elif sets.ids[p] < sets.ids[q]:
            p += 1
        else:
            q += 1
    return found


cdef void free_multisets(Multisets* sets) noexcept nogil:
    free(sets.ids)
    free(sets.counts)
    free_large(&sets.large)
    free(sets.first)
    free(sets.total)
    memset(sets, 0, sizeof(Multisets))
