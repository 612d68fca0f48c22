"""A parsed text: the walk of its tree from nodes to spans of bytes, and its tokens as ints.

What nodes are, `excise.syntax` says, by their types; the runtime that made them is the binding's,
so that each look at a node is an attribute of an object, by the getter that its type names. How
spans become tokens (a leaf, an atom and a run between leaves are all split at line ends, and
stripped unless they are verbatim) is the same for the tokens with their places, and for those that
are ints. Works on UTF-8: white space is ASCII, and a place inside a character counts as its start:
two ranges that meet inside a character, as broken text can make them, still meet.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memcpy, memset

from array import array
from bisect import bisect_left
from operator import itemgetter

from excise.kernels._bytes cimport is_white, lines_in
from excise.kernels._lcs cimport canonical
from excise.kernels._lexer cimport Names, number_of, release
from excise.kernels._tables cimport make_room
from excise.kernels._walk cimport NO_MEMORY, Edits, Work, check, clear_work, start_of

cdef extern from "Python.h":
    ctypedef object (*Getter "getter")(object, void*)
    ctypedef struct PyGetSetDef:
        const char* name
        Getter get
        void* closure
    enum: Py_tp_getset
    void* PyType_GetSlot(type of, int slot)
    void Py_DECREF(PyObject* held)
    PyObject* PyList_GetItem(PyObject* values, Py_ssize_t at) except NULL
    int PyList_SetItem(PyObject* values, Py_ssize_t at, object value) except -1
    void Py_INCREF(object held)
    object PyUnicode_DecodeUTF8(const char* text, Py_ssize_t size, const char* errors)
    object PyBytes_FromStringAndSize(const char* text, Py_ssize_t size)

cdef enum:
    # What a span is, and what a node does to a walk (both as in `excise.syntax`).
    PLAIN = 0
    VERBATIM = 1
    BLOCK_START = 2
    BLOCK_END = 3
    COMMENT = 4
    TURNS = 1
    WHOLE = 2
    BLOCK = 4
    DROPPED = 8
    KIND = 0              # attributes of a node
    START = 1
    END = 2
    COUNT = 3
    CHILDREN = 4
    STATE = 5
    BELOW = 6
    BROKEN = 7
    NO_STATE = 65535      # several ways were before the parser: it notes no state
    SMALL = 500           # so many nodes are written down sooner than looked at one by one
    INDENT = -1           # tokens that are marks
    DEDENT = -2
    BLANK = -1            # the name of a line without a key

cdef struct Attribute:
    # How the binding reads an attribute of a node: looking it up by name takes longer.
    Getter get
    void* closure

cdef struct Frame:
    # A node whose children are walked.
    PyObject* children    # a list, held
    Py_ssize_t at         # the next child
    Py_ssize_t n
    int kind              # of leaves that stand around the node
    Py_ssize_t end        # of its block; 0: none
    Py_ssize_t start      # of the node

cdef struct Found:
    int32_t* data        # spans, flat: start, end, kind
    int64_t n
    int64_t room


cdef int push(Found* found, Py_ssize_t start, Py_ssize_t end, int kind) except -1:
    if make_room(<void**>&found.data, found.n + 3, &found.room, sizeof(int32_t)) != 0:
        raise MemoryError("excise: out of memory while walking a tree")
    found.data[found.n] = <int32_t>start
    found.data[found.n + 1] = <int32_t>end
    found.data[found.n + 2] = kind
    found.n += 3
    return 0


cdef inline bint has_text(
    const unsigned char* data, Py_ssize_t start, Py_ssize_t end
) noexcept:
    """Whether there is more than white space between two places."""
    while start < end and is_white(data[start]):
        start += 1
    return start < end


cdef inline int leaf(int role, int kind) noexcept:
    """Return what the span of a node is whose parent's leaves are of a kind."""
    kind ^= role & TURNS
    return COMMENT if role & DROPPED and kind == PLAIN else kind


cdef Attribute[8] _ATTRIBUTES
cdef list _NAMES = [
    b"kind_id", b"start_byte", b"end_byte", b"child_count", b"children",
    b"parse_state", b"descendant_count", b"has_error",
]
cdef type _node_type = None


cdef int find_attributes(type of) except -1:
    """Find out how nodes are read: by the getters that their type has."""
    global _node_type
    cdef PyGetSetDef* known = <PyGetSetDef*>PyType_GetSlot(of, Py_tp_getset)
    cdef Attribute[8] found
    missing = set(_NAMES)
    while known is not NULL and known.name is not NULL:
        if known.name in missing:
            missing.discard(known.name)
            found[_NAMES.index(known.name)] = Attribute(known.get, known.closure)
        known += 1
    if missing:
        raise AttributeError(f"{of.__name__} is not a tree-sitter node: it lacks {sorted(missing)}")
    memcpy(_ATTRIBUTES, found, sizeof(found))
    _node_type = of
    return 0


