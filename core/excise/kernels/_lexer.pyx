"""Texts without a grammar as ints, line by line: a line that was seen before is not read again.

Works on UTF-8, where each byte of a non-ASCII character is above 0x7F: so the classes of bytes are
those of characters (`excise.lexical`). The interpreter's lock is held, as all texts of an origin
share the tables; where Python code runs meanwhile, another thread may read a text, too.
"""
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memchr, memcmp, memcpy

from array import array

from excise.errors import OptionError

from excise.kernels._bytes cimport is_white, is_word, lines_in
from excise.kernels._tables cimport NO_MEMORY, make_room

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    /* A hash of bytes that nobody can aim at: SipHash-1-3 under a key (Aumasson and Bernstein). */
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

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL

cdef enum:
    BLOCK = 1 << 16       # bytes of memory for lines that is asked for at a time

# The largest number of tokens, and of bytes, of a text: sums of two fit 32 bits.
MAX_LENGTH = (1 << 30) - 1


# ------------------------------------------------------------------------------------------------
# A table that numbers byte strings, which stay where they are; hashes by a key.

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
    if names.slots is NULL or 2 * <uint64_t>names.n > names.mask:
        if grow(names) != 0:
            return NO_MEMORY
    slot = slot_of(names, hashed, data, size)
    if names.slots[slot].number:
        return <int64_t>names.slots[slot].number - 1
    if (make_room(<void**>&names.data, names.n + 1, &names.room, sizeof(void*)) != 0
            or make_room(<void**>&names.sizes, names.n + 1, &names.sizes_room,
                         sizeof(int32_t)) != 0):
        return NO_MEMORY
    names.data[names.n] = data
    names.sizes[names.n] = size
    names.slots[slot].hash = hashed
    names.slots[slot].number = <uint32_t>names.n + 1
    names.n += 1
    return names.n - 1


cdef void release(Names* names) noexcept nogil:
    free(names.slots)
    free(names.data)
    free(names.sizes)


# ------------------------------------------------------------------------------------------------
# The lexer.

