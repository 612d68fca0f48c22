"""Blocks stand at one place by the heading of their hunk and the lines around them (section 8)."""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport bsearch, calloc, free, malloc, qsort
from libc.string cimport memcmp, memcpy, memset

from excise.kernels._tables cimport NO_MEMORY, make_room


cdef enum:
    MANY = 1024           # pairs of blocks that are looked at one by one


cdef struct Kind:
    # A block, and how many of its patch are related to the same ones if it is the first of them.
    uint64_t hash
    int64_t at
    int64_t n
    bint is_joined


cdef int by_number(const void* x, const void* y) noexcept nogil:
    cdef int32_t a = (<const int32_t*>x)[0], b = (<const int32_t*>y)[0]
    return (a > b) - (a < b)


cdef int put_said(Sites* all, const int32_t* said, int64_t n) noexcept nogil:
    """Append the words of a hunk, ascending."""
    if make_room(<void**>&all.said, all.n_said + n, &all.capacities[3], sizeof(int32_t)) != 0:
        return NO_MEMORY
    if n:
        memcpy(all.said + all.n_said, said, n * sizeof(int32_t))
        qsort(all.said + all.n_said, n, sizeof(int32_t), by_number)
    all.n_said += n
    return 0


cdef int put_site(
    Sites* all, int32_t at, const int32_t* block, const int32_t* around, const int32_t* said,
    const int32_t* last
) noexcept nogil:
    """Add a block to the patch that is being read.

    `around` are pairs of a line and its words, `said` the tokens in which the words of its hunk
    lie. `last` is the block that was added before it to this patch, or NULL.
    """
    cdef int32_t n = block[6], i, slot
    cdef Site* site
    cdef Line* lines
    cdef Line line
    if (make_room(<void**>&all.sites, all.n_sites + 1, &all.capacities[0], sizeof(Site)) != 0
            or make_room(
                <void**>&all.lines, all.n_lines + n, &all.capacities[1], sizeof(Line)) != 0):
        return NO_MEMORY
    site = &all.sites[all.n_sites]
    site.key, site.at, site.heading, site.function = block[0], at, block[5], block[7]
    site.n_said = block[9] - block[8]
    if last is not NULL and last[8] == block[8] and last[9] == block[9]:
        site.said = (site - 1).said
    else:
        site.said = all.n_said
        if put_said(all, said + block[8], site.n_said) != 0:
            return NO_MEMORY
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
    if make_room(<void**>&all.first, all.n + 2, &all.capacities[2], sizeof(int64_t)) != 0:
        return NO_MEMORY
    if all.n == 0:
        all.first[0] = 0
    all.n += 1
    all.first[all.n] = all.n_sites
    return 0


cdef void free_sites(Sites* all) noexcept nogil:
    free(all.sites)
    free(all.lines)
    free(all.said)
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


cdef bint has_said(const Sites* all, const Site* site, int32_t word) noexcept nogil:
    return site.n_said > 0 and bsearch(
        &word, all.said + site.said, site.n_said, sizeof(int32_t), by_number) is not NULL


cdef bint one_function(const Sites* all, const Site* x, const Site* y) noexcept nogil:
    """Whether two different headings may be of one function, which one of the patches renames."""
    return (
        x.function == NO_NAME or y.function == NO_NAME
        or has_said(all, y, x.function) or has_said(all, x, y.function))


cdef bint related(const Sites* all, const Site* x, const Site* y) noexcept nogil:
    """Whether two blocks of one file name stand at one place by themselves; masks meet."""
    cdef bint both = x.heading != NO_HEADING and y.heading != NO_HEADING
    cdef int64_t common
    if x.words == 0 or y.words == 0:
        return not both or x.heading == y.heading
    common = common_words(all, x, y)
    if both and x.heading == y.heading:
        return common > 0
    if both:
        return 2 * common >= min(x.words, y.words) and one_function(all, x, y)
    return 5 * common >= min(x.words, y.words)


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


