# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""An inverted index of the rare ids, and a bound for what the frequent ones may add."""
from libc.math cimport log2
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from excise.kernels._multisets cimport count_of
from excise.kernels._tables cimport NO_MEMORY

cdef enum:
    FEW = 256
    MOST_POSTINGS = 0xFFFFFFFF

cdef double HAIR = 1e-12  # of a bound: more than rounding can take, less than a count can matter


cdef int relate(Relation* relation) noexcept nogil:
    """Fill levels, totals, cuts and rests; sets, n, ids, least and weights are there."""
    cdef uint32_t* often = <uint32_t*>calloc(relation.ids + 1, sizeof(uint32_t))
    cdef uint8_t level[FEW]
    cdef int64_t at, i
    relation.levels = <uint8_t*>malloc(relation.ids + 1)
    relation.total = <int64_t*>calloc(relation.n + 1, sizeof(int64_t))
    relation.cut = <uint8_t*>malloc(relation.n + 1)
    relation.rest = <int64_t*>calloc(relation.n + 1, sizeof(int64_t))
    if (often is NULL or relation.levels is NULL or relation.total is NULL
            or relation.cut is NULL or relation.rest is NULL):
        free(often)
        return NO_MEMORY
    for at in range(relation.sets.first[relation.n] if relation.n else 0):
        often[relation.sets.ids[at]] += 1
    for i in range(FEW):
        level[i] = <uint8_t>(8 * log2(i + 1.0))
    for at in range(relation.ids):
        if often[at] < FEW:
            relation.levels[at] = level[often[at]]
        else:
            relation.levels[at] = <uint8_t>min(8 * log2(often[at] + 1.0), LEVELS - 1.0)
    free(often)
    for i in range(relation.n):
        settle(relation, i)
    return 0


cdef void settle(Relation* relation, int64_t i) noexcept nogil:
    """Find the cut of a set: above it lies less than any partner must share."""
    cdef int64_t weight[LEVELS]
    cdef int64_t at, mass, least_level = LEVELS - 1
    cdef double needed
    memset(weight, 0, sizeof(weight))
    for at in range(relation.sets.first[i], relation.sets.first[i + 1]):
        mass = count_of(relation.sets, at)
        if relation.weights is not NULL:
            mass *= relation.weights[relation.sets.ids[at]]
        weight[relation.levels[relation.sets.ids[at]]] += mass
        relation.total[i] += mass
    needed = relation.least * relation.total[i] / (2 - relation.least) * (1 - HAIR)
    while least_level > 0 and relation.rest[i] + weight[least_level] < needed:
        relation.rest[i] += weight[least_level]
        least_level -= 1
    relation.cut[i] = <uint8_t>least_level


cdef void free_relation(Relation* relation) noexcept nogil:
    free(relation.weights)
    free(relation.levels)
    free(relation.total)
    free(relation.cut)
    free(relation.rest)
    memset(relation, 0, sizeof(Relation))


cdef int invert(
    const Relation* relation, int64_t start, int64_t stop, Postings* postings
) noexcept nogil:
    """List who has which id, for the ranks from start to stop."""
    cdef const Multisets* sets = relation.sets
    cdef int64_t rank, i, at, used = 0
    cdef uint32_t place
    postings.start = start
    postings.head = <uint32_t*>calloc(relation.ids + 1, sizeof(uint32_t))
    postings.end = <uint32_t*>calloc(relation.ids + 1, sizeof(uint32_t))
    if postings.head is NULL or postings.end is NULL:
        return NO_MEMORY
    for rank in range(start, stop):
        i = relation.order[rank]
        if relation.is_again is not NULL and relation.is_again[i]:
            continue
        for at in range(sets.first[i], sets.first[i + 1]):
            if relation.levels[sets.ids[at]] <= relation.cut[i]:
                postings.end[sets.ids[at]] += 1
                used += 1
    if used > MOST_POSTINGS:
        return NO_MEMORY
    postings.who = <uint32_t*>malloc(used * sizeof(uint32_t) + 4)
    postings.often = <uint32_t*>malloc(used * sizeof(uint32_t) + 4)
    if postings.who is NULL or postings.often is NULL:
        return NO_MEMORY
    # Filling moves every end from the head to where it belongs.
    used = 0
    for at in range(relation.ids):
        postings.head[at] = <uint32_t>used
        used += postings.end[at]
        postings.end[at] = postings.head[at]
    for rank in range(start, stop):
        i = relation.order[rank]
        if relation.is_again is not NULL and relation.is_again[i]:
            continue
        for at in range(sets.first[i], sets.first[i + 1]):
            if relation.levels[sets.ids[at]] <= relation.cut[i]:
                place = postings.end[sets.ids[at]]
                postings.who[place] = <uint32_t>(rank - start)
                postings.often[place] = count_of(sets, at)
                postings.end[sets.ids[at]] += 1
    return 0


cdef void free_postings(Postings* postings) noexcept nogil:
    free(postings.head)
    free(postings.end)
    free(postings.who)
    free(postings.often)
    memset(postings, 0, sizeof(Postings))


cdef int64_t gather(
    const Relation* relation, Postings* postings, int64_t rank, int64_t last,
    int64_t* shared, uint32_t* touched, int64_t* n_touched
) noexcept nogil:
    """Add what a set shares with each later rank of the postings, at or below both cuts.

    Sets come in the order of their ranks. Returns how many postings were read: ranks beyond `last`
    are too large to score enough, and are left out. Those that were 0 before are listed; `shared`
    and `touched` count from the first rank of the postings.
    """
    cdef const Multisets* sets = relation.sets
    cdef int64_t i = relation.order[rank], at, work = 0
    cdef int64_t weight = 1
    cdef int64_t within = rank - postings.start
    cdef uint32_t most = <uint32_t>(last - postings.start)
    cdef uint32_t place, end, count, j, f
    for at in range(sets.first[i], sets.first[i + 1]):
        f = sets.ids[at]
        if relation.levels[f] > relation.cut[i]:
            continue
        place, end = postings.head[f], postings.end[f]
        if place == end:
            continue
        # Ranks come in ascending order, so that what is passed is passed for good.
        if within >= 0:
            while place < end and postings.who[place] <= within:
                place += 1
            postings.head[f] = place
        count = count_of(sets, at)
        if relation.weights is not NULL:
            weight = relation.weights[f]
        while place < end and postings.who[place] <= most:
            j = postings.who[place]
            if shared[j] == 0:
                touched[n_touched[0]] = j
                n_touched[0] += 1
            shared[j] += weight * (1 if count == 1 else min(count, postings.often[place]))
            place += 1
            work += 1
    return work


cdef int64_t unseen(const Relation* relation, int64_t i, int64_t j) noexcept nogil:
    """Return the most that two sets share beyond what `gather` adds up."""
    if relation.cut[i] < relation.cut[j]:
        return relation.rest[i]
    if relation.cut[j] < relation.cut[i]:
        return relation.rest[j]
    return min(relation.rest[i], relation.rest[j])


cdef bint hopeless(const Relation* relation, int64_t i, int64_t j, int64_t most) noexcept nogil:
    """Whether a pair that shares at most that much stays below `least`."""
    most = min(most, min(relation.total[i], relation.total[j]))
    return 2.0 * most < relation.least * (relation.total[i] + relation.total[j]) * (1 - HAIR)
