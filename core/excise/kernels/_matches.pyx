"""Counting by place: one walk along the features of two patches, whose order is that of n-grams.

Features of one n-gram (under several file names) stand together, so that names can be left out.
Over 300 lines: counting for one pair by operation, and for one patch beside many, rest on the same
view of which blocks have a feature, and are held against each other.
"""
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcmp, memset

from excise.kernels._tables cimport MANY, Multisets, count_of
from excise.kernels._patches cimport INSIDE, OPERATIONS, SEVERAL, Index, Part, where_of
from excise.kernels._sites cimport MIXED, TOGETHER, Joined, free_joined, join


cdef struct Tally:
    # Of each operation the common n-grams at one place, and anywhere.
    int64_t here[OPERATIONS]
    int64_t shared[OPERATIONS]


cdef struct Side:
    # Some features of one patch, all of one n-gram; `place` is that of its first block.
    int64_t start
    int64_t stop
    int64_t first_part
    const int32_t* place


cdef const Part* parts_of(
    Index index, int64_t first_part, int64_t at, Part* alone, int64_t* n
) noexcept nogil:
    """The blocks that have a feature; `alone` gives room for one."""
    cdef uint32_t where = where_of(index, first_part, at)
    if where & SEVERAL:
        where ^= SEVERAL
        n[0] = index.parts[where].count
        return &index.parts[where + 1]
    alone.block = where
    alone.count = count_of(&index.edits, at)
    n[0] = 1
    return alone


cdef int64_t at_one_place(Index index, Side a, Side b, int64_t* left) noexcept nogil:
    """The common n-grams, place by place; `left` is all 0, before and after."""
    cdef int64_t found = 0, at, i, n, taken
    cdef const Part* parts
    cdef Part alone
    for at in range(a.start, a.stop):
        parts = parts_of(index, a.first_part, at, &alone, &n)
        for i in range(n):
            left[a.place[parts[i].block]] += parts[i].count
    for at in range(b.start, b.stop):
        parts = parts_of(index, b.first_part, at, &alone, &n)
        for i in range(n):
            taken = min(left[b.place[parts[i].block]], <int64_t>parts[i].count)
            left[b.place[parts[i].block]] -= taken
            found += taken
    for at in range(a.start, a.stop):
        parts = parts_of(index, a.first_part, at, &alone, &n)
        for i in range(n):
            left[a.place[parts[i].block]] = 0
    return found


cdef int64_t total(const Multisets* sets, Side side) noexcept nogil:
    cdef int64_t found = 0, at
    for at in range(side.start, side.stop):
        found += count_of(sets, at)
    return found


cdef void add_up(
    Index index, Side a, Side b, Joined* joined, int operation, Tally* found
) noexcept nogil:
    """Count what both sides have of one n-gram."""
    cdef int64_t shared = min(total(&index.edits, a), total(&index.edits, b))
    found.shared[operation] += shared
    if joined.joint == TOGETHER:
        found.here[operation] += shared
    elif joined.joint == MIXED:
        found.here[operation] += at_one_place(index, a, b, joined.left)


cdef void tally(
    Index index, int64_t i, int64_t j, bint keyed, Joined* joined, Tally* found
) noexcept nogil:
    """Count what a pair has in common; `joined` says which blocks share a place.

    `keyed` says whether n-grams match in files of one name only.
    """
    cdef const Multisets* sets = &index.edits
    cdef int64_t p_end = sets.first[i + 1], q_end = sets.first[j + 1]
    cdef uint32_t x, y
    cdef Side a, b, one, other
    memset(found, 0, sizeof(Tally))
    a.start, b.start = sets.first[i], sets.first[j]
    a.first_part, b.first_part = index.first_part[i], index.first_part[j]
    a.place = joined.place
    b.place = joined.place + (index.sites.first[i + 1] - index.sites.first[i])
    one, other = a, b
    while a.start < p_end and b.start < q_end:
        x, y = index.base[sets.ids[a.start]], index.base[sets.ids[b.start]]
        if x < y:
            a.start += 1
            continue
        if y < x:
            b.start += 1
            continue
        a.stop, b.stop = a.start + 1, b.start + 1
        while a.stop < p_end and index.base[sets.ids[a.stop]] == x:
            a.stop += 1
        while b.stop < q_end and index.base[sets.ids[b.stop]] == x:
            b.stop += 1
        if not keyed:
            add_up(index, a, b, joined, x % OPERATIONS, found)
        else:
            one.start, other.start = a.start, b.start
            while one.start < a.stop and other.start < b.stop:
                if sets.ids[one.start] < sets.ids[other.start]:
                    one.start += 1
                elif sets.ids[other.start] < sets.ids[one.start]:
                    other.start += 1
                else:
                    one.stop, other.stop = one.start + 1, other.start + 1
                    add_up(index, one, other, joined, x % OPERATIONS, found)
                    one.start += 1
                    other.start += 1
        a.start, b.start = a.stop, b.stop