cdef inline Py_ssize_t number(int attribute, node) except? -1:
    return _ATTRIBUTES[attribute].get(node, _ATTRIBUTES[attribute].closure)


cdef inline list children_of(node):
    return <list>_ATTRIBUTES[CHILDREN].get(node, _ATTRIBUTES[CHILDREN].closure)


cdef inline int look_at(node) except -1:
    """Be ready to read nodes of this type."""
    return find_attributes(type(node)) if type(node) is not _node_type else 0


cdef class Walk:
    """One walk; see `walk`."""
    cdef const unsigned char* data
    cdef Py_ssize_t size
    cdef const unsigned char* roles[2]    # by the kind of the parent's leaves, then by type
    cdef Py_ssize_t n_roles
    cdef const int32_t[::1] within
    cdef Found found
    cdef Found between                    # text of strings that no leaf covers
    cdef list loose                       # nodes with such text, as ranges
    cdef Frame* frames
    cdef Py_ssize_t n_frames
    cdef int64_t room

    def __dealloc__(self):
        free(self.found.data)
        free(self.between.data)
        while self.n_frames:
            self.n_frames -= 1
            Py_DECREF(self.frames[self.n_frames].children)
        free(self.frames)

    cdef int role(self, int kind, node) except -1:
        cdef Py_ssize_t type_ = number(KIND, node)
        return self.roles[kind][type_] if type_ < self.n_roles else 0

    cdef Py_ssize_t range_behind(self, Py_ssize_t start) noexcept:
        """Return the first range that ends behind a byte."""
        cdef Py_ssize_t low = 0, high = self.within.shape[0] >> 1, middle
        while low < high:
            middle = (low + high) >> 1
            if start < self.within[2 * middle + 1]:
                high = middle
            else:
                low = middle + 1
        return low

    cdef list overlapping(self, Py_ssize_t start, Py_ssize_t end, list children):
        """Return the children that overlap a range; all of those of a node inside one."""
        cdef Py_ssize_t at = 2 * self.range_behind(start), last = self.within.shape[0]
        if at < last and self.within[at] <= start and end <= self.within[at + 1]:
            return children
        kept = []
        for child in children:
            at = 2 * self.range_behind(number(START, child))
            if at < last and self.within[at] < number(END, child):
                kept.append(child)
        return kept

    cdef int enter(
        self, list children, int kind, Py_ssize_t end, Py_ssize_t start
    ) except -1:
        """Go on with the children of a node."""
        cdef Frame* frame
        if make_room(
                <void**>&self.frames, self.n_frames + 1, &self.room, sizeof(Frame)) != 0:
            raise MemoryError("excise: out of memory while walking a tree")
        Py_INCREF(children)
        frame = &self.frames[self.n_frames]
        frame.children, frame.at, frame.n = <PyObject*>children, 0, len(children)
        frame.kind, frame.end, frame.start = kind, end, start
        self.n_frames += 1
        return 0

    cdef int run(self, root) except -1:
        cdef int kind = PLAIN    # of leaves that stand here; VERBATIM in a string
        cdef int role
        cdef Py_ssize_t start, end
        cdef Frame* frame
        cdef list children
        cdef bint narrow = self.within is not None and self.within.shape[0] > 0
        self.enter([root], PLAIN, 0, 0)
        while self.n_frames:
            frame = &self.frames[self.n_frames - 1]
            if frame.at == frame.n:
                kind = frame.kind
                if frame.end:
                    push(&self.found, frame.end, frame.end, BLOCK_END)
                self.n_frames -= 1
                Py_DECREF(frame.children)
                continue
            node = <object>PyList_GetItem(frame.children, frame.at)
            Py_INCREF(None)  # which the list takes over
            PyList_SetItem(frame.children, frame.at, None)
            frame.at += 1
            role = self.role(kind, node)
            start, end = number(START, node), number(END, node)
            if role & WHOLE or not number(COUNT, node):
                if kind == VERBATIM:
                    start = self.line_end_before(start, frame.start, end)
                push(&self.found, start, end, leaf(role, kind))
                continue
            children = children_of(node)
            if kind ^ (role & TURNS) and self.leaves_of_string(start, end, children):
                continue
            if narrow:
                children = self.overlapping(start, end, children)
                if not children:
                    continue  # no leaf, although nothing of it is left: its text is between leaves
            if role & BLOCK and start < end:
                push(&self.found, start, start, BLOCK_START)
                self.enter(children, kind, end, start)
            else:
                self.enter(children, kind, 0, start)
            kind ^= role & TURNS
        return 0

    cdef bint leaves_of_string(
        self, Py_ssize_t start, Py_ssize_t end, list children
    ) except -1:
        """Push the children of a node in a string, if all are leaves: most need no more.

        If the children leave out text, the node joins `loose`.
        """
        cdef bint deeper = False, gap = False
        cdef Py_ssize_t at = start, child_start, child_end
        cdef int64_t before = self.found.n
        cdef int role
        for child in children:
            child_start, child_end = number(START, child), number(END, child)
            role = self.role(VERBATIM, child)
            if not role & WHOLE and number(COUNT, child):
                deeper = True
            gap |= child_start != at
            push(&self.found, self.line_end_before(child_start, start, child_end), child_end,
                 leaf(role, VERBATIM))
            at = child_end
        if gap or at != end:
            self.loose.append((start, end))
            self.own_text(start, end, children)
        if deeper:
            self.found.n = before
        return not deeper

    cdef int own_text(self, Py_ssize_t at, Py_ssize_t last, list children) except -1:
        """Push the text of a node in a string that none of its children covers and is a token.

        White space is one only behind an odd number of leaves with quotes, where a string is open;
        but an empty line always. Children that are missing must not split the text that they stand
        in.
        """
        cdef Py_ssize_t start, end, begin = at, place
        cdef int quotes = 0, role
        for child in [*children, None]:
            if child is None:
                start, end = last, 0
            else:
                start, end = number(START, child), number(END, child)
            if start == end:
                continue
            if at < start and (quotes & 1 or has_text(self.data, at, min(start, self.size))):
                push(&self.between, self.line_end_before(at, begin, start), start, VERBATIM)
            else:
                place = max(at, begin + 1)
                while place < min(start, self.size):
                    if self.data[place] == b"\n" and self.data[place - 1] == b"\n":
                        push(&self.between, place - 1, place + 1, VERBATIM)
                    place += 1
            at = end
            if child is not None:
                role = self.role(VERBATIM, child)
                if role & WHOLE or not number(COUNT, child):
                    quotes += "escape" not in child.type and self.has_quote(start, end)
        return 0

    cdef Py_ssize_t line_end_before(
        self, Py_ssize_t at, Py_ssize_t begin, Py_ssize_t end
    ) noexcept:
        """Return the line end before a text that begins with an empty line of its node, or `at`."""
        if begin < at < min(end, self.size) and self.data[at] == b"\n" == self.data[at - 1]:
            return at - 1
        return at

    # A node may end behind the text: a parser may be given a last line end.
    cdef bint has_quote(self, Py_ssize_t start, Py_ssize_t end) noexcept:
        end = min(end, self.size)
        while start < end and self.data[start] not in b"\"'`":
            start += 1
        return start < end


