"""Where an edit stands: runs that slide along equal lines, regions that share a place.

The definition (section 4a) compares what two revisions add and delete at one place of their origin.
An inserted line that equals its neighbour could stand before or after it: so runs slide down first.
"""
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memset

from array import array

from excise.kernels._walk cimport NO_MEMORY, OK


# ------------------------------------------------------------------------------------------------
# Lines: first[l] is the first token of line l, first[n_lines] the number of tokens; NULL where
# every unit is a line. A line may hold no token.

cdef struct Text:
    const int32_t* units
    const int32_t* first
    int32_t n_units
    int32_t n_lines


cdef int32_t line_after(const Text* text, int32_t unit) noexcept nogil:
    """The first line that begins behind a unit."""
    cdef int32_t low = 0, high = text.n_lines, middle
    while low < high:
        middle = (low + high) >> 1
        if text.first[middle] <= unit:
            low = middle + 1
        else:
            high = middle
    return low


cdef bint begins_line(const Text* text, int32_t unit) noexcept nogil:
    """Whether a line begins (or the text ends) at a unit."""
    if text.first is NULL or unit == text.n_units:
        return True
    return text.first[line_after(text, unit) - 1] == unit


cdef int32_t line_end(const Text* text, int32_t unit, int32_t* line) noexcept nogil:
    """One past the last unit of the line that holds a unit; `line` walks along, from 0 on."""
    if text.first is NULL:
        return unit + 1
    if line[0] == 0:
        line[0] = line_after(text, unit)
    while text.first[line[0]] <= unit:
        line[0] += 1
    return text.first[line[0]]


cdef int32_t slide_by(
    const Text* own, int32_t start, int32_t stop, const Text* other, int32_t place, int32_t limit
) noexcept nogil:
    """How far the run start..stop of whole lines slides down the lines of the other text."""
    cdef int32_t moved = 0, size, own_line = 0, other_line = 0
    if not (begins_line(own, start) and begins_line(own, stop) and begins_line(other, place)):
        return 0
    while place + moved < limit:
        size = line_end(own, start + moved, &own_line) - start - moved
        if line_end(other, place + moved, &other_line) - place - moved != size:
            break
        if place + moved + size > limit:
            break
        if memcmp(own.units + start + moved, other.units + place + moved,
                  size * sizeof(int32_t)) != 0:
            break
        moved += size
    return moved


cdef bint slide_run(
    int32_t* run, const Text* origin, const Text* revision, int32_t o_limit, int32_t a_limit
) noexcept nogil:
    """Move a run that only inserts or only deletes; tell whether it moved."""
    cdef int32_t moved = 0
    cdef int i
    if run[0] == run[1] and run[2] < run[3]:
        moved = slide_by(revision, run[2], run[3], origin, run[0], o_limit)
    elif run[2] == run[3] and run[0] < run[1]:
        moved = slide_by(origin, run[0], run[1], revision, run[2], a_limit)
    for i in range(4):
        run[i] += moved
    return moved > 0


cdef Text text_of(const int32_t[::1] units, const int32_t[::1] first) noexcept:
    cdef Text text
    text.n_units = <int32_t>units.shape[0]
    text.units = &units[0] if units.shape[0] else NULL
    text.first = NULL
    text.n_lines = 0
    if first is not None:
        text.first = &first[0]
        text.n_lines = <int32_t>first.shape[0] - 1
    return text


def slide(edits not None, const int32_t[::1] o not None, const int32_t[::1] o_first,
          const int32_t[::1] a not None, const int32_t[::1] a_first):
    """Return the edits after their line slides: the same object where nothing slides.

    - ``edits``: flat array of o_lo, o_hi, a_lo, a_hi.
    - ``o``, ``a``: units of origin and revision.
    - ``o_first``, ``a_first``: the first unit of every line and the number of units; None: each
      unit is a line.
    """
    cdef Text origin = text_of(o, o_first), revision = text_of(a, a_first)
    cdef Py_ssize_t i
    cdef bint changed = False
    cdef int32_t o_limit = origin.n_units, a_limit = revision.n_units
    cdef int32_t[::1] runs
    if not len(edits):
        return edits
    slid = array("i", edits)
    runs = slid
    with nogil:
        for i in range(runs.shape[0] - 4, -1, -4):
            if slide_run(&runs[i], &origin, &revision, o_limit, a_limit):
                changed = True
            o_limit = runs[i]
            a_limit = runs[i + 2]
    return slid if changed else edits


# ------------------------------------------------------------------------------------------------
# Places: regions that touch a common line, or lines side by side that one revision edits.

cdef struct Touched:
    int32_t first         # lines
    int32_t last
    bint between          # empty in O, between two lines (or at an end of O)


cdef inline int32_t line_before(int32_t line) noexcept nogil:
    """The line of a token; of an empty line within a text, which is no line, the one before."""
    return line if line >= 0 else ~line


cdef inline int32_t line_behind(int32_t line) noexcept nogil:
    return line if line >= 0 else ~line + 1


