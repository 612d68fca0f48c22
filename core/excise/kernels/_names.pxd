# cython: language_level=3
"""Byte strings by number."""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

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
cdef int64_t known(
    const Names* names, const unsigned char* data, int32_t size, uint64_t k0, uint64_t k1
) noexcept nogil
cdef void release(Names* names) noexcept nogil
