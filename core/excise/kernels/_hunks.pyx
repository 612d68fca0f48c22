"""Hunks as ints: their change blocks, the lines around these, their context lines (section 8).

The lines of both images are named by a `Lexer`, aligned by the canonical alignment, and written as
`excise.patches.features.Edits` has them. The interpreter's lock is held, as the lexer wants it, but
Python code runs only where something has to be named; whatever a call writes is its own. Over 300
lines: the steps share what a call writes.
"""
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free
from libc.string cimport memchr, memcmp, memcpy, memset

from array import array

from excise.errors import OptionError

from excise.kernels._bytes cimport is_white, is_word
from excise.kernels._lcs cimport canonical
from excise.kernels._lexer cimport Lexer
from excise.kernels._sites cimport MOST_LINES, NO_HEADING, NO_NAME, SITE_INTS
from excise.kernels._tables cimport NO_MEMORY, make_room
from excise.kernels._walk cimport Edits, Work, clear_work

cdef enum:
    UNNAMED = -2
    BODY = -3
    AROUND = MOST_LINES // 2
    LONGER_THAN = 3       # characters of a context line that tells something

# The largest number of bytes of the hunks of a patch: three times as many tokens fit 32 bits.
MAX_LENGTH = (1 << 29) - 1

cdef struct Told:
    # What a line says of a place: its name among such lines, and how many words it has.
    int32_t name
    int32_t words         # UNNAMED: nobody has looked
    int32_t function      # the name in it where one begins there; NO_NAME: one ends; BODY; UNNAMED
    bint is_long

cdef struct Ints:
    int32_t* data
    int64_t n
    int64_t room

cdef struct Written:
    # All that a call writes. Lines are numbers of the lexer until all are named.
    Ints lines            # of all hunks, without blank ones: how each begins, and its number
    Ints old              # the images of a hunk
    Ints new
    Ints tokens
    Ints blocks
    Ints around
    Ints context
    Edits edits
    Work work
    bint differs


cdef int room(Ints* ints, int64_t more) noexcept nogil:
    return make_room(<void**>&ints.data, ints.n + more, &ints.room, sizeof(int32_t))


cdef int put(Ints* ints, int32_t value) noexcept nogil:
    if ints.n == ints.room and room(ints, 1) != 0:
        return NO_MEMORY
    ints.data[ints.n] = value
    ints.n += 1
    return 0


cdef void clear(Written* written) noexcept nogil:
    free(written.lines.data)
    free(written.old.data)
    free(written.new.data)
    free(written.tokens.data)
    free(written.blocks.data)
    free(written.around.data)
    free(written.context.data)
    free(written.edits.data)
    clear_work(&written.work)


cdef object as_array(const Ints* ints):
    result = array("i")
    if ints.n:
        result.frombytes((<char*>ints.data)[:ints.n * sizeof(int32_t)])
    return result


cdef bytes as_utf8(bytes text):
    """Return lines in UTF-8: those that are not count as latin-1, each by itself."""
    if text.isascii():
        return text
    try:
        text.decode()
    except UnicodeDecodeError:
        return b"\n".join([line_as_utf8(line) for line in text.split(b"\n")])
    return text


cdef bytes line_as_utf8(bytes line):
    try:
        line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1").encode()
    return line


