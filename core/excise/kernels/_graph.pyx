# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: initializedcheck=False, freethreading_compatible=True
"""Pairs that are near each other, by the millions, and the components that they form.

A pair takes 16 bytes, and is sorted into its component where it stands.
"""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc, realloc

from excise.kernels._tables cimport make_room


cdef struct Edge:
    int32_t left
    int32_t right
    double value


cdef int32_t root_of(int32_t* parent, int32_t at) noexcept nogil:
    while parent[at] != at:
        parent[at] = parent[parent[at]]
        at = parent[at]
    return at


cdef class Graph:
    """A graph on 0 .. n - 1 with values at its edges.

    Edges are added first; then it is cut into components, and stays as it is.
    """

    cdef int64_t n, n_edges, capacity
    cdef Edge* edges
    cdef int32_t* parent      # when cut: the number of the component
    cdef int64_t* first       # of component c: edges[first[c]:first[c + 1]]; NULL: not cut yet
    cdef int32_t* row         # of each member of one component, from 1; scratch: all 0

    def __cinit__(self, int64_t n):
        cdef int64_t at
        if not 0 <= n < 0x7FFFFFFF:
            raise ValueError(f"a graph of {n} does not fit")
        self.n = n
        self.parent = <int32_t*>malloc((n + 1) * sizeof(int32_t))
        self.row = <int32_t*>calloc(n + 1, sizeof(int32_t))
        if self.parent is NULL or self.row is NULL:
            raise no_memory()
        for at in range(n):
            self.parent[at] = <int32_t>at

    def __dealloc__(self):
        free(self.edges)
        free(self.parent)
        free(self.first)
        free(self.row)

    def __len__(self):
        return self.n

    cdef int check(self, const int32_t[::1] left, const int32_t[::1] right) except -1:
        cdef int64_t at
        if self.first is not NULL:
            raise RuntimeError("this graph is cut into its components already")
        if left.shape[0] != right.shape[0]:
            raise ValueError("every edge has two ends")
        for at in range(left.shape[0]):
            if not (0 <= left[at] < self.n and 0 <= right[at] < self.n):
                raise IndexError(f"no edge {left[at]}, {right[at]} in a graph of {self.n}")
        return 0

    cdef void connect(self, int32_t left, int32_t right) noexcept nogil:
        """Put both under the first of their members."""
        if self.parent[left] == self.parent[right]:
            return
        left, right = root_of(self.parent, left), root_of(self.parent, right)
        self.parent[max(left, right)] = min(left, right)

    def unite(self, const int32_t[::1] left not None, const int32_t[::1] right not None):
        """Add edges that have no value."""
        cdef int64_t at
        self.check(left, right)
        for at in range(left.shape[0]):
            self.connect(left[at], right[at])

    def add(self, const int32_t[::1] left not None, const int32_t[::1] right not None,
            const double[::1] values not None):
        """Add edges, each of them once."""
        cdef int64_t at
        cdef Edge* edge
        self.check(left, right)
        if values.shape[0] != left.shape[0]:
            raise ValueError("every edge has a value")
        if make_room(<void**>&self.edges, self.n_edges + left.shape[0], &self.capacity,
                     sizeof(Edge)) != 0:
            raise no_memory()
        for at in range(left.shape[0]):
            edge = &self.edges[self.n_edges + at]
            edge.left, edge.right, edge.value = left[at], right[at], values[at]
            self.connect(left[at], right[at])
        self.n_edges += left.shape[0]

    def components(self):
        """Return the members of each component, ascending; components by their first members."""
        cdef int64_t at
        cdef list found = [], members
        if self.first is NULL:
            self.cut()
        for at in range(self.n):
            if self.parent[at] == len(found):
                found.append([])
            members = <list>found[self.parent[at]]
            members.append(at)
        return found

    cdef int cut(self) except -1:
        """Number the components, and sort the edges by them: each goes where the next free is."""
        cdef int64_t at, c, n = 0, stop
        cdef int64_t* free_at
        cdef Edge moved
        # A root is the first of its members, so its number is there before they ask for it.
        for at in range(self.n):
            self.parent[at] = root_of(self.parent, <int32_t>at)
        for at in range(self.n):
            if self.parent[at] == at:
                self.parent[at] = <int32_t>n
                n += 1
            else:
                self.parent[at] = self.parent[self.parent[at]]
        free_at = <int64_t*>calloc(n + 1, sizeof(int64_t))
        self.first = <int64_t*>calloc(n + 1, sizeof(int64_t))
        if free_at is NULL or self.first is NULL:
            free(free_at)
            raise no_memory()
        with nogil:
            for at in range(self.n_edges):
                self.first[self.parent[self.edges[at].left] + 1] += 1
            for c in range(n):
                self.first[c + 1] += self.first[c]
                free_at[c] = self.first[c]
            for c in range(n):
                stop = self.first[c + 1]
                while free_at[c] < stop:
                    moved = self.edges[free_at[c]]
                    at = self.parent[moved.left]
                    self.edges[free_at[c]] = self.edges[free_at[at]]
                    self.edges[free_at[at]] = moved
                    free_at[at] += 1
            free(free_at)
        return 0

    def write(self, const int32_t[::1] members not None, double[:, ::1] values not None):
        """Write the values of all edges between members of one component, in both triangles.

        Raises
        ------
        RuntimeError
            If the graph is not cut yet.
        """
        cdef int64_t k = members.shape[0], at, c
        cdef int32_t x, y
        if self.first is NULL:
            raise RuntimeError("this graph is not cut into its components yet")
        if values.shape[0] != k or values.shape[1] != k:
            raise ValueError("values must be one row and column a member")
        for at in range(k):
            if not 0 <= members[at] < self.n or self.parent[members[at]] != self.parent[members[0]]:
                raise IndexError(f"{members[at]} is not in the component")
        if k == 0:
            return
        c = self.parent[members[0]]
        with nogil:
            for at in range(k):
                self.row[members[at]] = <int32_t>at + 1
            for at in range(self.first[c], min(self.first[c + 1], self.n_edges)):
                x, y = self.row[self.edges[at].left] - 1, self.row[self.edges[at].right] - 1
                if x >= 0 and y >= 0:
                    values[x, y] = values[y, x] = self.edges[at].value
            for at in range(k):
                self.row[members[at]] = 0

    def forget(self, int64_t member):
        """Give back the memory of the edges of a component, and of all after it."""
        cdef void* moved
        if self.first is NULL or not 0 <= member < self.n:
            raise IndexError(f"no component of {member} in a graph of {self.n}")
        self.n_edges = min(self.n_edges, self.first[self.parent[member]])
        moved = realloc(self.edges, (self.n_edges + 1) * sizeof(Edge))
        if moved is not NULL:
            self.edges = <Edge*>moved


cdef object no_memory():
    return MemoryError("excise: out of memory for the pairs of patches")
