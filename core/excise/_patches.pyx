# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Many patches at once: the n-grams of their change blocks as sorted counts.

Every n-gram is a node of a trie (parent, token), every feature a node with an operation and a file
name, both numbered by hash tables that compare the whole key: counts are exact. A patch is a
sorted list of (feature, count), as are its context lines.
"""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from excise._multisets cimport append, free_multisets, gathered, merged
from excise._tables cimport NO_MEMORY, empty, enlarged, find, release


cdef class Index:
    """Patches as multisets of features, numbered in the order of `add`.

    Parameters
    ----------
    keyed
        Whether a feature carries its file's name (``key:name``).
    """

    def __cinit__(self, bint keyed=True):
        self.keyed = keyed
        if empty(&self.nodes) != 0 or empty(&self.features_) != 0:
            raise MemoryError("excise: out of memory for an index of patches")
        find(&self.nodes, <uint64_t>0xFFFFFFFFFFFFFFFF, True)

    def __dealloc__(self):
        release(&self.nodes)
        release(&self.features_)
        free(self.base)
        free_multisets(&self.edits)
        free_multisets(&self.lines)
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
                for at in range(context.shape[0]):
                    self.n_lines = max(self.n_lines, <int64_t>context[at] + 1)
                    if status == 0:
                        status = self.put(<uint32_t>context[at], 1, &n)
            if status == 0:
                status = append(&self.lines, self.items, n)
        if status != 0:
            raise MemoryError("excise: out of memory for the n-grams of patches")

    cdef int count(self, int64_t i, bint keyed, Item** items, int64_t* n) noexcept nogil:
        """Write the features of a patch, with or without names, ascending; the caller frees."""
        cdef int64_t first = self.edits.first[i], at
        n[0] = self.edits.first[i + 1] - first
        items[0] = <Item*>malloc(n[0] * sizeof(Item) + 1)
        if items[0] is NULL:
            return NO_MEMORY
        for at in range(n[0]):
            items[0][at].id = self.edits.ids[first + at]
            if not keyed:
                items[0][at].id = self.base[items[0][at].id]
            items[0][at].count = self.edits.counts[first + at]
        if not keyed:
            n[0] = gathered(items[0], n[0])
        return 0

    def pair(self, int64_t i, int64_t j, bint keyed):
        """Return keep, add, delete of a pair, each (both, of i, of j), with or without names."""
        cdef int64_t found[3 * OPERATIONS]
        cdef int64_t p = 0, q = 0, n = 0, m = 0
        cdef Item* x = NULL
        cdef Item* y = NULL
        self.check(i)
        self.check(j)
        memset(found, 0, sizeof(found))
        try:
            if self.count(i, keyed, &x, &n) != 0 or self.count(j, keyed, &y, &m) != 0:
                raise MemoryError("excise: out of memory while comparing patches")
            while p < n or q < m:
                if q == m or (p < n and x[p].id < y[q].id):
                    found[3 * self.kind(x[p].id, keyed) + 1] += x[p].count
                    p += 1
                elif p == n or y[q].id < x[p].id:
                    found[3 * self.kind(y[q].id, keyed) + 2] += y[q].count
                    q += 1
                else:
                    found[3 * self.kind(x[p].id, keyed)] += min(x[p].count, y[q].count)
                    found[3 * self.kind(x[p].id, keyed) + 1] += x[p].count
                    found[3 * self.kind(x[p].id, keyed) + 2] += y[q].count
                    p += 1
                    q += 1
        finally:
            free(x)
            free(y)
        return tuple(found)

    cdef int kind(self, uint32_t id, bint keyed) noexcept nogil:
        """Return the operation of a feature, or of one without a name."""
        return <int>((self.base[id] if keyed else id) % OPERATIONS)

    def context(self, int64_t i, int64_t j):
        """Return how many context lines a pair shares, and how many each has."""
        self.check(i)
        self.check(j)
        return merged(&self.lines, i, j), self.lines.total[i], self.lines.total[j]
