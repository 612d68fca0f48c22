"""Many patches at once: the n-grams of their change blocks as sorted counts.

Every n-gram is a node of a trie (parent, token), every feature a node with an operation and a file
name, both numbered by hash tables that compare the whole key: counts are exact. A patch is a
sorted list of (feature, count), as are its context lines; beside it lies which block has what. Over
300 lines: one pass over a block writes all of it.
"""
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memset

from array import array
from hashlib import blake2b

from excise.kernels._sites cimport (
    MOST_LINES, NO_HEADING, NO_NAME, SITE_INTS, end_patch, free_sites, put_site,
)
from excise.kernels._tables cimport (
    NO_MEMORY, TOGETHER, append, empty, free_large, free_multisets, keep_large, make_room, merged,
    number_all, ordered, prefetch, release,
)


cdef int count_grams(Table* nodes, Grams* found, const int32_t* tokens, int64_t n, bint is_a
                     ) noexcept nogil:
    """Count the n-grams of so many tokens, in O or in A: all of one order before any of the next.

    Those of one order do not depend on each other: their nodes are looked up many at a time.
    """
    cdef uint64_t keys[TOGETHER]
    cdef int64_t start, at, order
    cdef int size
    if make_room(<void**>&found.path, n, &found.path_room, sizeof(uint32_t)) != 0:
        return NO_MEMORY
    if n:
        memset(found.path, 0, n * sizeof(uint32_t))
    for order in range(min(<int64_t>ORDERS, n)):
        start = 0
        while start < n - order:
            size = <int>min(<int64_t>TOGETHER, n - order - start)
            for at in range(size):
                keys[at] = (<uint64_t>found.path[start + at] << 32
                            | <uint32_t>tokens[start + at + order])
            if (number_all(nodes, keys, size, found.path + start) != 0
                    or widen(found, nodes.n) != 0
                    or count(found, found.path + start, size, is_a) != 0):
                return NO_MEMORY
            start += size
    return 0


cdef int widen(Grams* found, int64_t nodes) noexcept nogil:
    cdef int64_t before = found.place_room
    if make_room(<void**>&found.place, nodes, &found.place_room, sizeof(uint32_t)) != 0:
        return NO_MEMORY
    if found.place_room > before:
        memset(found.place + before, 0, (found.place_room - before) * sizeof(uint32_t))
    return 0


cdef int count(Grams* found, const uint32_t* nodes, int n, bint is_a) noexcept nogil:
    """Count n-grams whose nodes are known."""
    cdef uint32_t place
    cdef int at
    cdef Gram* gram
    if make_room(<void**>&found.grams, found.n + n, &found.room, sizeof(Gram)) != 0:
        return NO_MEMORY
    for at in range(n):
        prefetch(&found.place[nodes[at]])
    for at in range(n):
        place = found.place[nodes[at]]
        if not place:
            gram = &found.grams[found.n]
            gram.node, gram.in_o, gram.in_a = nodes[at], 0, 0
            found.n += 1
            place = <uint32_t>found.n
            found.place[nodes[at]] = place
        if is_a:
            found.grams[place - 1].in_a += 1
        else:
            found.grams[place - 1].in_o += 1
    return 0


cdef void forget(Grams* found) noexcept nogil:
    """Be ready for the next block."""
    cdef int64_t at
    for at in range(found.n):
        found.place[found.grams[at].node] = 0
    found.n = 0


cdef void free_grams(Grams* found) noexcept nogil:
    free(found.grams)
    free(found.place)
    free(found.path)
    memset(found, 0, sizeof(Grams))


cdef struct Placed:
    # A block of the patch that is being added: its file name, its number, its first context line.
    int32_t key
    int32_t at
    int64_t around


cdef int by_name(const void* x, const void* y) noexcept nogil:
    cdef const Placed* a = <const Placed*>x
    cdef const Placed* b = <const Placed*>y
    if a.key != b.key:
        return (a.key > b.key) - (a.key < b.key)
    return (a.at > b.at) - (a.at < b.at)


cdef bytes named(object tokens, object blocks, object around, object context):
    """Return a name that equal ints share."""
    cdef object part
    whole = blake2b(digest_size=16)
    for part in (tokens, blocks, around, context):
        whole.update(part.nbytes.to_bytes(8, "little"))
        whole.update(part)
    return whole.digest()


