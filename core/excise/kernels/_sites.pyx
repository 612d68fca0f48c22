# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Blocks stand at one place by the heading of their hunk and the lines around them (section 8)."""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from excise.kernels._tables cimport NO_MEMORY, enlarged
from excise.kernels._walk cimport CANCELLED, Stop, stopped


cdef int put_site(
    Sites* all, int32_t at, const int32_t* block, const int32_t* around
) noexcept nogil:
    """Add a block to the patch that is being read; `around` are pairs of a line and its words."""
    cdef int32_t n = block[6], i, slot
    cdef void* moved = enlarged(all.sites, all.n_sites + 1, &all.capacities[0], sizeof(Site))
    cdef Site* site
    cdef Line* lines
    cdef Line line
    if moved is NULL:
        return NO_MEMORY
    all.sites = <Site*>moved
    moved = enlarged(all.lines, all.n_lines + n, &all.capacities[1], sizeof(Line))
    if moved is NULL and n:
        return NO_MEMORY
    all.lines = <Line*>moved
    site = &all.sites[all.n_sites]
    site.key, site.at, site.heading = block[0], at, block[5]
    site.n, site.first = n, all.n_lines
    site.words = 0
    site.mask = 0
    lines = all.lines + all.n_lines
    for i in range(n):
        line.id, line.words = <uint32_t>around[2 * i], <uint32_t>around[2 * i + 1]
        slot = i
        while slot and lines[slot - 1].id > line.id:
            lines[slot] = lines[slot - 1]
            slot -= 1
        lines[slot] = line
        site.words += line.words
        site.mask |= <uint64_t>1 << ((line.id * <uint64_t>0x9E3779B97F4A7C15) >> 58)
    if site.words == 0:
        site.mask = ~<uint64_t>0
    all.n_sites += 1
    all.n_lines += n
    return 0


cdef int end_patch(Sites* all) noexcept nogil:
    cdef void* moved = enlarged(all.first, all.n + 2, &all.capacities[2], sizeof(int64_t))
    if moved is NULL:
        return NO_MEMORY
    all.first = <int64_t*>moved
    if all.n == 0:
        all.first[0] = 0
    all.n += 1
    all.first[all.n] = all.n_sites
    return 0


cdef void free_sites(Sites* all) noexcept nogil:
    free(all.sites)
    free(all.lines)
    free(all.first)
    memset(all, 0, sizeof(Sites))


cdef void free_joined(Joined* joined) noexcept nogil:
    free(joined.place)
    free(joined.left)
    memset(joined, 0, sizeof(Joined))


cdef int64_t common_words(const Sites* all, const Site* x, const Site* y) noexcept nogil:
    """The words of the lines around both blocks; a line as often as both have it."""
    cdef int64_t p = x.first, q = y.first, common = 0
    while p < x.first + x.n and q < y.first + y.n:
        if all.lines[p].id == all.lines[q].id:
            common += all.lines[p].words
            p += 1
            q += 1
        elif all.lines[p].id < all.lines[q].id:
            p += 1
        else:
            q += 1
    return common


cdef bint related(const Sites* all, const Site* x, const Site* y) noexcept nogil:
    """Whether two blocks of one file name stand at one place by themselves; masks meet."""
    cdef bint both = x.heading != NO_HEADING and y.heading != NO_HEADING
    cdef int64_t common
    if x.words == 0 or y.words == 0:
        return not both or x.heading == y.heading
    common = common_words(all, x, y)
    if both and x.heading == y.heading:
        return common > 0
    return (2 if both else 5) * common >= min(x.words, y.words)


cdef int32_t root_of(int32_t* parent, int32_t block) noexcept nogil:
    while parent[block] != block:
        parent[block] = parent[parent[block]]
        block = parent[block]
    return block


cdef int reserve(Joined* joined, int64_t n) noexcept nogil:
    if n <= joined.capacity:
        return 0
    free_joined(joined)
    joined.place = <int32_t*>malloc(2 * n * sizeof(int32_t))
    joined.left = <int64_t*>calloc(2 * n, sizeof(int64_t))
    if joined.place is NULL or joined.left is NULL:
        free_joined(joined)
        return NO_MEMORY
    joined.capacity = 2 * n
    return 0


cdef int64_t same_key(const Site* sites, int64_t at, int64_t stop) noexcept nogil:
    """One past the last block that is in a file of the same name as the one at `at`."""
    cdef int32_t key = sites[at].key
    while at < stop and sites[at].key == key:
        at += 1
    return at


cdef int join(const Sites* all, int64_t i, int64_t j, bint keyed, Joined* joined, const Stop* halt
              ) noexcept nogil:
    """Find the places of a pair: blocks of both that are related, directly or through others.

    Without `keyed` all files have one name.
    """
    cdef const Site* a = all.sites + all.first[i]
    cdef const Site* b = all.sites + all.first[j]
    cdef int64_t n = all.first[i + 1] - all.first[i], m = all.first[j + 1] - all.first[j]
    cdef int64_t p = 0, q = 0, p_stop, q_stop, x, y
    cdef int32_t own, other
    cdef int32_t* parent
    cdef bint apart = False, together = False
    if reserve(joined, n + m) != 0:
        return NO_MEMORY
    parent = joined.place
    for x in range(n + m):
        parent[x] = <int32_t>x
    while p < n and q < m:
        p_stop = same_key(a, p, n) if keyed else n
        q_stop = same_key(b, q, m) if keyed else m
        if keyed and a[p].key != b[q].key:
            if a[p].key < b[q].key:
                p = p_stop
            else:
                q = q_stop
            continue
        for x in range(p, p_stop):
            if stopped(halt, x):
                return CANCELLED
            for y in range(q, q_stop):
                if not a[x].mask & b[y].mask:
                    continue
                own, other = root_of(parent, <int32_t>x), root_of(parent, <int32_t>(n + y))
                if own != other and related(all, &a[x], &b[y]):
                    parent[max(own, other)] = min(own, other)
        for x in range(p, p_stop):
            apart = apart or root_of(parent, <int32_t>x) != root_of(parent, <int32_t>p)
        for y in range(q, q_stop):
            other = root_of(parent, <int32_t>(n + y))
            apart = apart or other != root_of(parent, <int32_t>p)
            together = together or other < n
        p, q = p_stop, q_stop
    for x in range(n + m):
        parent[x] = root_of(parent, <int32_t>x)
    joined.joint = MIXED if together and apart else (TOGETHER if together else APART)
    return 0
