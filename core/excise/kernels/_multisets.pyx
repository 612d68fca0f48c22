# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Multisets are appended, never changed."""
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memcpy, memset

from excise.kernels._tables cimport NO_MEMORY, free_large, keep_large, make_room

cdef enum:
    SHORT = 64            # so few items are sorted by comparing
    DIGIT_BITS = 11
    DIGITS = 1 << DIGIT_BITS


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
