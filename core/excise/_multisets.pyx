# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Multisets are appended, never changed."""
from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport free, qsort
from libc.string cimport memset

from excise._tables cimport NO_MEMORY, enlarged


cdef int by_id(const void* x, const void* y) noexcept nogil:
    cdef uint32_t a = (<const Item*>x).id, b = (<const Item*>y).id
    return (a > b) - (a < b)


cdef int64_t gathered(Item* items, int64_t n) noexcept nogil:
    """Sort items, and add up those with the same id; return how many are left."""
    cdef int64_t i, used = 0
    qsort(items, n, sizeof(Item), by_id)
    for i in range(n):
        if used and items[used - 1].id == items[i].id:
            items[used - 1].count += items[i].count
        else:
            items[used] = items[i]
            used += 1
    return used


cdef int append(Multisets* sets, Item* items, int64_t n) noexcept nogil:
    """Add one multiset; the items are sorted in place."""
    cdef int64_t used = sets.first[sets.n] if sets.first is not NULL else 0
    cdef int64_t room, i
    cdef void* moved
    n = gathered(items, n)
    room = sets.capacity
    moved = enlarged(sets.ids, used + n, &room, sizeof(uint32_t))
    if moved is NULL and used + n:
        return NO_MEMORY
    sets.ids = <uint32_t*>moved
    room = sets.capacity
    moved = enlarged(sets.counts, used + n, &room, sizeof(uint32_t))
    if moved is NULL and used + n:
        return NO_MEMORY
    sets.counts = <uint32_t*>moved
    sets.capacity = room
    room = sets.n_capacity
    moved = enlarged(sets.first, sets.n + 2, &room, sizeof(int64_t))
    if moved is NULL:
        return NO_MEMORY
    sets.first = <int64_t*>moved
    room = sets.n_capacity
    moved = enlarged(sets.total, sets.n + 2, &room, sizeof(int64_t))
    if moved is NULL:
        return NO_MEMORY
    sets.total = <int64_t*>moved
    sets.n_capacity = room
    sets.first[sets.n] = used
    sets.total[sets.n] = 0
    for i in range(n):
        sets.ids[used + i] = items[i].id
        sets.counts[used + i] = items[i].count
        sets.total[sets.n] += items[i].count
    sets.n += 1
    sets.first[sets.n] = used + n
    return 0


cdef int64_t merged(const Multisets* sets, int64_t i, int64_t j) noexcept nogil:
    """Return the size of the intersection of two of them."""
    cdef int64_t p = sets.first[i], q = sets.first[j], found = 0
    while p < sets.first[i + 1] and q < sets.first[j + 1]:
        if sets.ids[p] == sets.ids[q]:
            found += min(sets.counts[p], sets.counts[q])
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
    free(sets.first)
    free(sets.total)
    memset(sets, 0, sizeof(Multisets))