def walk(root, bytes data not None, tuple roles not None, const int32_t[::1] within):
    """Find the tokens of a parsed text.

    Iterative: a tree may be deeper than Python's recursion limit.

    - ``root``: the ``tree_sitter.Node``, which nobody else has: its lists of children are emptied
      on the way, or all nodes of the tree would be in memory at once.
    - ``data``: the text, encoded.
    - ``roles``: what a node does to the walk, as one byte for each type, if leaves around it are
      plain, and if they are verbatim.
    - ``within``: ranges of bytes, flat and ascending, or None for all: only what overlaps one of
      them is descended into, and spans may then reach beyond.

    Returns: spans, flat; and as ranges the nodes of strings with text that no leaf covers.
    """
    cdef Walk work = Walk.__new__(Walk)
    cdef bytes plain = roles[0], verbatim = roles[1]
    work.data = <const unsigned char*><const char*>data
    work.size = len(data)
    work.roles[PLAIN] = <const unsigned char*><const char*>plain
    work.roles[VERBATIM] = <const unsigned char*><const char*>verbatim
    work.n_roles = len(plain)
    work.within = within
    work.loose = []
    look_at(root)
    work.run(root)
    spans = array("i")
    if work.found.n:
        spans.frombytes((<char*>work.found.data)[:work.found.n * sizeof(int32_t)])
    if work.between.n:
        spans.frombytes((<char*>work.between.data)[:work.between.n * sizeof(int32_t)])
    return in_order(spans) if work.loose else spans, work.loose


