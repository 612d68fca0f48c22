"""Byte strings by number, and the lexer's tables, for the kernels that read lines and hunks."""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

cdef enum:
    BLANK = -1

cdef struct Slot:
    uint32_t hash
    uint32_t number       # plus 1; 0: free


cdef struct Names:
    # Byte strings by number, 0, 1, ..; open addressing from hashes to them.
    Slot* slots
    uint64_t mask
    const unsigned char** data
    int64_t room          # for `data`
    int32_t* sizes
    int64_t sizes_room
    int64_t n


cdef int64_t number_of(
    Names* names, const unsigned char* data, int32_t size, uint64_t k0, uint64_t k1
) noexcept nogil
cdef void release(Names* names) noexcept nogil

cdef class Lexer:
    cdef object vocabulary
    cdef bint alone
    cdef object first_text    # the bytes that its lines point to; those of other texts are copied
    cdef Names lines          # keys of lines
    cdef Names tokens
    cdef int64_t* starts      # of each line: where its tokens begin in `held`; one more at the end
    cdef int64_t starts_room
    cdef int32_t* line_names  # of each line, and of each token: its int
    cdef int64_t line_room
    cdef int32_t* token_names
    cdef int64_t token_room
    cdef int32_t* held        # the tokens of all lines
    cdef int64_t held_room
    cdef int64_t n_held
    cdef int64_t named_lines  # so many lines and tokens have their ints, and so many of `held`
    cdef int64_t named_tokens
    cdef int64_t named_held
    cdef void* blocks         # each begins with the address of the one before it
    cdef size_t left          # bytes, at the end of the last block
    cdef size_t block_size
    cdef uint64_t k0
    cdef uint64_t k1

    cdef int64_t number_lines(
        self, const unsigned char* data, Py_ssize_t size, bint copies, int32_t[::1] ids
    ) except? -2
    cdef bint is_line(self, int64_t number, const unsigned char* data, int32_t size) noexcept
    cdef int64_t line_number(self, const unsigned char* data, int32_t size, bint copies) noexcept
    cdef const unsigned char* kept(self, const unsigned char* data, int32_t size) noexcept
    cdef int split(self, const unsigned char* data, int32_t size) noexcept
    cdef int name(self) except -1
    cdef list texts(self, int64_t start, int64_t stop)
    cdef int write(self, int32_t[::1] ids, int32_t[::1] first, int32_t[::1] tokens) except -1
