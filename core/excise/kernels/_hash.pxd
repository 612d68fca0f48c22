# cython: language_level=3
"""A hash of bytes that nobody can aim at: SipHash-1-3 under a key (Aumasson and Bernstein)."""
from libc.stdint cimport uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    #define EXCISE_TURN(x, bits) (((x) << (bits)) | ((x) >> (64 - (bits))))
    #define EXCISE_ROUND(v0, v1, v2, v3) do { \\
        v0 += v1; v1 = EXCISE_TURN(v1, 13); v1 ^= v0; v0 = EXCISE_TURN(v0, 32); \\
        v2 += v3; v3 = EXCISE_TURN(v3, 16); v3 ^= v2; \\
        v0 += v3; v3 = EXCISE_TURN(v3, 21); v3 ^= v0; \\
        v2 += v1; v1 = EXCISE_TURN(v1, 17); v1 ^= v2; v2 = EXCISE_TURN(v2, 32); \\
    } while (0)

    /* Words are read in the machine's own byte order: no hash leaves the process. */
    static uint64_t excise_hash(const unsigned char *data, size_t size, uint64_t k0, uint64_t k1) {
        uint64_t v0 = k0 ^ 0x736f6d6570736575u, v1 = k1 ^ 0x646f72616e646f6du;
        uint64_t v2 = k0 ^ 0x6c7967656e657261u, v3 = k1 ^ 0x7465646279746573u;
        uint64_t word, last = (uint64_t)size << 56;
        size_t at;
        for (at = 0; at + 8 <= size; at += 8) {
            memcpy(&word, data + at, 8);
            v3 ^= word;
            EXCISE_ROUND(v0, v1, v2, v3);
            v0 ^= word;
        }
        for (; at < size; at++) last |= (uint64_t)data[at] << (8 * (at & 7));
        v3 ^= last;
        EXCISE_ROUND(v0, v1, v2, v3);
        v0 ^= last;
        v2 ^= 0xff;
        EXCISE_ROUND(v0, v1, v2, v3);
        EXCISE_ROUND(v0, v1, v2, v3);
        EXCISE_ROUND(v0, v1, v2, v3);
        return v0 ^ v1 ^ v2 ^ v3;
    }
    """
    uint64_t excise_hash(
        const unsigned char* data, size_t size, uint64_t k0, uint64_t k1
    ) noexcept nogil
