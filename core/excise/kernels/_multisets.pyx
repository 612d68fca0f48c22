# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Multisets are appended, never changed."""
from libc.stdint cimport int64_t, uint32_t
from libc.stdlib cimport free, qsort
from libc.string cimport memset

from excise.kernels._tables cimport NO_MEMORY, enlarged


cdef int by_key(const void* x, const void* y) noexcept nogil:
    cdef const Item* a = <const Item*>x
    cdef const Item* b = <const Item*>y
    if a.key != b.key:
        return (a.key > b.key) - (a.key < b.key)
    return (a.part > b.part) - (a.part < b.part)


cdef void ordered(Item* items, int64_t n) noexcept nogil:
    qsort(items, n, sizeof(Item), by_key)


cdef int append(Multisets* sets, const Item* items, int64_t n) noexcept nogil:
    """Add one multiset of `ordered` items: those of one key are added up."""
    cdef int64_t used = sets.first[sets.n] if sets.first is not NULL else 0
    cdef int64_t room, i, kinds = 0
    cdef void* moved
    for i in range(n):
        kinds += i == 0 or items[i].key != items[i - 1].key
    room = sets.capacity
    moved = enlarged(sets.ids, used + kinds, &room, sizeof(uint32_t))
    if moved is NULL and used + kinds:
        return NO_MEMORY
    sets.ids = <uint32_t*>moved
    room = sets.capacity
    moved = enlarged(sets.counts, used + kinds, &room, sizeof(uint32_t))
    if moved is NULL and used + kinds:
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
        if i and items[i].key == items[i - 1].key:
            sets.counts[used - 1] += items[i].count
        else:
            sets.ids[used] = <uint32_t>items[i].key
            sets.counts[used] = items[i].count
            used += 1
        sets.total[sets.n] += items[i].count
    sets.n += 1
    sets.first[sets.n] = used
    return 0


cdef int64_t merged(const Multisets* sets, int64_t i, int64_t j) noexcept nogil:
    """Return the size of the intersection of two of them, whose keys are their ids."""
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