cdef object in_order(spans):
    """Sort spans by their starts and ends: the line end before a leaf may be in two."""
    flat = iter(spans)
    triples = sorted(zip(flat, flat, flat), key=itemgetter(0, 1))
    return array("i", [number for triple in triples for number in triple])


# ------------------------------------------------------------------------------------------------
# Nodes that two trees share.

cdef struct Kept:
    # Whole lines that both texts have: bytes of the revision, and by how much they moved.
    int32_t start
    int32_t end
    int32_t moved


cdef const Kept* holding(const int32_t[::1] kept, Py_ssize_t byte) noexcept:
    """Return the kept lines that hold a byte, or NULL."""
    cdef const Kept* lines = <const Kept*>start_of(kept)
    cdef Py_ssize_t low = 0, high = kept.shape[0] // 3, middle
    while low < high:
        middle = (low + high) >> 1
        if lines[middle].start <= byte:
            low = middle + 1
        else:
            high = middle
    return lines + low - 1 if low and byte < lines[low - 1].end else NULL


cdef Py_ssize_t beginning(
    list nodes, Py_ssize_t* at, Py_ssize_t byte, Py_ssize_t kind
) except -2:
    """Return the first node of a type that begins at a byte, -1 if none does.

    - ``at``: where to begin, and then where to go on.
    """
    cdef Py_ssize_t n = len(nodes), place
    while at[0] < n and number(START, nodes[at[0]]) < byte:
        at[0] += 1
    for place in range(at[0], n):
        if number(START, nodes[place]) != byte:
            break
        if number(KIND, nodes[place]) == kind:
            at[0] = place
            return place
    return -1


cdef bint is_twin(old, new) except -1:
    """Whether two nodes of one type over the same text are the same, with all below them."""
    cdef Py_ssize_t state, count
    if not number(COUNT, new):
        return not number(COUNT, old)
    state, count = number(STATE, new), number(BELOW, new)
    if state != number(STATE, old) or count != number(BELOW, old):
        return False
    if number(BROKEN, old) or number(BROKEN, new):
        return False
    return state != NO_STATE or (count < SMALL and str(new) == str(old))


def twins(origin, revision, bytes data not None, const int32_t[::1] kept not None,
          bytes roles not None):
    """Return ranges of the revision's bytes, in no order, whose nodes are those of the origin.

    Nothing but white space stands between the nodes of a range. All of them are code, not parts of
    a string, and the blocks that they stand in begin and end at the same places.

    - ``origin``, ``revision``: the root nodes of two trees that were parsed apart.
    - ``data``: the bytes of the revision.
    - ``kept``: whole lines that both have, flat and ascending: start and end in bytes of the
      revision, and by how many bytes they moved.
    - ``roles``: what nodes do to a walk where leaves are plain, by type.
    """
    cdef const unsigned char* text = <const unsigned char*><const char*>data
    cdef Py_ssize_t size = len(data), n_roles = len(roles), start, end, own, at, kind
    cdef Py_ssize_t first, last, place, moved
    cdef const Kept* lines
    cdef const Kept* behind
    cdef int role
    cdef list theirs
    look_at(origin)
    look_at(revision)
    found = []
    pairs = [(origin, revision)] if number(KIND, origin) == number(KIND, revision) else []
    while pairs:
        old, new = pairs.pop()
        theirs = children_of(old)
        at, lines = 0, NULL
        first = last = place = moved = -1      # of the range that is being found
        for own, child in enumerate(children_of(new)):
            start, end, kind = number(START, child), number(END, child), number(KIND, child)
            if lines is NULL or start >= lines.end:
                lines = holding(kept, start)
            if lines is NULL or beginning(theirs, &at, start - lines.moved, kind) < 0:
                continue
            partner = theirs[at]
            if (start < end <= lines.end and end - lines.moved == number(END, partner)
                    and is_twin(partner, child)):
                if (first < 0 or own - at != moved or own != place + 1
                        or has_text(text, last, min(start, size))):
                    if first >= 0:
                        found.append((first, last))
                    first, moved = start, own - at
                last, place = end, own
                continue
            # Whether to look for twins below the two.
            role = roles[kind] if kind < n_roles else 0
            if (role & (TURNS | WHOLE) or start >= size or not number(COUNT, child)
                    or memchr(text + start, 10, min(end, size) - start) is NULL):
                continue
            if role & BLOCK:
                behind = holding(kept, end - 1)
                if behind is NULL or end - behind.moved != number(END, partner):
                    continue
            pairs.append((partner, child))
        if first >= 0:
            found.append((first, last))
    return found