cdef bint alike(Index index, uint32_t x, uint32_t y) noexcept nogil:
    """Whether two features are in blocks of the same numbers, in each equally often."""
    if not x & y & SEVERAL:
        return False
    x, y = x ^ SEVERAL, y ^ SEVERAL
    return index.parts[x].count == index.parts[y].count and memcmp(
        &index.parts[x + 1], &index.parts[y + 1], index.parts[x].count * sizeof(Part)) == 0


cdef bint level(const int32_t* of_i, int64_t n, const int32_t* of_j, int64_t m) noexcept nogil:
    """Whether blocks of the same numbers stand at one place, and nothing is left over."""
    return n == m and memcmp(of_i, of_j, n * sizeof(int32_t)) == 0


cdef int64_t run(Index index, const Side* a, const Side* b, int64_t a_end, int64_t b_end,
                 const Joined* joined, bint same, const uint32_t* bare, const uint32_t* weights,
                 int64_t* common) noexcept nogil:
    """Return how many features from the starts of both sides are the same, as often, and placed so.

    They are added up in `common`. Nothing is looked up on the way, and near copies are long runs.
    """
    cdef const Multisets* sets = &index.edits
    cdef int64_t p = a.start, q = b.start
    cdef bint mixed = joined.joint == MIXED
    cdef uint32_t x, y
    common[0] = 0
    while p < a_end and q < b_end and sets.ids[p] == sets.ids[q]:
        if sets.counts[p] != sets.counts[q] or sets.counts[p] == MANY:
            break
        if mixed:
            x, y = index.where[p], index.where[q]
            if x < INSIDE and y < INSIDE:
                if a.place[x] != b.place[y]:
                    break
            elif not same or not alike(index, where_of(index, a.first_part, p),
                                       where_of(index, b.first_part, q)):
                break
        common[0] += sets.counts[p] * (1 if weights is NULL else <int64_t>weights[sets.ids[p]])
        p += 1
        q += 1
    # Without names a run ends where an n-gram does: its next feature may be under another name.
    while bare is not NULL and p > a.start and (
            (p < a_end and bare[sets.ids[p]] == bare[sets.ids[p - 1]])
            or (q < b_end and bare[sets.ids[q]] == bare[sets.ids[q - 1]])):
        p -= 1
        q -= 1
        common[0] -= sets.counts[p] * (1 if weights is NULL else <int64_t>weights[sets.ids[p]])
    return p - a.start