cdef Touched touched_by(
    const int32_t* region, const int32_t* lines, int32_t n_tokens
) noexcept nogil:
    cdef int32_t low = region[0], high = region[1]
    cdef Touched touched
    touched.between = False
    if low < high:
        touched.first = line_behind(lines[low])
        touched.last = line_before(lines[high - 1])
        if touched.first <= touched.last:
            return touched
    touched.first = line_behind(lines[0]) if n_tokens else 0
    if low > 0:
        touched.first = line_before(lines[low - 1])
    touched.last = line_behind(lines[high]) if high < n_tokens else touched.first
    touched.between = low == 0 or high == n_tokens or touched.first != touched.last
    return touched


cdef bint edited(
    const int32_t* o, int32_t o_lo, int32_t o_hi, const int32_t* a, int32_t a_lo, int32_t a_hi
) noexcept nogil:
    """Whether a revision's segment differs from the origin's."""
    if o_hi - o_lo != a_hi - a_lo:
        return True
    return o_hi > o_lo and memcmp(o + o_lo, a + a_lo, (o_hi - o_lo) * sizeof(int32_t)) != 0


cdef int32_t root_of(int32_t* parent, int32_t region) noexcept nogil:
    while parent[region] != region:
        parent[region] = parent[parent[region]]
        region = parent[region]
    return region


cdef void unite(int32_t* parent, int32_t x, int32_t y) noexcept nogil:
    """Join two places under the region that comes first."""
    x = root_of(parent, x)
    y = root_of(parent, y)
    if x < y:
        parent[y] = x
    else:
        parent[x] = y


cdef int reserve_places(Places* places, Py_ssize_t n_regions) noexcept nogil:
    if n_regions <= places.capacity:
        return OK
    free(places.parent)
    places.parent = <int32_t*>malloc(6 * n_regions * sizeof(int32_t))
    places.capacity = 0 if places.parent is NULL else 2 * n_regions
    if places.parent is NULL:
        return NO_MEMORY
    places.following = places.parent + 2 * n_regions
    places.tail = places.parent + 4 * n_regions
    return OK


cdef void free_places(Places* places) noexcept nogil:
    free(places.parent)
    memset(places, 0, sizeof(Places))


cdef int link_places(
    const int32_t* regions, Py_ssize_t n_regions, const int32_t* lines, int32_t n_tokens,
    const int32_t* o, const int32_t* a, const int32_t* b, Places* places
) noexcept nogil:
    """Join the regions of each place; `lines` numbers the line of every origin token (`~line`: it
    is an empty line behind that one).

    Neighbours are enough for a common line: whatever lies between two regions on one line is on
    it, too. For lines side by side the last region before that the same revision edits is enough.
    """
    cdef int32_t i, side, root, previous_root = -1
    cdef int32_t last[2]
    cdef Touched[2] last_touched
    cdef Touched touched, previous
    cdef const int32_t* region
    cdef bint by_side
    if reserve_places(places, n_regions) != OK:
        return NO_MEMORY
    last[0] = last[1] = -1
    for i in range(<int32_t>n_regions):
        places.parent[i] = i
        region = regions + 6 * i
        touched = touched_by(region, lines, n_tokens)
        if i and touched.first <= previous.last and not (touched.between and previous.between):
            unite(places.parent, i - 1, i)
        for side in range(2):
            by_side = edited(o, region[0], region[1], b if side else a,
                             region[2 + 2 * side], region[3 + 2 * side])
            if not by_side:
                continue
            if last[side] >= 0 and touched.first <= last_touched[side].last + 1:
                unite(places.parent, last[side], i)
            last[side] = i
            last_touched[side] = touched
        previous = touched
    places.n = 0
    for i in range(<int32_t>n_regions):
        root = root_of(places.parent, i)
        if root != i:
            places.following[places.tail[root]] = i
        else:
            places.n += 1
        places.tail[root] = i
        places.following[i] = -1
    for i in range(<int32_t>n_regions):
        if places.parent[i] == i:
            if previous_root >= 0:
                places.following[places.tail[previous_root]] = -2 - i
            previous_root = i
    return OK


cdef int link_numbered(
    const int32_t* numbers, Py_ssize_t n_regions, Places* places
) noexcept nogil:
    """Join the regions of places that are numbered 0, 1, .. in the order of their first regions."""
    cdef int32_t i, number
    cdef int32_t* first
    if reserve_places(places, n_regions) != OK:
        return NO_MEMORY
    first = places.parent
    places.n = 0
    for i in range(<int32_t>n_regions):
        number = numbers[i]
        if number < 0 or number > places.n:
            return MISNUMBERED
        if number == places.n:
            places.n += 1
            first[number] = i
        else:
            places.following[places.tail[number]] = i
        places.tail[number] = i
        places.following[i] = -1
    for number in range(<int32_t>places.n - 1):
        places.following[places.tail[number]] = -2 - first[number + 1]
    return OK