# ------------------------------------------------------------------------------------------------
# The lines of two texts, as bytes.

cdef uint64_t _K0 = <uint64_t>(hash("lines 0") & 0xFFFFFFFFFFFFFFFF)
cdef uint64_t _K1 = <uint64_t>(hash("lines 1") & 0xFFFFFFFFFFFFFFFF)


cdef struct Sheet:
    const unsigned char* data
    const int32_t* starts
    int32_t n                # lines


cdef inline int32_t width(const Sheet* sheet, int32_t line) noexcept nogil:
    return sheet.starts[line + 1] - 1 - sheet.starts[line]


cdef inline bint are_equal(
    const Sheet* old, int32_t i, const Sheet* new, int32_t j
) noexcept nogil:
    cdef int32_t size = width(old, i)
    if size != width(new, j) or (i + 1 == old.n) != (j + 1 == new.n):
        return False
    return not memcmp(old.data + old.starts[i], new.data + new.starts[j], size)


cdef int align_lines(const Sheet* old, const Sheet* new, Names* names, int32_t** numbers,
                     Edits* found, Work* work) noexcept nogil:
    cdef int32_t low = 0, n = old.n, m = new.n, line
    cdef int64_t number
    while low < n and low < m and are_equal(old, low, new, low):
        low += 1
    while n > low and m > low and are_equal(old, n - 1, new, m - 1):
        n -= 1
        m -= 1
    n -= low
    m -= low
    numbers[0] = <int32_t*>malloc((<Py_ssize_t>n + m) * sizeof(int32_t) + 1)
    if numbers[0] is NULL:
        return NO_MEMORY
    for line in range(n + m):
        if line < n:
            number = number_of(names, old.data + old.starts[low + line],
                               width(old, low + line), _K0, _K1)
        else:
            number = number_of(names, new.data + new.starts[low + line - n],
                               width(new, low + line - n), _K0, _K1)
        if number < 0:
            return NO_MEMORY
        numbers[0][line] = <int32_t>number
    # The last lines, if they are still here, are not equal.
    if low + n == old.n and n:
        numbers[0][n - 1] = <int32_t>names.n
    if low + m == new.n and m:
        numbers[0][n + m - 1] = <int32_t>names.n + 1
    return canonical(numbers[0], n, numbers[0] + n, m, low, low, found, work)


def line_starts(bytes data not None):
    """Return the byte at which each line starts, and one past the end, as if the last one ended."""
    cdef const unsigned char* text = <const unsigned char*><const char*>data
    cdef Py_ssize_t size = len(data), at = 0, line = 0
    cdef const unsigned char* end
    cdef int32_t[::1] starts
    found = array("i", (0,)) * (lines_in(text, size) + 1)
    starts = found
    while True:
        end = <const unsigned char*>memchr(text + at, 10, size - at)
        line += 1
        if end is NULL:
            break
        at = end - text + 1
        starts[line] = <int32_t>at
    starts[line] = <int32_t>size + 1
    return found


def line_edits(bytes old not None, const int32_t[::1] old_starts not None,
               bytes new not None, const int32_t[::1] new_starts not None):
    """Return the edits of lines between two texts, flat: o_lo, o_hi, a_lo, a_hi.

    The last line of a text, which has no line end, equals only another last line.

    - ``old_starts``, ``new_starts``: from `line_starts`.
    """
    cdef Sheet o, a
    cdef Names names
    cdef Edits found
    cdef Work work
    cdef int32_t* numbers = NULL
    cdef int status
    o.data, a.data = <const unsigned char*><const char*>old, <const unsigned char*><const char*>new
    o.starts, a.starts = start_of(old_starts), start_of(new_starts)
    o.n, a.n = <int32_t>old_starts.shape[0] - 1, <int32_t>new_starts.shape[0] - 1
    memset(&names, 0, sizeof(Names))
    memset(&found, 0, sizeof(Edits))
    memset(&work, 0, sizeof(Work))
    with nogil:
        status = align_lines(&o, &a, &names, &numbers, &found, &work)
    try:
        check(status, "aligning lines")
        edits = array("i")
        if found.n:
            edits.frombytes((<char*>found.data)[:found.n * sizeof(int32_t)])
        return edits
    finally:
        clear_work(&work)
        release(&names)
        free(numbers)
        free(found.data)


# ------------------------------------------------------------------------------------------------
# The lines of a text as ints: those of its origin, and stretches written from spans of its tree.

_MARKS = ("\nDEDENT", "\nINDENT")