cdef class Hunks:
    """Reads the hunks of patches.

    - ``lexer``: names their lines and tokens.
    - ``lines``: an `excise.tokens.Vocabulary`: names the lines around blocks, and context lines.
    - ``function_of``: returns the name in a line, as a token, or -1.
    """
    cdef Lexer lexer
    cdef object lines
    cdef object function_of
    cdef Told* told       # of each line of the lexer
    cdef int64_t n_told
    cdef int64_t told_room
    cdef Ints said        # for each token the last hunk, from 1, of whose words it was
    cdef int32_t n_hunks

    def __init__(self, Lexer lexer not None, lines, function_of):
        self.lexer = lexer
        self.lines = lines
        self.function_of = function_of

    def __dealloc__(self):
        free(self.told)
        free(self.said.data)

    def read(self, list hunks not None):
        """Return what of a patch is compared.

        - ``hunks``: for each hunk its lines as bytes, and as ints the name of its file, its
          heading, the name in that (-1: none) and the words in it.

        Returns: tokens, blocks, lines around them and context lines, as
        `excise.patches.features.Edits` has them; whether any block has other tokens than before.
        """
        cdef Written written
        cdef int64_t start = 0
        cdef Py_ssize_t size = 0
        cdef bytes data
        memset(&written, 0, sizeof(Written))
        try:
            stops = []
            for data, *_, title in hunks:
                data = as_utf8(data)
                size += len(data) + len(title)
                if size > MAX_LENGTH:
                    raise OptionError(
                        f"a patch of {size} bytes is too long; the limit is {MAX_LENGTH}")
                self.number(data, len(data), &written)
                stops.append(written.lines.n)
            while self.lexer.named_lines < self.lexer.lines.n:
                self.lexer.name()
            for (_, name, heading, function, title), stop in zip(hunks, stops):
                self.align(&written, start, stop, name, heading, function, title)
                start = stop
            self.give_names(&written)
            return (as_array(&written.tokens), as_array(&written.blocks),
                    as_array(&written.around), as_array(&written.context), written.differs)
        finally:
            clear(&written)

    cdef int number(self, const unsigned char* data, Py_ssize_t size, Written* written) except -1:
        """Append the lines of a hunk that are not blank: how each begins, and its number."""
        cdef const unsigned char* end = data + size
        cdef const unsigned char* stop
        cdef const unsigned char* line_end
        cdef int64_t number, expected = 0
        cdef unsigned char mark
        while data < end:
            line_end = <const unsigned char*>memchr(data, 10, end - data)
            if line_end is NULL:
                line_end = end
            mark = data[0]
            stop = line_end
            if data < line_end:
                data += 1
                while data < line_end and mark >= 128 and data[0] & 0xC0 == 0x80:
                    data += 1             # the mark is one character
            while stop > data and is_white((stop - 1)[0]):
                stop -= 1
            if stop > data:
                number = expected
                if not self.lexer.is_line(expected, data, <int32_t>(stop - data)):
                    number = self.lexer.line_number(data, <int32_t>(stop - data), True)
                if (number < 0 or put(&written.lines, mark) != 0
                        or put(&written.lines, <int32_t>number) != 0):
                    raise MemoryError("excise: out of memory while reading a patch")
                expected = number + 1
            data = line_end + 1
        return 0

    cdef int align(self, Written* written, int64_t start, int64_t stop, int32_t name,
                   int32_t heading, int32_t function, const int32_t[::1] title) except -1:
        """Write the blocks and the context lines of a hunk."""
        cdef int64_t first = written.blocks.n, words
        cdef int status = self.lay_out(written, start, stop, name, heading)
        if status == 0 and heading != NO_HEADING and written.blocks.n > first:
            self.find_functions(written, first, function)
            words = written.tokens.n
            status = self.say(written, title)
            for start in range(first, written.blocks.n, SITE_INTS):
                written.blocks.data[start + 8] = <int32_t>words
                written.blocks.data[start + 9] = <int32_t>written.tokens.n
        if status != 0:
            raise MemoryError("excise: out of memory while reading a patch")
        return 0

    cdef int lay_out(self, Written* written, int64_t start, int64_t stop, int32_t name,
                     int32_t heading) noexcept:
        cdef Py_ssize_t edit
        cdef int64_t at
        cdef int32_t mark
        written.old.n = written.new.n = 0
        for at in range(start, stop, 2):
            mark = written.lines.data[at]
            if mark != c"+" and put(&written.old, written.lines.data[at + 1]) != 0:
                return NO_MEMORY
            if mark != c"-" and put(&written.new, written.lines.data[at + 1]) != 0:
                return NO_MEMORY
            if mark == c" " and put(&written.context, written.lines.data[at + 1]) != 0:
                return NO_MEMORY
        written.edits.n = 0
        if canonical(written.old.data, <int32_t>written.old.n, written.new.data,
                     <int32_t>written.new.n, 0, 0, &written.edits, &written.work) != 0:
            return NO_MEMORY
        for edit in range(0, written.edits.n, 4):
            if self.block(written, written.edits.data + edit, name, heading) != 0:
                return NO_MEMORY
        return 0

    cdef int find_functions(self, Written* written, int64_t first, int32_t function) except -1:
        """Write in which function each block of a hunk is; at its first line it is `function`."""
        cdef int64_t line = 0, number = 0
        cdef int32_t begun
        for first in range(first, written.blocks.n, SITE_INTS):
            while line < written.edits.data[4 * number]:
                begun = self.begun(written.old.data[line])
                if begun != BODY:
                    function = begun
                line += 1
            written.blocks.data[first + 7] = function
            number += 1
        return 0

    cdef int32_t begun(self, int32_t line) except? -4:
        """Return the name of the function that a line begins, NO_NAME where one ends, or BODY."""
        cdef Told* told = self.looked_at(line)
        cdef unsigned char mark
        if told is NULL:
            raise MemoryError("excise: out of memory while reading a patch")
        if told.function == UNNAMED:
            mark = self.lexer.lines.data[line][0]
            if mark == c"}":
                told.function = NO_NAME
            elif mark == c"_" or mark == c"$" or c"a" <= mark | 32 <= c"z":
                told.function = self.function_of(
                    (<const char*>self.lexer.lines.data[line])[:self.lexer.lines.sizes[line]])
            else:
                told.function = BODY
        return told.function

    cdef int say(self, Written* written, const int32_t[::1] title) noexcept:
        """Append the words of a heading and the tokens of the hunk's old image, each once."""
        cdef int64_t line, at
        self.n_hunks += 1
        for at in range(title.shape[0]):
            if self.say_word(written, title[at]) != 0:
                return NO_MEMORY
        for line in range(written.old.n):
            for at in range(self.lexer.starts[written.old.data[line]],
                            self.lexer.starts[written.old.data[line] + 1]):
                if self.say_word(written, self.lexer.held[at]) != 0:
                    return NO_MEMORY
        return 0

    cdef int say_word(self, Written* written, int32_t word) noexcept:
        while self.said.n <= word:
            if put(&self.said, 0) != 0:
                return NO_MEMORY
        if self.said.data[word] == self.n_hunks:
            return 0
        self.said.data[word] = self.n_hunks
        return put(&written.tokens, word)

    cdef int block(self, Written* written, const int32_t* edit, int32_t name, int32_t heading
                   ) noexcept:
        cdef int64_t first = written.tokens.n, middle, at, before = written.around.n
        cdef int64_t behind = min(edit[1] + <int64_t>AROUND, written.old.n)
        if self.take(&written.tokens, written.old.data + edit[0], edit[1] - edit[0]) != 0:
            return NO_MEMORY
        middle = written.tokens.n
        if self.take(&written.tokens, written.new.data + edit[2], edit[3] - edit[2]) != 0:
            return NO_MEMORY
        for at in range(max(edit[0] - <int64_t>AROUND, 0), edit[0]):
            if self.put_around(written, written.old.data[at]) != 0:
                return NO_MEMORY
        for at in range(edit[1], behind):
            if self.put_around(written, written.old.data[at]) != 0:
                return NO_MEMORY
        written.differs = (
            written.differs or middle - first != written.tokens.n - middle
            or memcmp(written.tokens.data + first, written.tokens.data + middle,
                      (middle - first) * sizeof(int32_t)) != 0)
        if room(&written.blocks, SITE_INTS) != 0:
            return NO_MEMORY
        put(&written.blocks, name)
        put(&written.blocks, <int32_t>first)
        put(&written.blocks, <int32_t>middle)
        put(&written.blocks, <int32_t>middle)
        put(&written.blocks, <int32_t>written.tokens.n)
        put(&written.blocks, heading)
        put(&written.blocks, <int32_t>((written.around.n - before) // 2))
        put(&written.blocks, NO_NAME)           # `align` finds these where there is a heading
        put(&written.blocks, 0)
        put(&written.blocks, 0)
        return 0

    cdef int take(self, Ints* tokens, const int32_t* lines, int64_t n) noexcept:
        """Append the tokens of some lines."""
        cdef int64_t at, start, size
        for at in range(n):
            start = self.lexer.starts[lines[at]]
            size = self.lexer.starts[lines[at] + 1] - start
            if room(tokens, size) != 0:
                return NO_MEMORY
            memcpy(tokens.data + tokens.n, self.lexer.held + start, size * sizeof(int32_t))
            tokens.n += size
        return 0

    cdef int put_around(self, Written* written, int32_t line) noexcept:
        """Append a line with its words, if it has any."""
        cdef const Told* told = self.looked_at(line)
        if told is NULL:
            return NO_MEMORY
        if told.words == 0:
            return 0
        return put(&written.around, line) or put(&written.around, told.words)

    cdef Told* looked_at(self, int32_t line) noexcept:
        """Return what a line tells: its words and its length, without the white space around it."""
        cdef const unsigned char* data
        cdef const unsigned char* end
        cdef Told* told
        cdef int64_t characters = 0
        cdef bint inside = False
        if make_room(<void**>&self.told, self.lexer.lines.n, &self.told_room, sizeof(Told)) != 0:
            return NULL
        while self.n_told < self.lexer.lines.n:
            self.told[self.n_told].name = self.told[self.n_told].words = UNNAMED
            self.told[self.n_told].function = UNNAMED
            self.n_told += 1
        told = &self.told[line]
        if told.words != UNNAMED:
            return told
        data = self.lexer.lines.data[line]
        end = data + self.lexer.lines.sizes[line]
        while is_white(data[0]):
            data += 1
        told.words = 0
        while data < end:
            told.words += is_word(data[0]) and not inside
            inside = is_word(data[0])
            characters += data[0] & 0xC0 != 0x80
            data += 1
        told.is_long = characters > LONGER_THAN
        return told

    cdef int give_names(self, Written* written) except -1:
        """Replace numbers of lines by their names, and leave out context that tells nothing."""
        cdef int64_t at, kept = 0
        cdef Told* told
        cdef set wanted = set()
        for at in range(0, written.around.n, 2):
            if self.told[written.around.data[at]].name == UNNAMED:
                wanted.add(written.around.data[at])
        for at in range(written.context.n):
            told = self.looked_at(written.context.data[at])
            if told is NULL:
                raise MemoryError("excise: out of memory while reading a patch")
            if told.is_long and told.name == UNNAMED:
                wanted.add(written.context.data[at])
        if wanted:
            self.name(sorted(wanted))
        for at in range(0, written.around.n, 2):
            written.around.data[at] = self.told[written.around.data[at]].name
        for at in range(written.context.n):
            told = &self.told[written.context.data[at]]
            if told.is_long:
                written.context.data[kept] = told.name
                kept += 1
        written.context.n = kept
        return 0

    cdef int name(self, list lines) except -1:
        """Name lines by the vocabulary, without the white space around them."""
        cdef const int32_t[::1] names
        cdef int64_t at
        cdef int32_t line
        cdef const char* data
        texts = []
        for line in lines:
            data = <const char*>self.lexer.lines.data[line]
            texts.append(data[:self.lexer.lines.sizes[line]].lstrip(b" \t\n\v\f\r").decode())
        names = self.lines.intern(texts)
        for at in range(names.shape[0]):
            self.told[<int32_t>lines[at]].name = names[at]
        return 0
