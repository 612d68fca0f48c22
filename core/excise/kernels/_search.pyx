"""All pairs of patches that score at least so much, without looking at all pairs.

An inverted index of the rare features, and a bound for what the frequent ones may add (proof in
docs/algorithm.md), say which pairs can, counted anywhere; those are counted exactly, by place.
Patches whose context lines agree are found in the same way, and compared without the names of their
files. Over 300 lines: the loops over candidates share one scratch memory, and apart each would need
it passed through C interfaces.
"""
from libc.math cimport log, log2
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from array import array

from excise.kernels._formula cimport ANYWHERE, HERE, WHOLE
from excise.kernels._matches cimport placed
from excise.kernels._patches cimport OPERATIONS, SEVERAL, Index
from excise.kernels._sites cimport Joined, free_joined, join
from excise.kernels._tables cimport (
    NO_MEMORY, Item, Multisets, count_of, make_room, merged, ordered,
)

cdef enum:
    RESCUE_NUMERATOR = 9      # context F1 from which a renamed file is believed: 9 / 10
    RESCUE_DENOMINATOR = 10
    RENAMED = -1              # instead of what is shared: to be counted without names
    WEIGHT = 65536            # weights are integers, so that no order of adding up shows
    LEVELS = 256
    FEW = 256
    MOST_POSTINGS = 0xFFFFFFFF


cdef double HAIR = 1e-12  # of a bound: more than rounding can take, less than a count can matter


cdef struct Relation:
    # Pairs with 2 * shared >= least * (total + total), weights and all.
    const Multisets* sets
    int64_t n                 # multisets, and ids, when it was made
    int64_t ids
    double least
    uint32_t* weights         # per id; NULL: 1
    uint8_t* levels           # per id: the more sets have it, the higher
    int64_t* total            # per set
    uint8_t* cut              # per set: ids up to this level are looked up,
    int64_t* rest             # and what all others weigh
    const uint8_t* is_again   # per set: whether it equals an earlier one, and is left out; or NULL
    const uint32_t* order     # the sets by rank: who is near in size is near in rank

cdef struct Postings:
    # Of a range of ranks from `start`: those of rank start + who[head[f]:end[f]] have id f at or
    # below their cuts, ascending. Those that `gather` has passed are before the head.
    int64_t start
    uint32_t* head
    uint32_t* end
    uint32_t* who
    uint32_t* often


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


cdef struct Row:
    # Scratch of one thread: what a patch shares with each other one (by rank), and its features.
    int64_t* shared
    int64_t* context
    uint32_t* touched
    uint32_t* near
    uint32_t* own             # by feature: where it stands in the patch, counted from 1
    int64_t spread            # that patch; -1: none
    bint renamed              # whether names of files are left out
    Joined joined             # and with one of them the places


cdef void free_row(Row* row) noexcept nogil:
    free(row.shared)
    free(row.context)
    free(row.touched)
    free(row.near)
    free(row.own)
    free_joined(&row.joined)
    memset(row, 0, sizeof(Row))


cdef struct Found:
    int32_t* left
    int32_t* right
    double* value
    int64_t n
    int64_t capacities[3]


cdef int keep(Found* found, int64_t i, int64_t j, double value) noexcept nogil:
    cdef int64_t n = found.n + 1
    if (make_room(<void**>&found.left, n, &found.capacities[0], sizeof(int32_t)) != 0
            or make_room(<void**>&found.right, n, &found.capacities[1], sizeof(int32_t)) != 0
            or make_room(<void**>&found.value, n, &found.capacities[2], sizeof(double)) != 0):
        return NO_MEMORY
    found.left[found.n] = <int32_t>i
    found.right[found.n] = <int32_t>j
    found.value[found.n] = value
    found.n += 1
    return 0


