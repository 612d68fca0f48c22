# cython: language_level=3
"""Regions of a pair, and the revisions of an origin, ready for all of their pairs."""
from libc.stdint cimport int32_t

from excise.kernels._ngrams cimport Trie
from excise.kernels._places cimport Places


cdef struct Regions:
    int32_t* data         # six token places each: from and to in O, A and B
    Py_ssize_t n
    Py_ssize_t capacity


cdef struct Side:
    const int32_t* edits
    Py_ssize_t n_edits
    const int32_t* tokens
    const int32_t* starts     # unit -> first token; NULL when units are tokens


cdef struct Scratch:
    Regions regions
    Places places
    Trie trie


cdef struct Standing:
    # What a pair has in common, by three readings of "in common" (section 4a).
    double value
    double anchored
    double anywhere
    double a_in_b             # n-grams added and deleted that the other has at the same place
    double b_in_a


cdef void free_scratch(Scratch* scratch) noexcept nogil


cdef class Batch:
    cdef Side* sides
    cdef Side origin
    cdef Py_ssize_t k
    cdef int32_t n_tokens
    cdef const int32_t* lines
    cdef bint pooled
    cdef list held

    cdef int fill(self, Side* side, edits, tokens, starts) except -1
    cdef const int32_t* hold(self, values) except? NULL
    cdef int link(self, const Side* a, const Side* b, Scratch* scratch) noexcept nogil
    cdef int pair(
        self, Py_ssize_t i, Py_ssize_t j, Scratch* scratch, Standing* standing) noexcept nogil
