"""Lines of revisions beside those of their origin: what is equal is compared without splitting it.

A line includes its line end, so that a last line without one equals only another such line. The
names of lines are for alignment only: lines that the origin lacks share one, as they match none.
"""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memcpy

from array import array
from bisect import bisect_right

from excise.errors import OptionError

from excise.kernels._bytes cimport is_white, lines_in
from excise.kernels._lexer cimport Names, known, number_of, release

cdef enum:
    TWICE = -1

# The largest number of bytes of a text: sums of two fit 32 bits.
MAX_LENGTH = (1 << 30) - 1


cdef class OriginLines:
    """The lines of an origin.

    Parameters
    ----------
    data
        The origin, encoded.

    Attributes
    ----------
    starts, names
        What `beside` returns of the origin itself.
    """
    cdef object data
    cdef readonly object starts
    cdef readonly object names
    cdef const unsigned char* text
    cdef Py_ssize_t size
    cdef Py_ssize_t n
    cdef Names table
    cdef int32_t* places    # of each name: the only line that has it, or TWICE
    cdef uint64_t k0
    cdef uint64_t k1

    def __init__(self, bytes data not None):
        self.data = data
        self.size = checked(data)
        self.text = <const unsigned char*><const char*>data
        # A secret of the process: no text can be made whose lines all meet in one slot.
        self.k0 = <uint64_t>(hash("lines 0") & 0xFFFFFFFFFFFFFFFF)
        self.k1 = <uint64_t>(hash("lines 1") & 0xFFFFFFFFFFFFFFFF)
        self.n = lines_in(self.text, self.size)
        self.places = <int32_t*>malloc(self.n * sizeof(int32_t))
        self.starts = array("i", (0,)) * (self.n + 1)
        self.names = array("i", (0,)) * self.n
        if self.places is NULL or self.number(self.starts, self.names) != 0:
            raise MemoryError("excise: out of memory while reading a text")

    def __dealloc__(self):
        release(&self.table)
        free(self.places)

    cdef int number(self, int32_t[::1] starts, int32_t[::1] names) noexcept:
        """Name every line; nonzero: no memory."""
        cdef Py_ssize_t line, place = 0, stop
        cdef int64_t number, before
        for line in range(self.n):
            stop = line_stop(self.text, place, self.size)
            before = self.table.n
            number = number_of(
                &self.table, self.text + place, <int32_t>(stop - place), self.k0, self.k1)
            if number < 0:
                return 1
            self.places[number] = <int32_t>line if number == before else TWICE
            starts[line] = <int32_t>place
            names[line] = <int32_t>number
            place = stop
        starts[self.n] = <int32_t>self.size + 1
        return 0

    def beside(self, bytes data not None):
        """Return where each line of a text starts, and its name, equal for lines of the origin.

        Returns
        -------
        tuple of array of int
            For each line the byte at which it starts, and one past the end of the text, as if the
            last line ended too; for each line its name.
        """
        cdef Py_ssize_t size = checked(data)
        cdef const unsigned char* text = <const unsigned char*><const char*>data
        cdef Py_ssize_t count = lines_in(text, size)
        starts, names = array("i", (0,)) * (count + 1), array("i", (0,)) * count
        self.compare(text, size, starts, names)
        return starts, names

    cdef void compare(
        self, const unsigned char* text, Py_ssize_t size, int32_t[::1] starts, int32_t[::1] names
    ) noexcept:
        cdef const int32_t[::1] own_starts = self.starts, own_names = self.names
        cdef Py_ssize_t line = 0, own = 0, place = 0, count = names.shape[0], stop, run
        cdef int64_t number
        while line < count:
            # Most lines follow the line that they follow in the origin.
            run = self.run(own, text, size, line, place, starts, names, own_starts, own_names)
            own += run
            line += run
            place = starts[line] if run else place
            if line == count:
                break
            starts[line] = <int32_t>place
            stop = line_stop(text, place, size)
            number = known(&self.table, text + place, <int32_t>(stop - place), self.k0, self.k1)
            names[line] = <int32_t>(number if number >= 0 else self.table.n)
            line += 1
            place = stop
            if number >= 0 and self.places[number] != TWICE:
                own = self.places[number] + 1
            elif line < count and not self.follows(own, text, size, place, own_starts):
                own += self.follows(own + 1, text, size, place, own_starts)
        starts[count] = <int32_t>size + 1

    cdef bint follows(
        self, Py_ssize_t own, const unsigned char* text, Py_ssize_t size, Py_ssize_t place,
        const int32_t[::1] own_starts
    ) noexcept:
        """Whether the line at a place is one of the origin, both with a line end."""
        cdef Py_ssize_t length
        if own + 1 >= self.n:
            return False
        length = own_starts[own + 1] - own_starts[own]
        return (length <= size - place
                and memcmp(self.text + own_starts[own], text + place, length) == 0)

    cdef Py_ssize_t run(
        self, Py_ssize_t own, const unsigned char* text, Py_ssize_t size, Py_ssize_t line,
        Py_ssize_t place, int32_t[::1] starts, int32_t[::1] names,
        const int32_t[::1] own_starts, const int32_t[::1] own_names
    ) noexcept:
        """Name the lines from one on that equal those of the origin from one on; return how many.

        The start of the line behind them is written, too.
        """
        cdef Py_ssize_t first = own, equal, before, left, own_left
        if own >= self.n:
            return 0
        before = own_starts[own]
        left, own_left = size - place, self.size - before
        equal = common(self.text + before, text + place, min(left, own_left))
        while own + 1 < self.n and own_starts[own + 1] - before <= equal:
            starts[line] = <int32_t>(place + own_starts[own] - before)
            names[line] = own_names[own]
            own += 1
            line += 1
        if own + 1 == self.n and line + 1 == names.shape[0] and equal == left == own_left:
            starts[line] = <int32_t>(place + own_starts[own] - before)
            names[line] = own_names[own]
            own += 1
            line += 1
            starts[line] = <int32_t>size + 1
        elif own > first:
            starts[line] = <int32_t>(place + own_starts[own] - before)
        return own - first


