"""A grammar whose scanner cannot write past the parser's buffer.

After each of its tokens the hand-written scanner of a grammar writes down its state: indentation,
open tags, delimiters. The parser has 1,024 bytes for that, and many scanners never look whether
theirs fits: 254 times ``- `` as YAML is a write over the parser's own pointers. So a language is
copied, and the copy's ``scan`` and ``serialize`` are ours: they write into a buffer with room to
spare, and from the first state that is too large the scanner finds nothing any more.

The layout is that of generated parsers (``tree_sitter/parser.h``), which the versions 13 to 15 of
their interface share up to the scanner. No pointer of a scanner says whose it is, so the thread
does: a parse runs in one thread, inside one `Watch`.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

cdef extern from *:
    """
    #include <stdbool.h>
    #include <stddef.h>
    #include <stdint.h>
    #ifdef _MSC_VER
    #define EXCISE_THREAD __declspec(thread)
    #else
    #define EXCISE_THREAD __thread
    #endif

    typedef struct {
        const bool *states;
        const uint16_t *symbol_map;
        void *(*create)(void);
        void (*destroy)(void *);
        bool (*scan)(void *, void *, const bool *);
        unsigned (*serialize)(void *, char *);
        void (*deserialize)(void *, const char *, unsigned);
    } excise_scanner;

    typedef struct {
        uint32_t abi_version;
        uint32_t counts[8];
        uint16_t max_alias_sequence_length;
        const void *tables[13];
        void (*lexers[2])(void);
        uint16_t keyword_capture_token;
        excise_scanner scanner;
        const uint16_t *primary_state_ids;
        const char *name;
        const uint16_t *reserved_words;
        uint16_t max_reserved_word_set_size;
        uint32_t supertype_count;
        const void *supertypes[3];
        uint8_t version[3];
    } excise_language;

    static const size_t excise_sizes[] = {
        offsetof(excise_language, primary_state_ids),
        offsetof(excise_language, name),
        sizeof(excise_language),
    };

    typedef struct {
        excise_scanner scanner;
        char *buffer;
        unsigned length;
        bool outgrown;
    } excise_watch;

    static EXCISE_THREAD excise_watch *excise_watching;
    """
    ctypedef unsigned char boolean "bool"
    ctypedef struct excise_scanner:
        boolean (*scan)(void*, void*, const boolean*) noexcept nogil
        unsigned int (*serialize)(void*, char*) noexcept nogil
    ctypedef struct excise_language:
        uint32_t abi_version
        excise_scanner scanner
    const size_t excise_sizes[3]
    ctypedef struct excise_watch:
        excise_scanner scanner
        char* buffer
        unsigned int length
        boolean outgrown
    excise_watch* excise_watching

ROOM = 1024
"""Bytes that tree-sitter has for the state of a scanner."""

cdef enum:
    _ROOM = 1024
    # What a scanner may write after one token. Only those of markdown, nim and typst write all they
    # have, and from a state that fitted a token adds an entry or two.
    _SPARE = 1 << 20
    _OLDEST = 13
    _NEWEST = 15

cdef const char* _NAME = "tree_sitter.Language"


cdef class Guarded:
    """The copy of a language, which stays for ever: trees refer to it as long as they live.

    - ``language``: what a grammar's module hands out: a capsule, or the address as an int.

    - ``capsule``: the copy, for `tree_sitter.Language`.

    Raises ValueError if it has another layout than the known ones.
    """

    cdef excise_scanner _scanner
    cdef readonly object capsule

    def __cinit__(self, language):
        cdef void* source
        if isinstance(language, int):
            source = <void*><size_t>language
        else:
            source = PyCapsule_GetPointer(language, _NAME)
        cdef uint32_t version = (<excise_language*>source).abi_version
        if version < _OLDEST or version > _NEWEST:
            raise ValueError(f"the grammar has version {version} of the interface to tree-sitter")
        cdef excise_language* copy = <excise_language*>calloc(1, sizeof(excise_language))
        if copy is NULL:
            raise MemoryError
        memcpy(copy, source, excise_sizes[version - _OLDEST])
        self._scanner = copy.scanner
        if copy.scanner.scan is not NULL:
            copy.scanner.scan = _scan
            copy.scanner.serialize = _serialize
        self.capsule = PyCapsule_New(copy, _NAME, NULL)


cdef class Watch:
    """One parse with a guarded language: a context of the thread that parses.

    - ``outgrown``: whether the state of the scanner was too large; then the tree is worth nothing.
    """

    cdef excise_watch _watch
    cdef excise_watch* _outer

    def __cinit__(self, Guarded language not None):
        self._watch.scanner = language._scanner
        self._watch.buffer = <char*>malloc(_SPARE)
        if self._watch.buffer is NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self._watch.buffer)

    def __enter__(self):
        global excise_watching
        self._outer = excise_watching
        excise_watching = &self._watch
        return self

    def __exit__(self, *_error):
        global excise_watching
        excise_watching = self._outer

    @property
    def outgrown(self):
        """Whether the state of the scanner was too large."""
        return bool(self._watch.outgrown)


cdef boolean _scan(void* payload, void* lexer, const boolean* valid) noexcept nogil:
    cdef excise_watch* watch = excise_watching
    if watch is NULL or watch.outgrown:
        return False
    return watch.scanner.scan(payload, lexer, valid)


cdef unsigned int _serialize(void* payload, char* buffer) noexcept nogil:
    """Write down the state, unless it has filled all room, or was dropped for that.

    Scanners that look whether it fits write what does, or nothing; then they go on from less than
    they need, and not all of them survive that.
    """
    cdef excise_watch* watch = excise_watching
    if watch is NULL or watch.outgrown:
        return 0
    cdef unsigned int length = watch.scanner.serialize(payload, watch.buffer)
    if length >= _ROOM or (length == 0 and watch.length >= _ROOM // 2):
        watch.outgrown = True
        return 0
    watch.length = length
    memcpy(buffer, watch.buffer, length)
    return length
