"""Classes of the bytes of a text in UTF-8 (`excise.lexical` has them as characters)."""


cdef inline bint is_white(unsigned char c) noexcept nogil:
    return c == 32 or 9 <= c <= 13


cdef inline bint is_word(unsigned char c) noexcept nogil:
    return (97 <= c <= 122) or (65 <= c <= 90) or (48 <= c <= 57) or c == 95 or c >= 128


cdef inline Py_ssize_t lines_in(const unsigned char* data, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t at, lines = 1
    for at in range(size):
        lines += data[at] == 10
    return lines