cdef class Index:
    """Patches as multisets of features, numbered in the order of `add`.

    - ``keyed``: whether a feature carries its file's name (``key:name``).

    - ``first``: for each patch the first one that was added with equal ints: it scores 1 with it,
      and the same with any other one.
    """

    def __cinit__(self, bint keyed=True):
        self.keyed = keyed
        self.first, self.rows = array("i"), {}
        if empty(&self.nodes) != 0 or empty(&self.features_) != 0:
            raise MemoryError("excise: out of memory for an index of patches")
        cdef uint64_t nothing = <uint64_t>0xFFFFFFFFFFFFFFFF
        cdef uint32_t root
        if number_all(&self.nodes, &nothing, 1, &root) != 0:
            raise MemoryError("excise: out of memory for an index of patches")

    def __dealloc__(self):
        release(&self.nodes)
        release(&self.features_)
        free(self.base)
        free_multisets(&self.edits)
        free_multisets(&self.lines)
        free_sites(&self.sites)
        free(self.sizes)
        free(self.where)
        free(self.parts)
        free(self.first_part)
        free_large(&self.far)
        free_grams(&self.grams)
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

    cdef int block(self, const int32_t* tokens, const int32_t* block, uint32_t part, int64_t* n
                   ) noexcept nogil:
        """Put the features of one block."""
        cdef uint64_t key = <uint64_t>(block[0] if self.keyed else 0) << 32
        cdef uint64_t keys[TOGETHER]
        cdef int32_t counts[TOGETHER]
        cdef int32_t each[OPERATIONS]
        cdef int64_t at
        cdef const Gram* gram
        cdef int operation, size = 0, status = 0
        if (count_grams(&self.nodes, &self.grams, tokens + block[1], block[2] - block[1], False)
                or count_grams(
                    &self.nodes, &self.grams, tokens + block[3], block[4] - block[3], True)):
            status = NO_MEMORY
        for at in range(self.grams.n if status == 0 else 0):
            gram = &self.grams.grams[at]
            each[0] = min(gram.in_o, gram.in_a)
            each[1] = gram.in_a - each[0]
            each[2] = gram.in_o - each[0]
            if size > TOGETHER - OPERATIONS:
                status = status or self.put(keys, counts, size, part, n)
                size = 0
            for operation in range(OPERATIONS):
                if each[operation]:
                    keys[size] = key | (OPERATIONS * <uint64_t>gram.node + operation)
                    counts[size] = each[operation]
                    size += 1
        forget(&self.grams)
        return status or self.put(keys, counts, size, part, n)

    cdef int put(self, const uint64_t* keys, const int32_t* counts, int size, uint32_t part,
                 int64_t* n) noexcept nogil:
        """Put some features of a block, naming those that are new."""
        cdef uint32_t numbers[TOGETHER]
        cdef uint32_t known = self.features_.n
        cdef int at
        cdef Item* item
        if number_all(&self.features_, keys, size, numbers) != 0:
            return NO_MEMORY
        if (make_room(<void**>&self.base, self.features_.n, &self.base_capacity,
                      sizeof(uint32_t)) != 0
                or make_room(<void**>&self.items, n[0] + size, &self.items_capacity,
                             sizeof(Item)) != 0):
            return NO_MEMORY
        item = self.items + n[0]
        for at in range(size):
            if numbers[at] >= known:
                self.base[numbers[at]] = <uint32_t>keys[at]
            item[at].key = keys[at] << 32 | numbers[at]
            item[at].part = part
            item[at].count = <uint32_t>counts[at]
        n[0] += size
        return 0

    cdef int note_parts(self, int64_t n) noexcept nogil:
        """Note of the `ordered` items which blocks have them."""
        cdef int64_t used = self.edits.first[self.edits.n] if self.edits.n else 0
        cdef int64_t at = 0, stop, first = self.n_parts
        if (make_room(<void**>&self.where, used + n, &self.where_capacity, sizeof(uint16_t)) != 0
                or make_room(<void**>&self.first_part, self.edits.n + 1,
                             &self.first_part_capacity, sizeof(int64_t)) != 0):
            return NO_MEMORY
        self.first_part[self.edits.n] = first
        while at < n:
            stop = at + 1
            while stop < n and self.items[stop].key == self.items[at].key:
                stop += 1
            if self.note(used, first, self.items + at, stop - at) != 0:
                return NO_MEMORY
            used += 1
            at = stop
        return 0

    cdef int note(self, int64_t place, int64_t first, const Item* items, int64_t n) noexcept nogil:
        """Note the blocks of one feature; `first` is the first part of its patch."""
        cdef int64_t start = self.n_parts, at
        cdef uint32_t where = items.part, near = where
        if n > 1:
            if start + n >= SEVERAL or make_room(
                    <void**>&self.parts, start + n + 1, &self.parts_capacity, sizeof(Part)) != 0:
                return NO_MEMORY
            self.parts[start].count = <uint32_t>n
            for at in range(n):
                self.parts[start + 1 + at].block = items[at].part
                self.parts[start + 1 + at].count = items[at].count
            self.n_parts += n + 1
            where = SEVERAL | <uint32_t>start
            near = <uint32_t>min(INSIDE + start - first, <int64_t>FAR)
        elif where >= INSIDE:
            near = FAR
        self.where[place] = <uint16_t>near
        return keep_large(&self.far, place, where) if near == FAR else 0

    cdef int note_sizes(self, int64_t n) noexcept nogil:
        cdef int64_t first = OPERATIONS * self.edits.n, at
        if make_room(<void**>&self.sizes, first + OPERATIONS, &self.sizes_capacity,
                     sizeof(int64_t)) != 0:
            return NO_MEMORY
        memset(self.sizes + first, 0, OPERATIONS * sizeof(int64_t))
        for at in range(n):
            self.sizes[first + (self.items[at].key >> 32) % OPERATIONS] += self.items[at].count
        return 0

    cdef int take(self, const int32_t* tokens, const int32_t* blocks, int64_t n_blocks,
                  const int32_t* around, const int32_t* context, int64_t n_context) noexcept nogil:
        cdef int64_t n = 0, at, lines = 0
        cdef int status = 0
        cdef const int32_t* block
        cdef const int32_t* last = NULL
        cdef Placed* order = <Placed*>malloc(n_blocks * sizeof(Placed) + 1)
        if order is NULL:
            return NO_MEMORY
        for at in range(n_blocks):
            order[at].key = blocks[SITE_INTS * at]
            order[at].at = <int32_t>at
            order[at].around = lines
            lines += blocks[SITE_INTS * at + 6]
        qsort(order, n_blocks, sizeof(Placed), by_name)
        for at in range(n_blocks):
            block = blocks + SITE_INTS * order[at].at
            if status == 0:
                status = self.block(tokens, block, <uint32_t>at, &n)
            if status == 0:
                status = put_site(
                    &self.sites, order[at].at, block, around + 2 * order[at].around, tokens, last)
            last = block
        free(order)
        ordered(self.items, n)
        if (status != 0 or self.note_parts(n) != 0 or self.note_sizes(n) != 0
                or append(&self.edits, self.items, n) != 0 or end_patch(&self.sites) != 0):
            return NO_MEMORY
        if make_room(<void**>&self.items, n_context, &self.items_capacity, sizeof(Item)) != 0:
            return NO_MEMORY
        for at in range(n_context):
            self.n_lines = max(self.n_lines, <int64_t>context[at] + 1)
            self.items[at].key = <uint64_t>context[at]
            self.items[at].part, self.items[at].count = 0, 1
        n = n_context
        ordered(self.items, n)
        return append(&self.lines, self.items, n)

    def add(self, const int32_t[::1] tokens not None, const int32_t[::1] blocks not None,
            const int32_t[::1] around not None, const int32_t[::1] context not None):
        """Add a patch.

        - ``tokens``: of all its blocks, and the words of their hunks.
        - ``blocks``: ten ints each: the file's name as an int; from, to (exclusive) in O and in A;
          the heading of its hunk (-1: none); how many of the pairs in `around` are its own; the
          name of its function as a token (-1: unknown); from, to of the words in the heading and on
          the old lines of its hunk.
        - ``around``: the context lines of the blocks in their order: a line as an int, and its
          words.
        - ``context``: its context lines as ints counted from 0, repeated as often as they stand
          there.
        """
        cdef int64_t at, lines = 0
        cdef int status
        if blocks.shape[0] % SITE_INTS:
            raise ValueError("a block is ten ints")
        for at in range(0, blocks.shape[0], SITE_INTS):
            if not (0 <= blocks[at + 1] <= blocks[at + 2] <= tokens.shape[0]
                    and 0 <= blocks[at + 3] <= blocks[at + 4] <= tokens.shape[0]
                    and 0 <= blocks[at + 8] <= blocks[at + 9] <= tokens.shape[0]
                    and blocks[at] >= 0):
                raise ValueError("a block lies outside the tokens")
            if (blocks[at + 5] < NO_HEADING or blocks[at + 7] < NO_NAME
                    or not 0 <= blocks[at + 6] <= MOST_LINES):
                raise ValueError("a block has no such heading or context")
            lines += blocks[at + 6]
        if around.shape[0] != 2 * lines:
            raise ValueError("the context lines of blocks are two ints each")
        for at in range(around.shape[0]):
            if around[at] < 0:
                raise ValueError("context lines and their words are not negative")
        with nogil:
            status = self.take(
                &tokens[0] if tokens.shape[0] else NULL,
                &blocks[0] if blocks.shape[0] else NULL, blocks.shape[0] // SITE_INTS,
                &around[0] if around.shape[0] else NULL,
                &context[0] if context.shape[0] else NULL, context.shape[0])
        if status != 0:
            raise MemoryError("excise: out of memory for the n-grams of patches")
        name = named(tokens, blocks, around, context)
        self.first.append(self.rows.setdefault(name, self.edits.n - 1))

    def context(self, int64_t i, int64_t j):
        """Return how many context lines a pair shares, and how many each has."""
        self.check(i)
        self.check(j)
        return merged(&self.lines, i, j), self.lines.total[i], self.lines.total[j]