cdef class Lexer:
    """Reads the texts of one origin; equal lines and equal tokens have equal ints in all of them.

    - ``vocabulary``: an `excise.tokens.Vocabulary`, which has the names of tokens, and reserves
      some for lines.
    - ``alone``: whether nothing else is named by the vocabulary: then tokens have reserved names,
      too, and no objects. `share` ends that.
    """
    def __init__(self, vocabulary, *, bint alone=False):
        self.vocabulary = vocabulary
        self.alone = alone
        # A secret of the process: no text can be made whose lines all meet in one slot.
        self.k0 = <uint64_t>(hash("lexer 0") & 0xFFFFFFFFFFFFFFFF)
        self.k1 = <uint64_t>(hash("lexer 1") & 0xFFFFFFFFFFFFFFFF)

    def __dealloc__(self):
        cdef void* before
        release(&self.lines)
        release(&self.tokens)
        free(self.starts)
        free(self.line_names)
        free(self.token_names)
        free(self.held)
        while self.blocks is not NULL:
            before = (<void**>self.blocks)[0]
            free(self.blocks)
            self.blocks = before

    def read(self, str text not None):
        """Return the tokens of a normalised text, the first of every line, and the lines' ints.

        Returns: the tokens; for each line its first token, and the number of tokens at the end; for
        each line what names its key (equal keys, equal ints), -1: blank.
        """
        cdef Py_ssize_t size = 0
        cdef const unsigned char* data
        cdef int64_t total
        if text.isascii():
            encoded = text
            data = <const unsigned char*>PyUnicode_AsUTF8AndSize(text, &size)
        else:
            encoded = text.encode("utf-8", "surrogatepass")
            size = len(encoded)
            data = <const unsigned char*><const char*>encoded
        if size > MAX_LENGTH:
            raise OptionError(f"a text of {size} bytes is too long; the limit is {MAX_LENGTH}")
        ids = array("i", (BLANK,)) * lines_in(data, size)
        total = self.number_lines(data, size, self.first_text is not None, ids)
        if self.first_text is None:
            self.first_text = encoded
        if total < 0:
            raise MemoryError("excise: out of memory while reading a text")
        while self.named_lines < self.lines.n:
            self.name()
        tokens, first = array("i", (0,)) * total, array("i", (0,)) * (len(ids) + 1)
        self.write(ids, first, tokens)
        return tokens, first, ids

    cdef int64_t number_lines(
        self, const unsigned char* data, Py_ssize_t size, bint copies, int32_t[::1] ids
    ) except? -2:
        """Number the keys of all lines; return how many tokens these have, -1: no memory."""
        cdef const unsigned char* end = data + size
        cdef const unsigned char* stop
        cdef const unsigned char* line_end
        cdef int64_t number, total = 0, expected = 0
        cdef Py_ssize_t line
        for line in range(ids.shape[0]):
            line_end = <const unsigned char*>memchr(data, 10, end - data)
            if line_end is NULL:
                line_end = end
            stop = line_end
            while stop > data and is_white((stop - 1)[0]):
                stop -= 1
            if stop > data:
                # Most lines follow the line that they followed before: no need to look for them.
                number = expected
                if not self.is_line(expected, data, <int32_t>(stop - data)):
                    number = self.line_number(data, <int32_t>(stop - data), copies)
                    if number < 0:
                        return NO_MEMORY
                ids[line] = <int32_t>number
                total += self.starts[number + 1] - self.starts[number]
                expected = number + 1
            data = line_end + 1
        return total

    cdef bint is_line(self, int64_t number, const unsigned char* data, int32_t size) noexcept:
        return (number < self.lines.n and self.lines.sizes[number] == size
                and memcmp(self.lines.data[number], data, size) == 0)

    cdef int64_t line_number(self, const unsigned char* data, int32_t size, bint copies) noexcept:
        """Return the number of a line; a new one is split into tokens."""
        cdef int64_t before = self.lines.n
        cdef int64_t number = number_of(&self.lines, data, size, self.k0, self.k1)
        if number < before:
            return number
        if copies:
            data = self.kept(data, size)
            if data is NULL:
                return NO_MEMORY
            self.lines.data[number] = data
        return number if self.split(data, size) == 0 else NO_MEMORY

    cdef const unsigned char* kept(self, const unsigned char* data, int32_t size) noexcept:
        """Copy the bytes of a line to where they stay."""
        cdef void* block
        cdef size_t wanted = sizeof(void*) + <size_t>size
        cdef unsigned char* place
        if self.blocks is NULL or self.left < <size_t>size:
            self.block_size = wanted if wanted > BLOCK else BLOCK
            block = malloc(self.block_size)
            if block is NULL:
                return NULL
            (<void**>block)[0] = self.blocks
            self.blocks = block
            self.left = self.block_size - sizeof(void*)
        place = <unsigned char*>self.blocks + self.block_size - self.left
        memcpy(place, data, size)
        self.left -= size
        return place

    cdef int split(self, const unsigned char* data, int32_t size) noexcept:
        """Append the tokens of a new line, the last one, to `held`."""
        cdef const unsigned char* end = data + size
        cdef const unsigned char* start
        cdef int64_t number
        if make_room(<void**>&self.starts, self.lines.n + 1, &self.starts_room,
                     sizeof(int64_t)) != 0:
            return NO_MEMORY
        self.starts[self.lines.n - 1] = self.n_held
        while data < end:
            start = data
            data += 1
            if is_white(start[0]):
                continue
            if is_word(start[0]):
                while data < end and is_word(data[0]):
                    data += 1
            number = number_of(&self.tokens, start, <int32_t>(data - start), self.k0, self.k1)
            if number < 0 or make_room(<void**>&self.held, self.n_held + 1, &self.held_room,
                                       sizeof(int32_t)) != 0:
                return NO_MEMORY
            self.held[self.n_held] = <int32_t>number
            self.n_held += 1
        self.starts[self.lines.n] = self.n_held
        return 0

    cdef int name(self) except -1:
        """Give the lines and tokens without ints the vocabulary's, unless another thread did."""
        cdef int64_t at, line = self.named_lines, token = self.named_tokens
        cdef int64_t lines = self.lines.n, tokens = self.tokens.n, held = self.n_held
        cdef bint alone = self.alone
        cdef int32_t first = self.vocabulary.reserve(lines - line), start = 0
        cdef const int32_t[::1] names = None
        if alone:
            start = self.vocabulary.reserve(tokens - token)
        else:
            names = self.vocabulary.intern(self.texts(token, tokens))
        if (make_room(<void**>&self.line_names, lines, &self.line_room, sizeof(int32_t)) != 0
                or make_room(<void**>&self.token_names, tokens, &self.token_room,
                             sizeof(int32_t)) != 0):
            raise MemoryError("excise: out of memory while reading a text")
        if line != self.named_lines or alone != self.alone:
            return 0
        # From here on no Python code runs.
        for at in range(line, lines):
            self.line_names[at] = first + <int32_t>(at - line)
        for at in range(token, tokens):
            self.token_names[at] = start + <int32_t>(at - token) if alone else names[at - token]
        for at in range(self.named_held, held):
            self.held[at] = self.token_names[self.held[at]]
        self.named_lines, self.named_tokens, self.named_held = lines, tokens, held
        return 0

    cdef list texts(self, int64_t start, int64_t stop):
        """Return the tokens from one number to another."""
        cdef int64_t at
        cdef const char* token
        result = []
        for at in range(start, stop):
            token = <const char*>self.tokens.data[at]
            result.append(token[:self.tokens.sizes[at]].decode("utf-8", "surrogatepass"))
        return result

    def share(self):
        """Tell the vocabulary the names of all tokens, as it has to name something else."""
        cdef int64_t at, named = self.named_tokens
        if self.alone:
            self.alone = False
            names = [self.token_names[at] for at in range(named)]
            self.vocabulary.adopt(self.texts(0, named), names)

    cdef int write(self, int32_t[::1] ids, int32_t[::1] first, int32_t[::1] tokens) except -1:
        """Put numbers of lines into ints, and the tokens of the lines in a row."""
        cdef int32_t place = 0, size
        cdef int64_t number
        cdef Py_ssize_t line
        for line in range(ids.shape[0]):
            first[line] = place
            number = ids[line]
            if number != BLANK:
                size = <int32_t>(self.starts[number + 1] - self.starts[number])
                memcpy(&tokens[0] + place, self.held + self.starts[number], size * sizeof(int32_t))
                ids[line] = self.line_names[number]
                place += size
        first[ids.shape[0]] = place
        return 0


def token_lines(const int32_t[::1] first not None, const int32_t[::1] tokens not None,
                const int32_t[::1] ids not None, int32_t empty):
    """Return the line of every token; lines with tokens are numbered without gaps.

    The line end that stands for an empty line within a text is on no line: it has `~line`, where
    `line` is the one before.

    - ``first``: for each line its first token, and the number of tokens at the end.
    - ``tokens``: the tokens.
    - ``ids``: the names of the lines, negative if a line is blank.
    - ``empty``: the token that stands for an empty line, or -1.
    """
    cdef Py_ssize_t line, at
    cdef int32_t number = 0
    cdef int32_t[::1] numbers
    result = array("i", (0,)) * first[first.shape[0] - 1]
    numbers = result
    for line in range(first.shape[0] - 1):
        at = first[line]
        if first[line + 1] == at + 1 and tokens[at] == empty and ids[line] < 0:
            numbers[at] = ~(number - 1) if number else 0
            continue
        for at in range(first[line], first[line + 1]):
            numbers[at] = number
        number += first[line] < first[line + 1]
    return result