cdef void placed(Index index, int64_t i, int64_t j, const uint32_t* own, const uint32_t* bare,
                 Joined* joined, const uint32_t* weights, int64_t* here, int64_t* shared
                 ) noexcept nogil:
    """Count what a pair has in common at one place, and anywhere, over all operations.

    This is `tally` for one patch beside many, whose operations nobody asks for: it looks up instead
    of searching, and only where a `run` ends. Of near copies nearly all features are in the same
    blocks, which `alike` sees.

    - ``own``: of each feature the place in the list of patch i, counted from 1; 0: it is not there.
      Where n-grams match under every name, only the first of each n-gram has one, with `SEVERAL` if
      more follow.
    - ``bare``: of each feature the one that stands for its n-gram under all names; NULL: names
      count.
    """
    cdef const Multisets* sets = &index.edits
    cdef int64_t n = index.sites.first[i + 1] - index.sites.first[i]
    cdef int64_t q = sets.first[j], end = sets.first[j + 1], weight = 1, common, length
    cdef int64_t next_ = sets.first[i]
    cdef const int32_t* of_i = joined.place
    cdef const int32_t* of_j = of_i + n
    cdef bint mixed = joined.joint == MIXED
    cdef bint same = mixed and level(of_i, n, of_j, index.sites.first[j + 1] - index.sites.first[j])
    cdef uint32_t f, x, y
    cdef Side a, b
    a.place, b.place = of_i, of_j
    a.first_part, b.first_part = index.first_part[i], index.first_part[j]
    here[0] = shared[0] = 0
    b.stop = q
    while b.stop < end:
        b.start = b.stop
        b.stop += 1
        f = sets.ids[b.start] if bare is NULL else bare[sets.ids[b.start]]
        if own[f] == 0:
            continue
        a.start = sets.first[i] + (own[f] & ~SEVERAL) - 1
        a.stop = a.start + 1
        # Two common features in a row may be a run; in patches that differ few are, and short.
        if a.start == next_:
            length = run(
                index, &a, &b, sets.first[i + 1], end, joined, same, bare, weights, &common)
            if length:
                next_ = a.start + length
                b.stop = b.start + length
                shared[0] += common
                if mixed:
                    here[0] += common
                continue
        if bare is not NULL:
            while b.stop < end and bare[sets.ids[b.stop]] == f:
                b.stop += 1
            if own[f] & SEVERAL:
                while a.stop < sets.first[i + 1] and bare[sets.ids[a.stop]] == f:
                    a.stop += 1
        next_ = a.stop
        if weights is not NULL:
            weight = weights[f]
        if a.stop > a.start + 1 or b.stop > b.start + 1:
            common = min(total(sets, a), total(sets, b))
            shared[0] += weight * common
            if mixed:
                here[0] += weight * at_one_place(index, a, b, joined.left)
            continue
        common = min(count_of(sets, a.start), count_of(sets, b.start))
        shared[0] += weight * common
        if not mixed:
            continue
        x = where_of(index, a.first_part, a.start)
        y = where_of(index, b.first_part, b.start)
        if not (x | y) & SEVERAL:
            if of_i[x] == of_j[y]:
                here[0] += weight * common
        elif same and alike(index, x, y):
            here[0] += weight * common
        else:
            here[0] += weight * at_one_place(index, a, b, joined.left)
    if joined.joint == TOGETHER:
        here[0] = shared[0]


cdef int joined_by(Index index, int64_t i, int64_t j, bint keyed, Joined* joined) except -1:
    index.check(i)
    index.check(j)
    if join(&index.sites, i, j, keyed and index.keyed, joined) != 0:
        raise MemoryError("excise: out of memory while comparing patches")
    return 0


def pair(Index index not None, int64_t i, int64_t j, bint keyed):
    """Return keep, add, delete of a pair, each as `excise.regions.Count`.

    - ``keyed``: whether n-grams match in files of one name only.
    """
    cdef Joined joined
    cdef Tally found
    memset(&joined, 0, sizeof(Joined))
    try:
        joined_by(index, i, j, keyed, &joined)
        tally(index, i, j, keyed, &joined, &found)
    finally:
        free_joined(&joined)
    return tuple([
        count for operation in range(OPERATIONS) for count in (
            found.here[operation], index.sizes[OPERATIONS * i + operation],
            index.sizes[OPERATIONS * j + operation], found.shared[operation])])


def places(Index index not None, int64_t i, int64_t j, bint keyed):
    """Return the places of the blocks of both patches, in their order: equal ints are one place."""
    cdef Joined joined
    cdef int64_t n, first = 0, at, block, patch
    memset(&joined, 0, sizeof(Joined))
    try:
        joined_by(index, i, j, keyed, &joined)
        found = []
        for patch in (i, j):
            at = index.sites.first[patch]
            n = index.sites.first[patch + 1] - at
            numbers = [0] * n
            for block in range(n):
                numbers[index.sites.sites[at + block].at] = joined.place[first + block]
            found.append(numbers)
            first += n
        return tuple(found)
    finally:
        free_joined(&joined)