cdef struct Token:
    int32_t start         # bytes of the text, or INDENT or DEDENT,
    int32_t stop          # .. whose place is this one
    int32_t line
    bint is_comment


cdef inline int32_t first_byte(Token token) noexcept:
    return token.start if token.start >= 0 else token.stop


cdef class Writer:
    """Turns spans of stretches of a text into tokens."""
    cdef const unsigned char* data
    cdef Py_ssize_t size
    cdef const int32_t* spans
    cdef Py_ssize_t n_spans
    cdef const int32_t[::1] starts    # of lines
    cdef Token* tokens
    cdef int64_t n
    cdef int64_t room
    cdef int64_t base                 # the first token of this stretch
    cdef Py_ssize_t line
    cdef Py_ssize_t at                # end of the processed text
    cdef list indents
    cdef bint in_comment

    def __dealloc__(self):
        free(self.tokens)

    cdef int stretch(self, Py_ssize_t first, Py_ssize_t last) except -1:
        """Write the tokens of some whole lines."""
        cdef Py_ssize_t low = self.starts[first], high = min(self.starts[last], self.size)
        cdef Py_ssize_t near, stop, place, start, end, begin
        cdef bint whole = low == 0 and high == self.size
        cdef int kind
        cdef Token following
        self.base, self.line, self.at, self.indents = self.n, first, low, []
        near, stop = self.place_of(low), self.place_of(high)
        # Marks need not be neighbours: several, and missing nodes, may be in one place after a
        # long span.
        near = max(near - 1, 0)
        while near and self.is_empty(near):
            near -= 1
        while stop < self.n_spans and self.is_empty(stop):
            stop += 1
        if whole:
            near, stop = 0, self.n_spans
        for place in range(near, stop):
            start, end = self.spans[3 * place], self.spans[3 * place + 1]
            kind = self.spans[3 * place + 2]
            begin = start
            if not whole:
                # A mark stays with the token next to it.
                if kind == BLOCK_START and not self.is_text_between(start, low, high):
                    continue
                if kind == BLOCK_END and not self.is_text_before(end, low, high):
                    continue
                if kind == BLOCK_START:
                    start = end = max(start, low)
                elif kind == BLOCK_END:
                    start = end = min(end, high)
                elif start < high and end > low:
                    start, end = max(start, low), min(end, high)
                else:
                    continue
            start, end = self.snapped(start), self.snapped(end)
            if start == end and kind != BLOCK_START and kind != BLOCK_END:
                continue  # a missing node: it must not split the text it stands in
            if self.at < start:
                self.gap(start)
            if kind == BLOCK_START:
                self.indents.append(self.n)
                self.push(INDENT, 0, 0)
            elif kind == BLOCK_END:
                self.dedent()
            else:
                self.in_comment = kind == COMMENT
                self.piece(start, end, kind == VERBATIM, begin)
                self.in_comment = False
        self.gap(high)
        for place in reversed(self.indents):  # an INDENT may be followed by another
            if place + 1 < self.n:
                following = self.tokens[place + 1]
                self.tokens[place].line = following.line
                self.tokens[place].stop = first_byte(following)
        return 0

    cdef Py_ssize_t place_of(self, Py_ssize_t byte) noexcept:
        """Return the first span that does not start before a byte."""
        cdef Py_ssize_t low = 0, high = self.n_spans, middle
        while low < high:
            middle = (low + high) >> 1
            if self.spans[3 * middle] < byte:
                low = middle + 1
            else:
                high = middle
        return low

    cdef bint is_empty(self, Py_ssize_t place) noexcept:
        return self.spans[3 * place] == self.spans[3 * place + 1]

    cdef bint is_text_between(self, Py_ssize_t start, Py_ssize_t low, Py_ssize_t high) noexcept:
        """Whether the next token behind a place stands in a range."""
        while start < high and is_white(self.data[start]):
            start += 1
        return low <= start < high

    cdef bint is_text_before(self, Py_ssize_t end, Py_ssize_t low, Py_ssize_t high) noexcept:
        """Whether the last token before a place stands in a range."""
        end = min(end, self.size) - 1
        while end >= low and is_white(self.data[end]):
            end -= 1
        return low <= end < high

    cdef Py_ssize_t snapped(self, Py_ssize_t byte) noexcept:
        byte = min(byte, self.size)
        while byte < self.size and (self.data[byte] & 0xC0) == 0x80:
            byte -= 1
        return byte

    cdef int gap(self, Py_ssize_t end) except -1:
        """Write every run of text up to a place, which no leaf covers."""
        cdef Py_ssize_t start = self.at, stop
        while start < end:
            if is_white(self.data[start]):
                start += 1
                continue
            stop = start
            while stop < end and not is_white(self.data[stop]):
                stop += 1
            self.piece(start, stop, True, start)
            start = stop
        self.at = end
        return 0

    cdef int piece(
        self, Py_ssize_t start, Py_ssize_t end, bint verbatim, Py_ssize_t begin
    ) except -1:
        """Write a range, split at its line ends: verbatim, or without white space around.

        An empty line within a span of text, which begins at `begin`, is its line end.
        """
        cdef Py_ssize_t stop, last
        self.at = end
        while start < end:
            while self.starts[self.line + 1] - 1 < start:
                self.line += 1
            stop = min(end, self.starts[self.line + 1] - 1)
            last = stop
            if not verbatim:
                while last > start and is_white(self.data[last - 1]):
                    last -= 1
                while start < last and is_white(self.data[start]):
                    start += 1
            elif start == stop and begin < start:
                last = stop + 1
            if start < last:
                self.push(<int32_t>start, <int32_t>last, <int32_t>self.line)
            start = stop + 1
        return 0

    cdef int dedent(self) except -1:
        """Write DEDENT where the last token ends, or nothing for a block without tokens."""
        if self.n == self.base:
            return 0
        if self.tokens[self.n - 1].start == INDENT:
            self.indents.pop()
            self.n -= 1
            return 0
        return self.push(DEDENT, self.tokens[self.n - 1].stop, self.tokens[self.n - 1].line)

    cdef int push(self, int32_t start, int32_t stop, int32_t line) except -1:
        if make_room(<void**>&self.tokens, self.n + 1, &self.room, sizeof(Token)) != 0:
            raise MemoryError("excise: out of memory while writing tokens")
        self.tokens[self.n].start = start
        self.tokens[self.n].stop = stop
        self.tokens[self.n].line = line
        self.tokens[self.n].is_comment = self.in_comment
        self.n += 1
        return 0

    cdef object names(self, intern):
        """Return the names of all tokens: each text is decoded and interned once."""
        cdef Names distinct
        cdef int64_t at, place = 0
        cdef int32_t[::1] numbers, named
        cdef Token* token
        cdef bytes indent = _MARKS[INDENT - DEDENT].encode(), dedent = _MARKS[0].encode()
        cdef const char* mark
        memset(&distinct, 0, sizeof(Names))
        found, texts = array("i", (0,)) * <Py_ssize_t>self.n, []
        numbers = found
        try:
            for at in range(self.n):
                token = &self.tokens[at]
                if token.start < 0:
                    mark = indent if token.start == INDENT else dedent
                    place = number_of(
                        &distinct, <const unsigned char*>mark, len(dedent), _K0, _K1)
                else:
                    place = number_of(
                        &distinct, self.data + token.start, token.stop - token.start, _K0, _K1)
                if place < 0:
                    raise MemoryError("excise: out of memory while naming tokens")
                numbers[at] = <int32_t>place
            for at in range(distinct.n):
                texts.append(PyUnicode_DecodeUTF8(
                    <const char*>distinct.data[at], distinct.sizes[at], "surrogatepass"))
        finally:
            release(&distinct)
        named = intern(texts)
        for at in range(self.n):
            numbers[at] = named[numbers[at]]
        return found

    cdef list texts(self):
        """Return all tokens as they read."""
        cdef int64_t at
        cdef Token* token
        found = []
        for at in range(self.n):
            token = &self.tokens[at]
            found.append(
                _MARKS[token.start - DEDENT] if token.start < 0 else PyUnicode_DecodeUTF8(
                    <const char*>self.data + token.start, token.stop - token.start,
                    "surrogatepass"))
        return found