cdef int by_hash(const void* x, const void* y) noexcept nogil:
    cdef const Kind* a = <const Kind*>x
    cdef const Kind* b = <const Kind*>y
    if a.hash != b.hash:
        return (a.hash > b.hash) - (a.hash < b.hash)
    return (a.at > b.at) - (a.at < b.at)


cdef bint are_alike(const Sites* all, const Site* x, const Site* y) noexcept nogil:
    """Whether two blocks of one patch are related to the same blocks of any other."""
    return (
        x.heading == y.heading and x.function == y.function and x.said == y.said
        and x.n_said == y.n_said and x.n == y.n and memcmp(
            all.lines + x.first, all.lines + y.first, x.n * sizeof(Line)) == 0)


cdef void find_kinds(
    const Sites* all, const Site* sites, int64_t start, int64_t stop, Kind* kinds
) noexcept nogil:
    """Put blocks that are alike one behind the other; the first of them has their number."""
    cdef int64_t n = stop - start, at, line, first = 0
    cdef const Site* site
    for at in range(n):
        site = sites + start + at
        kinds[at].at, kinds[at].n, kinds[at].is_joined = start + at, 1, False
        kinds[at].hash = <uint64_t>site.heading * <uint64_t>0x9E3779B97F4A7C15 ^ <uint64_t>site.said
        for line in range(site.first, site.first + site.n):
            kinds[at].hash = (kinds[at].hash ^ all.lines[line].id) * <uint64_t>0xD6E8FEB86659FD93
            kinds[at].hash ^= kinds[at].hash >> 32
    qsort(kinds, n, sizeof(Kind), by_hash)
    for at in range(1, n):
        if are_alike(all, sites + kinds[first].at, sites + kinds[at].at):
            kinds[first].n += 1
        else:
            first = at


cdef int join_kinds(
    const Sites* all, const Site* a, int64_t p, int64_t p_stop, const Site* b, int64_t q,
    int64_t q_stop, int64_t n, int32_t* parent
) noexcept nogil:
    """Join the blocks of many by comparing one of each kind, and then the others of its kind.

    Where lines repeat there are few kinds, and every block beside every other one would be
    quadratic.
    """
    cdef int64_t of_a = p_stop - p, of_b = q_stop - q, x, y
    cdef int32_t own, other
    cdef Kind* kinds = <Kind*>malloc((of_a + of_b) * sizeof(Kind))
    cdef Kind* others = kinds + of_a
    if kinds is NULL:
        return NO_MEMORY
    find_kinds(all, a, p, p_stop, kinds)
    find_kinds(all, b, q, q_stop, others)
    x = 0
    while x < of_a:
        y = 0
        while y < of_b:
            if a[kinds[x].at].mask & b[others[y].at].mask:
                own = root_of(parent, <int32_t>kinds[x].at)
                other = root_of(parent, <int32_t>(n + others[y].at))
                if own != other and related(all, &a[kinds[x].at], &b[others[y].at]):
                    parent[max(own, other)] = min(own, other)
                    kinds[x].is_joined = others[y].is_joined = True
            y += others[y].n
        x += kinds[x].n
    join_alike(kinds, of_a, 0, parent)
    join_alike(others, of_b, n, parent)
    free(kinds)
    return 0


cdef void join_alike(const Kind* kinds, int64_t n, int64_t shift, int32_t* parent) noexcept nogil:
    """Join the blocks of each kind that shares a place with a block of the other patch."""
    cdef int64_t first = 0, at
    cdef int32_t own, other
    while first < n:
        for at in range(first + 1, first + kinds[first].n if kinds[first].is_joined else 0):
            own = root_of(parent, <int32_t>(shift + kinds[first].at))
            other = root_of(parent, <int32_t>(shift + kinds[at].at))
            parent[max(own, other)] = min(own, other)
        first += kinds[first].n


cdef int join(
    const Sites* all, int64_t i, int64_t j, bint keyed, Joined* joined
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
        if (p_stop - p) * (q_stop - q) > MANY:
            if join_kinds(all, a, p, p_stop, b, q, q_stop, n, parent) != 0:
                return NO_MEMORY
        else:
            for x in range(p, p_stop):
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
