# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Many patches at once: n-grams of change blocks as sorted counts, and all pairs by their postings.

Every n-gram is a node of a trie (parent, token), every feature a node with an operation and a file
name, both numbered by hash tables that compare the whole key: counts are exact. A patch is a
sorted list of (feature, count), as are its context lines. A row of scores walks, for each feature
of one patch, the other patches that have it, so that pairs which share nothing cost nothing.

Over the size budget: counting and scoring share the numbering of features; a split is due.
"""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort, realloc
from libc.string cimport memset

from array import array

from excise.errors import Cancelled

from excise._walk cimport CancelFlag, Stop, stopped

cdef enum:
    ORDERS = 4
    OPERATIONS = 3        # keep, add, delete
    RESCUE_NUMERATOR = 9  # context F1 from which a renamed file is believed: 9 / 10
    RESCUE_DENOMINATOR = 10
    NO_MEMORY = -1
    MOST = 0x55555555     # numbers of a table: three times as many fit 32 bits


cdef struct Table:
    # Open addressing from keys to numbers 0, 1, ..; a free slot holds 0, a used one number + 1.
    uint64_t* keys
    uint32_t* numbers
    uint64_t mask
    uint32_t n


cdef struct Sparse:
    # One multiset a patch: ids[first[i]:first[i + 1]] ascending, with their counts.
    uint32_t* ids
    uint32_t* counts
    int64_t* first
    int64_t* total
    int64_t n             # patches
    int64_t capacity
    int64_t n_capacity
    # The inverse: who[post[f]:post[f + 1]] have feature f, ascending.
    int64_t* post
    uint32_t* who
    uint32_t* often


cdef struct Item:
    uint32_t id
    uint32_t count


cdef int by_id(const void* x, const void* y) noexcept nogil:
    cdef uint32_t a = (<const Item*>x).id, b = (<const Item*>y).id
    return (a > b) - (a < b)


cdef inline uint64_t mixed(uint64_t key) noexcept nogil:
    key ^= key >> 31
    key *= <uint64_t>0x9E3779B97F4A7C15
    key ^= key >> 29
    key *= <uint64_t>0xBF58476D1CE4E5B9
    return key ^ (key >> 32)


cdef int empty(Table* table) noexcept nogil:
    table.keys = <uint64_t*>malloc(1024 * sizeof(uint64_t))
    table.numbers = <uint32_t*>calloc(1024, sizeof(uint32_t))
    table.mask = 1023
    return NO_MEMORY if table.keys is NULL or table.numbers is NULL else 0


cdef int grow(Table* table) noexcept nogil:
    cdef uint64_t size = 2 * (table.mask + 1), at, slot
    cdef uint64_t* keys = <uint64_t*>malloc(size * sizeof(uint64_t))
    cdef uint32_t* numbers = <uint32_t*>calloc(size, sizeof(uint32_t))
    if keys is NULL or numbers is NULL:
        free(keys)
        free(numbers)
        return NO_MEMORY
    for at in range(table.mask + 1):
        if table.numbers[at]:
            slot = mixed(table.keys[at]) & (size - 1)
            while numbers[slot]:
                slot = (slot + 1) & (size - 1)
            keys[slot] = table.keys[at]
            numbers[slot] = table.numbers[at]
    free(table.keys)
    free(table.numbers)
    table.keys = keys
    table.numbers = numbers
    table.mask = size - 1
    return 0


cdef int64_t find(Table* table, uint64_t key, bint insert) noexcept nogil:
    """Return the number of a key; -1 when it has none and gets none (or no memory is left)."""
    cdef uint64_t slot
    if insert and 2 * <uint64_t>table.n > table.mask and grow(table) != 0:
        return NO_MEMORY
    slot = mixed(key) & table.mask
    while table.numbers[slot]:
        if table.keys[slot] == key:
            return table.numbers[slot] - 1
        slot = (slot + 1) & table.mask
    if not insert or table.n >= MOST:
        return -1
    table.keys[slot] = key
    table.n += 1
    table.numbers[slot] = table.n
    return table.n - 1


cdef void* enlarged(void* data, int64_t wanted, int64_t* capacity, size_t size) noexcept nogil:
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


cdef void forget_postings(Sparse* sparse) noexcept nogil:
    free(sparse.post)
    free(sparse.who)
    free(sparse.often)
    sparse.post = NULL
    sparse.who = NULL
    sparse.often = NULL


cdef void free_sparse(Sparse* sparse) noexcept nogil:
    forget_postings(sparse)
    free(sparse.ids)
    free(sparse.counts)
    free(sparse.first)
    free(sparse.total)
    memset(sparse, 0, sizeof(Sparse))


cdef int append(Sparse* sparse, Item* items, int64_t n) noexcept nogil:
    """Add one multiset; sorts the items, and adds up those with the same id."""
    cdef int64_t used = sparse.first[sparse.n] if sparse.first is not NULL else 0
    cdef int64_t room = sparse.capacity, i, total = 0
    cdef void* moved
    forget_postings(sparse)
    moved = enlarged(sparse.ids, used + n, &room, sizeof(uint32_t))
    if moved is NULL and used + n:
        return NO_MEMORY
    sparse.ids = <uint32_t*>moved
    room = sparse.capacity
    moved = enlarged(sparse.counts, used + n, &room, sizeof(uint32_t))
    if moved is NULL and used + n:
        return NO_MEMORY
    sparse.counts = <uint32_t*>moved
    sparse.capacity = room
    room = sparse.n_capacity
    moved = enlarged(sparse.first, sparse.n + 2, &room, sizeof(int64_t))
    if moved is NULL:
        return NO_MEMORY
    sparse.first = <int64_t*>moved
    room = sparse.n_capacity
    moved = enlarged(sparse.total, sparse.n + 2, &room, sizeof(int64_t))
    if moved is NULL:
        return NO_MEMORY
    sparse.total = <int64_t*>moved
    sparse.n_capacity = room
    qsort(items, n, sizeof(Item), by_id)
    sparse.first[sparse.n] = used
    for i in range(n):
        total += items[i].count
        if i and items[i].id == items[i - 1].id:
            sparse.counts[used - 1] += items[i].count
            continue
        sparse.ids[used] = items[i].id
        sparse.counts[used] = items[i].count
        used += 1
    sparse.total[sparse.n] = total
    sparse.n += 1
    sparse.first[sparse.n] = used
    return 0


cdef int invert(Sparse* sparse, int64_t features) noexcept nogil:
    cdef int64_t used = sparse.first[sparse.n] if sparse.n else 0, i, at, place
    if sparse.post is not NULL:
        return 0
    sparse.post = <int64_t*>calloc(features + 2, sizeof(int64_t))
    sparse.who = <uint32_t*>malloc(used * sizeof(uint32_t) + 4)
    sparse.often = <uint32_t*>malloc(used * sizeof(uint32_t) + 4)
    if sparse.post is NULL or sparse.who is NULL or sparse.often is NULL:
        forget_postings(sparse)
        return NO_MEMORY
    # Counted one place to the right, so that filling moves every start to where it belongs.
    for at in range(used):
        sparse.post[sparse.ids[at] + 2] += 1
    for at in range(2, features + 2):
        sparse.post[at] += sparse.post[at - 1]
    for i in range(sparse.n):
        for at in range(sparse.first[i], sparse.first[i + 1]):
            place = sparse.post[sparse.ids[at] + 1]
            sparse.who[place] = <uint32_t>i
            sparse.often[place] = sparse.counts[at]
            sparse.post[sparse.ids[at] + 1] += 1
    return 0


cdef void share(
    const Sparse* sparse, int64_t i, int64_t* shared, uint32_t* touched, int64_t* n_touched
) noexcept nogil:
    """Add what patch i shares with every later patch; list those that were 0 before."""
    cdef int64_t at, place
    cdef uint32_t count, j
    for at in range(sparse.first[i], sparse.first[i + 1]):
        count = sparse.counts[at]
        place = sparse.post[sparse.ids[at] + 1] - 1
        while place >= sparse.post[sparse.ids[at]] and sparse.who[place] > i:
            j = sparse.who[place]
            if shared[j] == 0:
                touched[n_touched[0]] = j
                n_touched[0] += 1
            shared[j] += min(count, sparse.often[place])
            place -= 1


cdef int64_t shared_of(const Sparse* sparse, int64_t i, int64_t j) noexcept nogil:
    """Merge two sorted multisets."""
    cdef int64_t p = sparse.first[i], q = sparse.first[j], found = 0
    while p < sparse.first[i + 1] and q < sparse.first[j + 1]:
        if sparse.ids[p] == sparse.ids[q]:
            found += min(sparse.counts[p], sparse.counts[q])
            p += 1
            q += 1
        elif sparse.ids[p] < sparse.ids[q]:
            p += 1
        else:
            q += 1
    return found


cdef inline bint rescued(int64_t shared, int64_t a, int64_t b) noexcept nogil:
    return a > 0 and b > 0 and 2 * shared * RESCUE_DENOMINATOR >= RESCUE_NUMERATOR * (a + b)


cdef struct Row:
    # Scratch of one thread: what the row's patch shares with each other one, and with which.
    int64_t* shared
    int64_t* context
    uint32_t* touched
    uint32_t* near
    double* values


cdef void free_row(Row* row) noexcept nogil:
    free(row.shared)
    free(row.context)
    free(row.touched)
    free(row.near)
    free(row.values)


cdef int make_row(Row* row, int64_t n) noexcept nogil:
    row.shared = <int64_t*>calloc(n + 1, sizeof(int64_t))
    row.context = <int64_t*>calloc(n + 1, sizeof(int64_t))
    row.touched = <uint32_t*>malloc((n + 1) * sizeof(uint32_t))
    row.near = <uint32_t*>malloc((n + 1) * sizeof(uint32_t))
    row.values = <double*>calloc(n + 1, sizeof(double))
    if (row.shared is NULL or row.context is NULL or row.touched is NULL or row.near is NULL
            or row.values is NULL):
        return NO_MEMORY
    return 0


cdef class Index:
    """Patches as multisets of features, numbered in the order of `add`.

    Parameters
    ----------
    keyed
        Whether a feature carries its file's name (``key:name``).
    """

    cdef Table nodes      # (parent node, token) -> node; node 0 is the root
    cdef Table features_  # (node * operations + operation, name) -> feature
    cdef uint32_t* base   # feature -> node * operations + operation: the feature without a name
    cdef int64_t base_capacity
    cdef Sparse edits, bare, lines
    cdef int64_t n_lines
    cdef bint keyed
    # Scratch of `add`: per node the occurrences in the block's O and A, and which nodes those are.
    cdef int32_t* in_o
    cdef int32_t* in_a
    cdef int64_t in_o_capacity, in_a_capacity, touched_capacity, items_capacity
    cdef uint32_t* touched
    cdef Item* items

    def __cinit__(self, bint keyed=True):
        self.keyed = keyed
        if empty(&self.nodes) != 0 or empty(&self.features_) != 0:
            raise MemoryError("excise: out of memory for an index of patches")
        find(&self.nodes, <uint64_t>0xFFFFFFFFFFFFFFFF, True)

    def __dealloc__(self):
        free(self.nodes.keys)
        free(self.nodes.numbers)
        free(self.features_.keys)
        free(self.features_.numbers)
        free(self.base)
        free_sparse(&self.edits)
        free_sparse(&self.bare)
        free_sparse(&self.lines)
        free(self.in_o)
        free(self.in_a)
        free(self.touched)
        free(self.items)

    def __len__(self):
        return self.edits.n

    @property
    def features(self):
        """How many different features there are."""
        return self.features_.n

    def size(self, int64_t i):
        """Return how many n-grams the edits of patch i hold."""
        self.check(i)
        return self.edits.total[i]

    cdef int check(self, int64_t i) except -1:
        if not 0 <= i < self.edits.n:
            raise IndexError(f"no patch {i} of {self.edits.n}")
        return 0

    cdef int walk(self, const int32_t* tokens, int32_t start, int32_t stop, bint is_a,
                  int64_t* n_touched) noexcept nogil:
        """Count the n-grams of a segment, in O or in A."""
        cdef int32_t i, n
        cdef int64_t node, room
        cdef void* moved
        for i in range(start, stop):
            node = 0
            for n in range(min(<int32_t>ORDERS, stop - i)):
                node = find(&self.nodes, (<uint64_t>node << 32) | <uint32_t>tokens[i + n], True)
                if node < 0:
                    return NO_MEMORY
                if node >= self.in_o_capacity:
                    if self.widen(node) != 0:
                        return NO_MEMORY
                if self.in_o[node] == 0 and self.in_a[node] == 0:
                    room = self.touched_capacity
                    moved = enlarged(self.touched, n_touched[0] + 1, &room, sizeof(uint32_t))
                    if moved is NULL:
                        return NO_MEMORY
                    self.touched = <uint32_t*>moved
                    self.touched_capacity = room
                    self.touched[n_touched[0]] = <uint32_t>node
                    n_touched[0] += 1
                if is_a:
                    self.in_a[node] += 1
                else:
                    self.in_o[node] += 1
        return 0

    cdef int widen(self, int64_t node) noexcept nogil:
        cdef int64_t before = self.in_o_capacity, room = before
        cdef void* moved = enlarged(self.in_o, node + 1, &room, sizeof(int32_t))
        if moved is NULL:
            return NO_MEMORY
        self.in_o = <int32_t*>moved
        room = before
        moved = enlarged(self.in_a, node + 1, &room, sizeof(int32_t))
        if moved is NULL:
            return NO_MEMORY
        self.in_a = <int32_t*>moved
        memset(self.in_o + before, 0, (room - before) * sizeof(int32_t))
        memset(self.in_a + before, 0, (room - before) * sizeof(int32_t))
        self.in_o_capacity = room
        self.in_a_capacity = room
        return 0

    cdef int64_t feature(self, uint32_t node, int operation, int32_t key) noexcept nogil:
        """Return the number of a feature, naming it at first sight."""
        cdef uint64_t plain = OPERATIONS * <uint64_t>node + operation
        cdef int64_t found, room
        cdef void* moved
        found = find(&self.features_, (<uint64_t>(key if self.keyed else 0) << 32) | plain, True)
        if found < 0:
            return NO_MEMORY
        if found >= self.base_capacity:
            room = self.base_capacity
            moved = enlarged(self.base, found + 1, &room, sizeof(uint32_t))
            if moved is NULL:
                return NO_MEMORY
            self.base = <uint32_t*>moved
            self.base_capacity = room
        self.base[found] = <uint32_t>plain
        return found

    cdef int put(self, uint32_t id, int32_t count, int64_t* n) noexcept nogil:
        cdef int64_t room = self.items_capacity
        cdef void* moved = enlarged(self.items, n[0] + 1, &room, sizeof(Item))
        if moved is NULL:
            return NO_MEMORY
        self.items = <Item*>moved
        self.items_capacity = room
        self.items[n[0]].id = id
        self.items[n[0]].count = <uint32_t>count
        n[0] += 1
        return 0

    cdef int block(self, const int32_t* tokens, const int32_t* place, int64_t* n) noexcept nogil:
        """Add the features of one block: its name, then O and A from, to."""
        cdef int64_t n_touched = 0, at, found
        cdef int32_t counts[OPERATIONS]
        cdef int32_t o, a
        cdef int operation, status = 0
        if (self.walk(tokens, place[1], place[2], False, &n_touched) != 0
                or self.walk(tokens, place[3], place[4], True, &n_touched) != 0):
            status = NO_MEMORY
        for at in range(n_touched):
            o = self.in_o[self.touched[at]]
            a = self.in_a[self.touched[at]]
            self.in_o[self.touched[at]] = 0
            self.in_a[self.touched[at]] = 0
            counts[0] = min(o, a)
            counts[1] = a - counts[0]
            counts[2] = o - counts[0]
            for operation in range(OPERATIONS):
                if counts[operation] and status == 0:
                    found = self.feature(self.touched[at], operation, place[0])
                    status = NO_MEMORY if found < 0 else self.put(
                        <uint32_t>found, counts[operation], n)
        return status

    def add(self, const int32_t[::1] tokens not None, const int32_t[::1] blocks not None,
            const int32_t[::1] context not None):
        """Add a patch.

        Parameters
        ----------
        tokens
            Of all its blocks.
        blocks
            Five ints each: the file's name as an int, and from, to (exclusive) in O and A.
        context
            Its context lines as ints counted from 0, repeated as often as they stand there.
        """
        cdef int64_t n = 0, at
        cdef int status = 0
        cdef const int32_t* words = &tokens[0] if tokens.shape[0] else NULL
        if blocks.shape[0] % 5:
            raise ValueError("a block is five ints")
        for at in range(0, blocks.shape[0], 5):
            if not (0 <= blocks[at + 1] <= blocks[at + 2] <= tokens.shape[0]
                    and 0 <= blocks[at + 3] <= blocks[at + 4] <= tokens.shape[0]
                    and blocks[at] >= 0):
                raise ValueError("a block lies outside the tokens")
        with nogil:
            for at in range(0, blocks.shape[0], 5):
                if status == 0:
                    status = self.block(words, &blocks[at], &n)
            if status == 0:
                status = append(&self.edits, self.items, n)
            if status == 0:
                n = 0
                for at in range(self.edits.first[self.edits.n - 1], self.edits.first[self.edits.n]):
                    if status == 0:
                        status = self.put(
                            self.base[self.edits.ids[at]], <int32_t>self.edits.counts[at], &n)
            if status == 0:
                status = append(&self.bare, self.items, n)
            if status == 0:
                n = 0
                for at in range(context.shape[0]):
                    self.n_lines = max(self.n_lines, <int64_t>context[at] + 1)
                    if status == 0:
                        status = self.put(<uint32_t>context[at], 1, &n)
            if status == 0:
                status = append(&self.lines, self.items, n)
        if status != 0:
            raise MemoryError("excise: out of memory for the n-grams of patches")

    cdef int ready(self) except -1:
        if (invert(&self.edits, self.features_.n) != 0
                or invert(&self.lines, self.n_lines) != 0):
            raise MemoryError("excise: out of memory for the postings of patches")
        return 0

    cdef int64_t row(self, int64_t i, Row* row) noexcept nogil:
        """Score patch i against all later ones; return how many values above 0 there are."""
        cdef int64_t n = 0, m = 0, at, shared
        cdef double total
        cdef uint32_t j
        share(&self.edits, i, row.shared, row.touched, &n)
        share(&self.lines, i, row.context, row.near, &m)
        for at in range(n):
            j = row.touched[at]
            total = <double>(self.edits.total[i] + self.edits.total[j])
            row.values[j] = 2 * row.shared[j] / total
            row.shared[j] = 0
        for at in range(m):
            j = row.near[at]
            if rescued(row.context[j], self.lines.total[i], self.lines.total[j]):
                shared = shared_of(&self.bare, i, j)
                if shared:
                    if row.values[j] == 0:
                        row.touched[n] = j
                        n += 1
                    total = <double>(self.edits.total[i] + self.edits.total[j])
                    row.values[j] = 2 * shared / total
            row.context[j] = 0
        return n

    def dense(self, const int32_t[::1] members not None, double[:, ::1] values not None,
              CancelFlag cancel=None):
        """Write the scores of every pair of the members; those that share nothing get 0."""
        cdef Row row
        cdef int64_t k = members.shape[0], i, at, n
        cdef int32_t* local = NULL
        cdef int status = 0
        cdef const Stop* stop = NULL if cancel is None else &cancel.stop
        if values.shape[0] != k or values.shape[1] != k:
            raise ValueError("values must be one row and column a member")
        for i in range(k):
            self.check(members[i])
        self.ready()
        memset(&row, 0, sizeof(Row))
        local = <int32_t*>malloc((self.edits.n + 1) * sizeof(int32_t))
        with nogil:
            status = NO_MEMORY if local is NULL else make_row(&row, self.edits.n)
            if status == 0:
                for i in range(self.edits.n):
                    local[i] = -1
                for i in range(k):
                    local[members[i]] = <int32_t>i
                    for at in range(k):
                        values[i, at] = 1 if i == at else 0
                for i in range(k):
                    if stopped(stop, 0):
                        status = 1
                        break
                    n = self.row(members[i], &row)
                    for at in range(n):
                        if local[row.touched[at]] >= 0:
                            values[i, local[row.touched[at]]] = row.values[row.touched[at]]
                            values[local[row.touched[at]], i] = row.values[row.touched[at]]
                        row.values[row.touched[at]] = 0
            free_row(&row)
            free(local)
        finish(status)

    def near(self, double least, int64_t start=0, int64_t step=1, CancelFlag cancel=None):
        """Return the pairs i < j, of every step-th row from start on, that score least or more.

        Returns
        -------
        tuple of array
            i, j and value of each pair above 0.
        """
        cdef Row row
        cdef int64_t i = start, n, at, length = 0, room
        cdef int64_t caps[3]
        cdef int32_t* left = NULL
        cdef int32_t* right = NULL
        cdef double* value = NULL
        cdef int status
        cdef const Stop* stop = NULL if cancel is None else &cancel.stop
        self.ready()
        memset(&row, 0, sizeof(Row))
        memset(caps, 0, sizeof(caps))
        with nogil:
            status = make_row(&row, self.edits.n)
            while i < self.edits.n and status == 0:
                n = self.row(i, &row)
                room = length + n
                left = <int32_t*>enlarged(left, room, &caps[0], sizeof(int32_t))
                right = <int32_t*>enlarged(right, room, &caps[1], sizeof(int32_t))
                value = <double*>enlarged(value, room, &caps[2], sizeof(double))
                if room and (left is NULL or right is NULL or value is NULL):
                    status = NO_MEMORY
                    break
                for at in range(n):
                    if row.values[row.touched[at]] >= least:
                        left[length] = <int32_t>i
                        right[length] = <int32_t>row.touched[at]
                        value[length] = row.values[row.touched[at]]
                        length += 1
                    row.values[row.touched[at]] = 0
                if stopped(stop, 0):
                    status = 1
                i += step
            free_row(&row)
        try:
            finish(status)
            return (
                taken("i", <const char*>left, length * sizeof(int32_t)),
                taken("i", <const char*>right, length * sizeof(int32_t)),
                taken("d", <const char*>value, length * sizeof(double)),
            )
        finally:
            free(left)
            free(right)
            free(value)

    def pair(self, int64_t i, int64_t j, bint keyed):
        """Return keep, add, delete of a pair, each (both, of i, of j), with or without names."""
        cdef Sparse* sparse = &self.edits if keyed else &self.bare
        cdef int64_t found[9]
        cdef int64_t p, q
        self.check(i)
        self.check(j)
        memset(found, 0, sizeof(found))
        for p in range(sparse.first[i], sparse.first[i + 1]):
            found[3 * self.kind(sparse.ids[p], keyed) + 1] += sparse.counts[p]
        for q in range(sparse.first[j], sparse.first[j + 1]):
            found[3 * self.kind(sparse.ids[q], keyed) + 2] += sparse.counts[q]
        p, q = sparse.first[i], sparse.first[j]
        while p < sparse.first[i + 1] and q < sparse.first[j + 1]:
            if sparse.ids[p] == sparse.ids[q]:
                found[3 * self.kind(sparse.ids[p], keyed)] += min(
                    sparse.counts[p], sparse.counts[q])
                p += 1
                q += 1
            elif sparse.ids[p] < sparse.ids[q]:
                p += 1
            else:
                q += 1
        return tuple(found)

    cdef inline int kind(self, uint32_t id, bint keyed) noexcept nogil:
        """Return the operation of a feature, or of one without a name."""
        return <int>((self.base[id] if keyed else id) % OPERATIONS)

    def context(self, int64_t i, int64_t j):
        """Return how many context lines a pair shares, and how many each has."""
        self.check(i)
        self.check(j)
        return shared_of(&self.lines, i, j), self.lines.total[i], self.lines.total[j]


cdef int finish(int status) except -1:
    if status == NO_MEMORY:
        raise MemoryError("excise: out of memory while scoring patches")
    if status:
        raise Cancelled("cancelled while scoring patches")
    return 0


cdef object taken(str code, const char* data, int64_t size):
    found = array(code)
    if size:
        found.frombytes(data[:size])
    return found