cdef class Search:
    """The patches of an index as they are now, compared at `least` or above.

    - ``index``: patches that are added later are not seen.
    - ``least``: pairs that score less are not found; at most 1, and 0 or less finds all that share
      anything.
    - ``idf``: weigh an n-gram by ln((1 + N) / (1 + df)) + 1, where df of the N patches have it,
      under whatever name (rounded to 1 / 65536).
    - ``distinct``: leave patches out of `pairs` that equal an earlier one (`Index.first`).
    """

    cdef Index index
    cdef Relation edits, lines
    cdef Row row              # of `dense`
    cdef bint busy
    cdef uint32_t* order      # patches by rank
    cdef uint32_t* bare       # per feature the first one with its n-gram, under whatever name
    cdef uint8_t* is_again    # per patch: whether it equals an earlier one; NULL: not asked

    def __cinit__(self, Index index not None, double least, bint idf=False, bint distinct=False):
        cdef int status
        cdef int64_t i
        cdef const int32_t[::1] first = index.first
        self.index = index
        self.edits.sets = &index.edits
        self.lines.sets = &index.lines
        self.edits.n = self.lines.n = index.edits.n
        self.edits.ids = index.features_.n
        self.lines.ids = index.n_lines
        self.edits.least = min(max(least, 0.0), 1.0)
        self.lines.least = <double>RESCUE_NUMERATOR / RESCUE_DENOMINATOR
        if distinct:
            self.is_again = <uint8_t*>malloc(index.edits.n + 1)
            if self.is_again is NULL:
                finish(NO_MEMORY)
            for i in range(index.edits.n):
                self.is_again[i] = first[i] != i
            self.edits.is_again = self.lines.is_again = self.is_again
        with nogil:
            status = self.weigh() if idf else 0
            if status == 0:
                status = relate(&self.edits)
            if status == 0:
                status = relate(&self.lines)
            if status == 0:
                status = self.rank()
            if status == 0:
                status = self.strip()
        finish(status)

    def __dealloc__(self):
        free_relation(&self.edits)
        free_relation(&self.lines)
        free_row(&self.row)
        free(self.order)
        free(self.bare)
        free(self.is_again)

    def __len__(self):
        return self.edits.n

    @property
    def least(self):
        """What the pairs that are found score at least."""
        return self.edits.least

    def size(self, int64_t i):
        """Return what the edits of patch i weigh: how many n-grams they hold, or with `idf`."""
        if not 0 <= i < self.edits.n:
            raise IndexError(f"no patch {i} of {self.edits.n}")
        return self.edits.total[i]

    cdef int weigh(self) noexcept nogil:
        cdef const Multisets* sets = self.edits.sets
        cdef int64_t bare = OPERATIONS * <int64_t>self.index.nodes.n, i, at, plain
        cdef uint32_t* often = <uint32_t*>calloc(bare + 1, sizeof(uint32_t))
        cdef uint32_t* last = <uint32_t*>calloc(bare + 1, sizeof(uint32_t))
        self.edits.weights = <uint32_t*>malloc((self.edits.ids + 1) * sizeof(uint32_t))
        if often is NULL or last is NULL or self.edits.weights is NULL:
            free(often)
            free(last)
            return NO_MEMORY
        for i in range(self.edits.n):
            for at in range(sets.first[i], sets.first[i + 1]):
                plain = self.index.base[sets.ids[at]]
                if last[plain] != <uint32_t>i + 1:
                    last[plain] = <uint32_t>i + 1
                    often[plain] += 1
        for at in range(self.edits.ids):
            self.edits.weights[at] = <uint32_t>(0.5 + WEIGHT * (
                log((1.0 + self.edits.n) / (1.0 + often[self.index.base[at]])) + 1))
        free(often)
        free(last)
        return 0

    cdef int rank(self) noexcept nogil:
        """Order the patches by what they hold; equal ones stay in their order."""
        cdef Item* items = <Item*>malloc((self.edits.n + 1) * sizeof(Item))
        cdef int64_t at
        self.order = <uint32_t*>malloc((self.edits.n + 1) * sizeof(uint32_t))
        self.edits.order = self.lines.order = self.order
        if items is NULL or self.order is NULL:
            free(items)
            return NO_MEMORY
        for at in range(self.edits.n):
            items[at].key, items[at].part = self.edits.total[at], <uint32_t>at
        ordered(items, self.edits.n)
        for at in range(self.edits.n):
            self.order[at] = items[at].part
        free(items)
        return 0

    cdef int strip(self) noexcept nogil:
        """Find which features are one n-gram under several names."""
        cdef int64_t kinds = OPERATIONS * <int64_t>self.index.nodes.n, f
        cdef uint32_t* first = <uint32_t*>calloc(kinds + 1, sizeof(uint32_t))
        cdef uint32_t* own
        self.bare = <uint32_t*>malloc((self.edits.ids + 1) * sizeof(uint32_t))
        if first is NULL or self.bare is NULL:
            free(first)
            return NO_MEMORY
        for f in range(self.edits.ids):
            own = &first[self.index.base[f]]
            if own[0] == 0:
                own[0] = <uint32_t>f + 1
            self.bare[f] = own[0] - 1
        free(first)
        return 0

    cdef int make_row(self, Row* row, int64_t n) noexcept nogil:
        """Make room for n other patches."""
        row.spread = -1
        row.shared = <int64_t*>calloc(n + 1, sizeof(int64_t))
        row.context = <int64_t*>calloc(n + 1, sizeof(int64_t))
        row.touched = <uint32_t*>malloc((n + 1) * sizeof(uint32_t))
        row.near = <uint32_t*>malloc((n + 1) * sizeof(uint32_t))
        row.own = <uint32_t*>calloc(self.edits.ids + 1, sizeof(uint32_t))
        if (row.shared is NULL or row.context is NULL or row.touched is NULL or row.near is NULL
                or row.own is NULL):
            return NO_MEMORY
        return 0

    cdef void spread(self, int64_t i, Row* row, bint renamed) noexcept nogil:
        """Write the features of a patch where `placed` looks them up."""
        cdef const Multisets* sets = self.edits.sets
        cdef int64_t at, first = sets.first[i]
        cdef uint32_t f
        self.wipe(row)
        row.spread, row.renamed = i, renamed
        for at in range(first, sets.first[i + 1]):
            f = self.bare[sets.ids[at]] if renamed else sets.ids[at]
            row.own[f] = row.own[f] | SEVERAL if row.own[f] else <uint32_t>(at - first + 1)

    cdef void wipe(self, Row* row) noexcept nogil:
        """Undo `spread`."""
        cdef const Multisets* sets = self.edits.sets
        cdef int64_t at
        if row.spread < 0:
            return
        for at in range(sets.first[row.spread], sets.first[row.spread + 1]):
            row.own[self.bare[sets.ids[at]] if row.renamed else sets.ids[at]] = 0
        row.spread = -1

    cdef double over(self, int64_t here, int64_t shared, int64_t i, int64_t j) noexcept nogil:
        """2 (HERE here + ANYWHERE shared) / (WHOLE (a + b)), rounded once."""
        cdef int64_t total = self.edits.total[i] + self.edits.total[j]
        return 2.0 * (HERE * here + ANYWHERE * shared) / (WHOLE * <double>total) if total else 1.0

    cdef int score(self, int64_t i, int64_t j, bint renamed, Row* row, double* value
                   ) noexcept nogil:
        """Write the score of a pair; the first patch stays spread out for the next one."""
        cdef int64_t here = 0, shared = 0
        cdef bint keyed = self.index.keyed and not renamed
        if join(&self.index.sites, i, j, keyed, &row.joined) != 0:
            return NO_MEMORY
        if row.spread != i or row.renamed != (not keyed):
            self.spread(i, row, not keyed)
        placed(self.index, i, j, row.own, NULL if keyed else self.bare, &row.joined,
               self.edits.weights, &here, &shared)
        value[0] = self.over(here, shared, i, j)
        return 0

    cdef bint renamed(self, int64_t i, int64_t j) noexcept nogil:
        cdef int64_t a = self.lines.total[i], b = self.lines.total[j]
        if a == 0 or b == 0:
            return False
        return 2 * merged(self.lines.sets, i, j) * RESCUE_DENOMINATOR >= RESCUE_NUMERATOR * (a + b)

    cdef int search(self, int64_t rank, int64_t last, Row* row, Postings* edits, Postings* lines,
                    Found* found, int64_t* work) noexcept nogil:
        """Compare a patch with every one of a later rank, up to the last, of the postings."""
        cdef int64_t n = 0, m = 0, at, shared, k = 0
        cdef int64_t i = self.order[rank], j
        cdef const uint32_t* others = self.order + edits.start
        cdef uint32_t other
        cdef double value
        cdef int status = 0
        work[0] += gather(&self.edits, edits, rank, last, row.shared, row.touched, &n)
        work[0] += gather(&self.lines, lines, rank, last, row.context, row.near, &m)
        # Patches to be compared without names go to the front of `near`; they are done with.
        for at in range(m):
            other = row.near[at]
            j = others[other]
            shared = row.context[other] + unseen(&self.lines, i, j)
            row.context[other] = 0
            if not hopeless(&self.lines, i, j, shared) and self.renamed(i, j):
                row.shared[other] = RENAMED
                row.near[k] = other
                k += 1
        for at in range(n + k):
            other = row.touched[at] if at < n else row.near[at - n]
            j = others[other]
            shared = row.shared[other]
            row.shared[other] = 0
            if status != 0 or shared == 0:
                continue
            if shared == RENAMED:
                if hopeless(&self.edits, i, j, self.edits.total[i]):
                    continue
            elif hopeless(&self.edits, i, j, shared + unseen(&self.edits, i, j)):
                continue
            work[1] += 1
            status = self.score(i, j, shared == RENAMED, row, &value)
            if status == 0 and value > 0 and value >= self.edits.least:
                status = keep(found, min(i, j), max(i, j), value)
        return status

    cdef bint too_large(self, int64_t rank, int64_t other) noexcept nogil:
        """Whether a patch of a later rank holds too much to score enough, whatever it shares."""
        cdef int64_t i = self.order[rank]
        return hopeless(&self.edits, i, self.order[other], self.edits.total[i])

    def pairs(self, int64_t start, int64_t stop):
        """Return the pairs i < j that score `least` or more, and above 0: one piece of them.

        Patches are ranked by how much they hold. The later one of each pair has a rank from
        `start` to `stop` (exclusive), so that pieces that follow each other have all pairs.
        Runs without the GIL, and in several threads at once.

        Returns: i, j and value of each pair, as arrays; and how much was done: postings read, pairs
        counted.
        """
        cdef Row row
        cdef Found found
        cdef Postings edits, lines
        cdef int64_t work[2]
        cdef int64_t rank = 0, last = start
        cdef int status
        if not 0 <= start <= stop <= self.edits.n:
            raise IndexError(f"no patches {start} to {stop} of {self.edits.n}")
        memset(&row, 0, sizeof(Row))
        memset(&found, 0, sizeof(Found))
        memset(&edits, 0, sizeof(Postings))
        memset(&lines, 0, sizeof(Postings))
        work[0] = work[1] = 0
        with nogil:
            status = self.make_row(&row, stop - start)
            if status == 0:
                status = invert(&self.edits, start, stop, &edits)
            if status == 0:
                status = invert(&self.lines, start, stop, &lines)
            while rank < stop and status == 0:
                last = max(last, rank)
                while last + 1 < stop and not self.too_large(rank, last + 1):
                    last += 1
                if (last > rank and not self.too_large(rank, max(start, rank + 1))
                        and (self.is_again is NULL or not self.is_again[self.order[rank]])):
                    status = self.search(rank, last, &row, &edits, &lines, &found, work)
                rank += 1
            free_row(&row)
            free_postings(&edits)
            free_postings(&lines)
        try:
            finish(status)
            return (
                taken("i", <void**>&found.left, found.n * sizeof(int32_t)),
                taken("i", <void**>&found.right, found.n * sizeof(int32_t)),
                taken("d", <void**>&found.value, found.n * sizeof(double)),
                (work[0], work[1]),
            )
        finally:
            free(found.left)
            free(found.right)
            free(found.value)

    def ranges(self, int64_t most, int64_t least=1):
        """Return from where to where `pairs` may look, in pieces that take about as long.

        Pieces hold equally many features, not patches: a large patch has more to compare.

        - ``most``: so many pieces at most, ..
        - ``least``: .. and so many patches a piece on average at least.
        """
        cdef const Multisets* sets = self.edits.sets
        cdef int64_t n = max(1, min(most, self.edits.n // max(least, 1))), rank, i
        cdef int64_t whole = self.edits.n + (sets.first[self.edits.n] if self.edits.n else 0)
        cdef int64_t passed = 0, start = 0
        found = []
        for rank in range(self.edits.n):
            i = self.order[rank]
            passed += 1 + sets.first[i + 1] - sets.first[i]
            if passed * n >= whole * (len(found) + 1):
                found.append((start, rank + 1))
                start = rank + 1
        return found

    def dense(self, const int32_t[::1] members not None, double[:, ::1] values not None,
              *, bint missing=False):
        """Write the scores of every pair of the members, whatever they are; not in two threads.

        - ``missing``: write only where a value is below `least`; all others are there already.
        """
        cdef int64_t k = members.shape[0], i, j, at
        cdef int status = 0
        cdef double value = 0
        if values.shape[0] != k or values.shape[1] != k:
            raise ValueError("values must be one row and column a member")
        for i in range(k):
            if not 0 <= members[i] < self.edits.n:
                raise IndexError(f"no patch {members[i]} of {self.edits.n}")
        if self.busy:
            raise RuntimeError("this search is in use by another thread")
        self.busy = True
        with nogil:
            if self.row.own is NULL:
                free_row(&self.row)
                status = self.make_row(&self.row, 0)
            for i in range(k):
                values[i, i] = 1
                for at in range(i + 1, k):
                    j = members[at]
                    if status != 0 or missing and values[i, at] >= self.edits.least:
                        continue
                    status = self.score(
                        members[i], j, self.renamed(members[i], j), &self.row, &value)
                    values[i, at] = values[at, i] = value
            self.wipe(&self.row)
        self.busy = False
        finish(status)


cdef int finish(int status) except -1:
    if status != 0:
        raise MemoryError("excise: out of memory while comparing patches")
    return 0


cdef object taken(str code, void** data, int64_t size):
    """Return data as an array, and free it: of millions of pairs no two copies are kept."""
    found = array(code)
    if size:
        found.frombytes(<char[:size]>data[0])
    free(data[0])
    data[0] = NULL
    return found
