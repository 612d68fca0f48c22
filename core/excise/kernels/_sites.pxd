"""Where the change blocks of patches stand, and which blocks of two patches share a place."""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

cdef enum:
    # A block as ints: name, O from, to, A from, to, heading, context lines, its function, and from,
    # to of the words in its heading and on the old lines of its hunk.
    SITE_INTS = 10
    MOST_LINES = 6        # three on each side
    NO_HEADING = -1
    NO_NAME = -1

cdef enum Joint:
    # The blocks of two patches in files of one name: none share a place, all share one, or neither.
    APART, TOGETHER, MIXED

cdef struct Line:
    uint32_t id
    uint32_t words

cdef struct Site:
    int32_t key           # the name of its file
    int32_t at            # its number in the patch
    int32_t heading       # of its hunk
    int32_t function      # the name of the one that it is in
    int32_t n             # context lines with words: lines[first:first + n], ascending
    int64_t first
    int64_t words         # of all of them
    int64_t said          # words of its hunk: said[said:said + n_said], ascending
    int64_t n_said
    uint64_t mask         # a bit for each line, all without any: most pairs need no look at these

cdef struct Sites:
    # Of patch i: sites[first[i]:first[i + 1]], ascending by key.
    Site* sites
    Line* lines
    int32_t* said         # blocks of one hunk share theirs
    int64_t* first
    int64_t n             # patches, sites, lines, words
    int64_t n_sites
    int64_t n_lines
    int64_t n_said
    int64_t capacities[4]

cdef struct Joined:
    # The place of every block of a pair, those of the first patch first: the number of one of them.
    int32_t* place
    int64_t* left         # scratch of who counts, by place: all 0
    int64_t capacity
    Joint joint


cdef int put_site(
    Sites* all, int32_t at, const int32_t* block, const int32_t* around, const int32_t* said,
    const int32_t* last
) noexcept nogil
cdef int end_patch(Sites* all) noexcept nogil
cdef void free_sites(Sites* all) noexcept nogil
cdef int join(
    const Sites* all, int64_t i, int64_t j, bint keyed, Joined* joined
) noexcept nogil
cdef void free_joined(Joined* joined) noexcept nogil
