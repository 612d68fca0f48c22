# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""A table that numbers byte strings, which stay where they are; hashes by a key (`_hash`)."""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp

from excise.kernels._hash cimport excise_hash
from excise.kernels._tables cimport NO_MEMORY, enlarged


cdef int grow(Names* names) noexcept nogil:
    cdef uint64_t size = 2 * (names.mask + 1) if names.slots is not NULL else 1024, at, slot
    cdef Slot* slots = <Slot*>calloc(size, sizeof(Slot))
    if slots is NULL:
        return NO_MEMORY
    if names.slots is not NULL:
        for at in range(names.mask + 1):
            if names.slots[at].number:
                slot = names.slots[at].hash & (size - 1)
                while slots[slot].number:
                    slot = (slot + 1) & (size - 1)
                slots[slot] = names.slots[at]
        free(names.slots)
    names.slots = slots
    names.mask = size - 1
    return 0


cdef uint64_t slot_of(
    const Names* names, uint32_t hashed, const unsigned char* data, int32_t size
) noexcept nogil:
    """Return the slot that has a byte string, or the free one where it belongs."""
    cdef uint64_t slot = hashed & names.mask
    cdef int64_t number
    while names.slots[slot].number:
        number = <int64_t>names.slots[slot].number - 1
        if (names.slots[slot].hash == hashed and names.sizes[number] == size
                and memcmp(names.data[number], data, size) == 0):
            break
        slot = (slot + 1) & names.mask
    return slot


cdef int64_t number_of(
    Names* names, const unsigned char* data, int32_t size, uint64_t k0, uint64_t k1
) noexcept nogil:
    """Return the number of a byte string: that of a new one is the number of those before.

    The table points to the bytes of a new one; they must stay where they are.
    """
    cdef uint32_t hashed = <uint32_t>excise_hash(data, size, k0, k1)
    cdef uint64_t slot
    cdef void* moved
    if names.slots is NULL or 2 * <uint64_t>names.n > names.mask:
        if grow(names) != 0:
            return NO_MEMORY
    slot = slot_of(names, hashed, data, size)
    if names.slots[slot].number:
        return <int64_t>names.slots[slot].number - 1
    moved = enlarged(names.data, names.n + 1, &names.room, sizeof(void*))
    if moved is NULL:
        return NO_MEMORY
    names.data = <const unsigned char**>moved
    moved = enlarged(names.sizes, names.n + 1, &names.sizes_room, sizeof(int32_t))
    if moved is NULL:
        return NO_MEMORY
    names.sizes = <int32_t*>moved
    names.data[names.n] = data
    names.sizes[names.n] = size
    names.slots[slot].hash = hashed
    names.slots[slot].number = <uint32_t>names.n + 1
    names.n += 1
    return names.n - 1


cdef int64_t known(
    const Names* names, const unsigned char* data, int32_t size, uint64_t k0, uint64_t k1
) noexcept nogil:
    """Return the number of a byte string that has one, or -1."""
    cdef uint32_t hashed = <uint32_t>excise_hash(data, size, k0, k1)
    if names.slots is NULL:
        return -1
    return <int64_t>names.slots[slot_of(names, hashed, data, size)].number - 1


cdef void release(Names* names) noexcept nogil:
    free(names.slots)
    free(names.data)
    free(names.sizes)