cdef Writer writer_of(bytes data, const int32_t[::1] starts, const int32_t[::1] spans):
    cdef Writer writer = Writer.__new__(Writer)
    writer.data = <const unsigned char*><const char*>data
    writer.size = len(data)
    writer.starts = starts
    writer.n_spans = spans.shape[0] // 3
    writer.spans = &spans[0] if writer.n_spans else NULL
    return writer


def write(bytes data not None, const int32_t[::1] starts not None,
          const int32_t[::1] spans not None):
    """Return the tokens of a text, given as for `assemble`, with their places.

    Returns: what they read, the line of each, the byte at which each starts and the one behind it,
    and which of them are comments. All text but white space is in exactly one token.
    """
    cdef Writer writer = writer_of(data, starts, spans)
    cdef int64_t at
    cdef Token token
    writer.stretch(0, starts.shape[0] - 1)
    lines, first, behind, comments = [], [], [], []
    for at in range(writer.n):
        token = writer.tokens[at]
        lines.append(token.line)
        first.append(first_byte(token))
        behind.append(token.stop)
        if token.is_comment:
            comments.append(at)
    return writer.texts(), lines, first, behind, comments


def assemble(tuple origin, const int32_t[::1] edits not None, list stretches not None,
             const int32_t[::1] spans not None, bytes data not None,
             const int32_t[::1] starts not None, keys not None, intern not None):
    """Return the lines of a text: tokens, the first of every line, the lines' ids, comments.

    - ``origin``: the same four of the origin; empty ones, but for one 0, where all lines are
      written.
    - ``edits``: of lines, from the origin to the text, flat.
    - ``stretches``: lines to write, ascending: the first, and one past the last. All others are the
      origin's.
    - ``spans``: from the walk of the text's tree, flat; at least those that the stretches need.
    - ``data``, ``starts``: the text, encoded; the byte at which each line starts, and one past the
      end.
    - ``keys``: the key of every line, None for a blank one.
    - ``intern``: names hashables: ``Vocabulary.intern``.

    Definition, section 1; `excise.tokens.Lines` says what the four are.
    """
    cdef Writer writer = writer_of(data, starts, spans)
    cdef const int32_t[::1] o_tokens, o_first, o_ids, own, own_ids
    cdef Py_ssize_t n_lines = starts.shape[0] - 1, start, stop, line = 0, own_id = 0
    cdef Py_ssize_t low, high, shift, at = 0, n
    cdef int64_t token = 0, bound
    cdef int32_t moved
    cdef int32_t[::1] tokens, first, ids
    o_tokens, o_first, o_ids, o_comments = origin
    runs, shift, n = [], 0, 0
    for start, stop in [*stretches, (n_lines, n_lines)]:
        low, high = line + shift, start + shift
        if low < high:  # else there may be no such line of the origin
            n += o_first[high] - o_first[low]
        if start < stop:
            writer.stretch(start, stop)
        runs.append((low, high, stop, writer.n))
        line = stop
        # By how much lines have moved behind the edits that the stretch holds.
        while at < edits.shape[0] and edits[at + 3] <= line:
            shift = edits[at + 1] - edits[at + 3]
            at += 4
    own = writer.names(intern)
    own_ids = intern(keyed(writer, stretches, own, keys))
    all_tokens = array("i", (0,)) * (n + <Py_ssize_t>writer.n)
    all_first, all_ids = array("i", (0,)) * (n_lines + 1), array("i", (BLANK,)) * n_lines
    tokens, first, ids = all_tokens, all_first, all_ids
    comments = array("i")
    line = n = 0
    for low, high, stop, bound in runs:
        if low < high:
            memcpy(&ids[line], &o_ids[low], (high - low) * sizeof(int32_t))
            moved = <int32_t>n - o_first[low]
            for at in range(low, high):
                first[line] = o_first[at] + moved
                line += 1
            if o_first[low] < o_first[high]:
                memcpy(&tokens[n], &o_tokens[o_first[low]],
                       (o_first[high] - o_first[low]) * sizeof(int32_t))
                comments.extend(
                    [place + moved for place in o_comments[bisect_left(o_comments, o_first[low]):
                                                           bisect_left(o_comments, o_first[high])]])
                n += o_first[high] - o_first[low]
        while line < stop:
            first[line] = <int32_t>n
            while token < bound and writer.tokens[token].line == line:
                tokens[n] = own[token]
                if writer.tokens[token].is_comment:
                    comments.append(n)
                n += 1
                token += 1
            if keys[line] is not None:
                ids[line] = own_ids[own_id]
                own_id += 1
            line += 1
    first[n_lines] = <int32_t>n
    return all_tokens, all_first, all_ids, comments


cdef list keyed(Writer writer, list stretches, const int32_t[::1] names, keys):
    """Return the key and the tokens of every line of the stretches that has a key."""
    cdef int64_t token = 0, before
    cdef Py_ssize_t start, stop, line
    cdef const char* first = <const char*>&names[0] if writer.n else NULL
    found = []
    for start, stop in stretches:
        for line in range(start, stop):
            before = token
            while token < writer.n and writer.tokens[token].line == line:
                token += 1
            if (key := keys[line]) is not None:
                found.append((key, PyBytes_FromStringAndSize(
                    first + before * sizeof(int32_t), (token - before) * sizeof(int32_t))))
    return found
