# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""The walk of a syntax tree: from its nodes, which are Python's, to spans of bytes.

What nodes are, `excise.nodes` says, by their types; the runtime that made them is the binding's,
so that each look at a node is an attribute of an object.
"""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free

from array import array

from excise.kernels._bytes cimport is_white
from excise.kernels._tables cimport enlarged

cdef enum:
    # What a span is (`excise.spans`), and what a node does to a walk (`excise.nodes`).
    PLAIN = 0
    VERBATIM = 1
    BLOCK_START = 2
    BLOCK_END = 3
    COMMENT = 4
    TURNS = 1
    WHOLE = 2
    BLOCK = 4
    DROPPED = 8

cdef struct Found:
    int32_t* data        # spans, flat: start, end, kind
    int64_t n
    int64_t room


cdef int push(Found* found, Py_ssize_t start, Py_ssize_t end, int kind) except -1:
    cdef void* moved = enlarged(found.data, found.n + 3, &found.room, sizeof(int32_t))
    if moved is NULL:
        raise MemoryError("excise: out of memory while walking a tree")
    found.data = <int32_t*>moved
    found.data[found.n] = <int32_t>start
    found.data[found.n + 1] = <int32_t>end
    found.data[found.n + 2] = kind
    found.n += 3
    return 0


cdef inline int leaf(int role, int kind) noexcept:
    """Return what the span of a node is whose parent's leaves are of a kind."""
    kind ^= role & TURNS
    return COMMENT if role & DROPPED and kind == PLAIN else kind


cdef class Walk:
    """One walk; see `walk`."""
    cdef const unsigned char* data
    cdef Py_ssize_t size
    cdef const unsigned char* roles[2]    # by the kind of the parent's leaves, then by type
    cdef Py_ssize_t n_roles
    cdef const int32_t[::1] within
    cdef Found found
    cdef list loose

    def __dealloc__(self):
        free(self.found.data)

    cdef int role(self, int kind, node) except -1:
        cdef Py_ssize_t number = node.kind_id
        return self.roles[kind][number] if number < self.n_roles else 0

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
        cdef Py_ssize_t child_start, child_end
        if at < last and self.within[at] <= start and end <= self.within[at + 1]:
            return children
        kept = []
        for child in children:
            child_start = child.start_byte
            at = 2 * self.range_behind(child_start)
            if at < last:
                child_end = child.end_byte
                if self.within[at] < child_end:
                    kept.append(child)
        return kept

    cdef int run(self, root) except -1:
        cdef list stack = [root], children
        cdef list left = []      # below whom None stands on the stack: kind, block end
        cdef int kind = PLAIN    # of leaves that stand here; VERBATIM in a string
        cdef int role, block
        cdef Py_ssize_t start, end, n, at
        cdef bint narrow = self.within is not None and self.within.shape[0] > 0
        while stack:
            node = stack.pop()
            if node is None:
                kind, end = left.pop()
                if end:
                    push(&self.found, end, end, BLOCK_END)
                continue
            role = self.role(kind, node)
            start = node.start_byte
            end = node.end_byte
            if role & WHOLE or not node.child_count:
                push(&self.found, start, end, leaf(role, kind))
                continue
            children = node.children
            if kind ^ (role & TURNS) and self.leaves_of_string(node, start, end, children):
                continue
            if narrow:
                children = self.overlapping(start, end, children)
                if not children:
                    continue  # no leaf, although nothing of it is left: its text is between leaves
            if role & ~DROPPED:
                block = role & BLOCK and start < end
                if block:
                    push(&self.found, start, start, BLOCK_START)
                stack.append(None)
                left.append((kind, end if block else 0))
                kind ^= role & TURNS
            n = len(children)
            for at in range(n - 1, -1, -1):
                stack.append(children[at])
        return 0

    cdef bint leaves_of_string(
        self, node, Py_ssize_t start, Py_ssize_t end, list children
    ) except -1:
        """Push the children of a node in a string, if all are leaves: most need no more.

        If the children leave out text, the node joins `loose`.
        """
        cdef bint deeper = False, gap = False
        cdef Py_ssize_t at = start, child_start, child_end
        cdef int64_t before = self.found.n
        cdef int role
        for child in children:
            child_start, child_end = child.start_byte, child.end_byte
            role = self.role(VERBATIM, child)
            if not role & WHOLE and child.child_count:
                deeper = True
            gap |= child_start != at
            push(&self.found, child_start, child_end, leaf(role, VERBATIM))
            at = child_end
        if gap or at != end:
            self.loose.append(node)
        if deeper:
            self.found.n = before
        return not deeper

    cdef int own_text(self, node) except -1:
        """Push the text of a node in a string that none of its children covers and is a token.

        White space is one only behind an odd number of leaves with quotes, where a string is open.
        Children that are missing must not split the text that they stand in.
        """
        cdef Py_ssize_t at = node.start_byte, start, end
        cdef int quotes = 0, role
        for child in [*node.children, None]:
            if child is None:
                start, end = node.end_byte, 0
            else:
                start, end = child.start_byte, child.end_byte
            if start == end:
                continue
            if at < start and (quotes & 1 or self.has_text(at, start)):
                push(&self.found, at, start, VERBATIM)
            at = end
            if child is not None:
                role = self.role(VERBATIM, child)
                if role & WHOLE or not child.child_count:
                    quotes += "escape" not in child.type and self.has_quote(start, end)
        return 0

    # A node may end behind the text: a parser may be given a last line end.
    cdef bint has_text(self, Py_ssize_t start, Py_ssize_t end) noexcept:
        end = min(end, self.size)
        while start < end and is_white(self.data[start]):
            start += 1
        return start < end

    cdef bint has_quote(self, Py_ssize_t start, Py_ssize_t end) noexcept:
        end = min(end, self.size)
        while start < end and self.data[start] not in b"\"'`":
            start += 1
        return start < end


def walk(root, bytes data not None, tuple roles not None, const int32_t[::1] within):
    """Find the tokens at and below a node of a parsed text.

    Iterative: a tree may be deeper than Python's recursion limit.

    Parameters
    ----------
    root
        A ``tree_sitter.Node``.
    data
        The text, encoded.
    roles
        What a node does to the walk, as one byte for each type, if leaves around it are plain, and
        if they are verbatim.
    within
        Ranges of bytes, flat and ascending, or None for all: only what overlaps one of them is
        descended into, and spans may then reach beyond.

    Returns
    -------
    tuple
        Spans, flat; and as ranges the nodes of strings with text that no leaf covers.
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
    work.run(root)
    spans = array("i")
    for node in work.loose:
        work.own_text(node)
    if work.found.n:
        spans.frombytes((<char*>work.found.data)[:work.found.n * sizeof(int32_t)])
    if work.loose:
        spans = in_order(spans)
    return spans, [node.byte_range for node in work.loose]


cdef object in_order(spans):
    """Sort spans by their starts, those that start together as they are."""
    flat = iter(spans)
    triples = sorted(zip(flat, flat, flat), key=_start)
    return array("i", [number for triple in triples for number in triple])


def _start(triple):
    return triple[0]