cdef Py_ssize_t checked(bytes data) except -1:
    cdef Py_ssize_t size = len(data)
    if size > MAX_LENGTH:
        raise OptionError(f"a text of {size} bytes is too long; the limit is {MAX_LENGTH}")
    return size


cdef Py_ssize_t line_stop(const unsigned char* text, Py_ssize_t place, Py_ssize_t size) noexcept:
    """Return where the line at a place stops, behind its line end."""
    cdef const void* found = memchr(text + place, 10, size - place)
    return size if found is NULL else <const unsigned char*>found - text + 1


cdef Py_ssize_t common(
    const unsigned char* x, const unsigned char* y, Py_ssize_t limit
) noexcept nogil:
    """Return how many first bytes two texts share, compared eight at a time."""
    cdef Py_ssize_t at = 0
    cdef uint64_t p, q
    while at + 8 <= limit:
        memcpy(&p, x + at, 8)
        memcpy(&q, y + at, 8)
        if p != q:
            break
        at += 8
    while at < limit and x[at] == y[at]:
        at += 1
    return at


def tree_edits(
    bytes old_data not None, old not None, new not None, const int32_t[::1] edits not None
):
    """Return edits of lines as the arguments of ``Tree.edit``, the last edit of a text first.

    An edit can be said in several ways, and how much the parser reuses depends on it. Best: from
    the last character before it that is not white space to the start of the next line. Scanners of
    indentation put the marks behind a block where its text ends, and the next node starts there,
    too, as the white space before it is its own. There the parser would ask whether it can reuse
    that node before it has passed the marks, and drop it, and the next, and so on
    (docs/upstream.md); said like this, the node starts behind that place.

    Parameters
    ----------
    old_data
        The text before, encoded.
    old, new
        The byte at which each line of both texts starts, and one past the end.
    edits
        Of lines, flat: o_lo, o_hi, a_lo, a_hi.
    """
    cdef const unsigned char* text = <const unsigned char*><const char*>old_data
    cdef Py_ssize_t old_size = old[len(old) - 1] - 1, new_size = new[len(new) - 1] - 1
    cdef Py_ssize_t at, before, start, limit, old_end, new_start, new_end
    cdef Py_ssize_t row, end_row, first, last
    found = []
    for at in range(edits.shape[0] - 4, -1, -4):
        before = start = old[edits[at]]
        # Edits must not overlap: text before this one is text of both only as far as the last.
        limit = old[edits[at - 3]] if at else 0
        while start > limit and (is_white(text[start - 1]) or text[start - 1] & 0xC0 == 0x80):
            start -= 1
        start = max(start - 1, limit)
        new_start = new[edits[at + 2]] - (before - start)
        old_end, new_end = min(old[edits[at + 1]], old_size), min(new[edits[at + 3]], new_size)
        row, end_row = bisect_right(old, start) - 1, bisect_right(old, old_end) - 1
        # In the tree's terms nothing before the edit has moved yet.
        first, last = bisect_right(new, new_start) - 1, bisect_right(new, new_end) - 1
        column = new_end - new[last]
        if first == last:
            column += start - old[row] - (new_start - new[first])
        found.append((
            start, old_end, start + new_end - new_start,
            (row, start - old[row]), (end_row, old_end - old[end_row]),
            (row + last - first, column),
        ))
    return found
