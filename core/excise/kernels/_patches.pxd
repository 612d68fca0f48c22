from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t

from excise.kernels._sites cimport Sites
from excise.kernels._tables cimport Item, Large, Multisets, Table, large_at

cdef enum:
    OPERATIONS = 3        # keep, add, delete
    SEVERAL = 0x80000000  # marks features that are in several blocks, ..
    INSIDE = 0x8000       # .. which is here in `where`
    FAR = 0xFFFF          # marks what `where` has no room for
    ORDERS = 4

cdef struct Part:
    uint32_t block
    uint32_t count

cdef struct Gram:
    uint32_t node
    int32_t in_o          # how often the block has it, in O and in A
    int32_t in_a

cdef struct Grams:
    # The n-grams of one block, as nodes of the trie of all patches.
    Gram* grams
    int64_t n
    int64_t room
    uint32_t* place       # of each node: the number of its n-gram + 1; 0: not in the block
    int64_t place_room
    uint32_t* path        # of each token: the node of the n-gram that starts there
    int64_t path_room


cdef class Index:
    cdef Table nodes      # (parent node, token) -> node; node 0 is the root
    cdef Table features_  # (node * operations + operation, name) -> feature
    cdef uint32_t* base   # feature -> node * operations + operation: the feature without a name
    cdef int64_t base_capacity
    cdef Multisets edits  # features, ordered by base: those of one n-gram stand together
    cdef Multisets lines  # of context, for the rescue of renamed files
    cdef int64_t n_lines
    cdef Sites sites      # the blocks
    cdef int64_t* sizes   # n-grams of each patch by operation
    cdef int64_t sizes_capacity
    # Of every feature of `edits` the block that it is in; or SEVERAL | p: then parts[p] holds how
    # many blocks that are, and they follow. `where_of` reads it: p is counted from the first part
    # of its patch, and what does not fit is in `far`.
    cdef uint16_t* where
    cdef Large far
    cdef Part* parts
    cdef int64_t* first_part
    cdef int64_t n_parts, where_capacity, parts_capacity, first_part_capacity
    cdef bint keyed
    cdef readonly object first  # per patch the first one that was added with the same ints
    cdef dict rows              # of each digest of ints: the patch that had them first
    # Scratch of `add`.
    cdef Grams grams
    cdef Item* items
    cdef int64_t items_capacity

    cdef int check(self, int64_t i) except -1
    cdef int put(self, const uint64_t* keys, const int32_t* counts, int size, uint32_t part,
                 int64_t* n) noexcept nogil
    cdef int block(self, const int32_t* tokens, const int32_t* block, uint32_t part, int64_t* n
                   ) noexcept nogil
    cdef int note_parts(self, int64_t n) noexcept nogil
    cdef int note(self, int64_t place, int64_t first, const Item* items, int64_t n) noexcept nogil
    cdef int note_sizes(self, int64_t n) noexcept nogil
    cdef int take(self, const int32_t* tokens, const int32_t* blocks, int64_t n_blocks,
                  const int32_t* around, const int32_t* context, int64_t n_context) noexcept nogil


cdef inline uint32_t where_of(Index index, int64_t first_part, int64_t at) noexcept nogil:
    cdef uint32_t where = index.where[at]
    if where < INSIDE:
        return where
    if where < FAR:
        return SEVERAL | <uint32_t>(first_part + where - INSIDE)
    return large_at(&index.far, at)
