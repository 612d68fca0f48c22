"""The lines of a hunk, counted: by far most lines of a diff."""
from libc.stdint cimport int64_t


cdef bint is_doubtful(const char* line, Py_ssize_t size) noexcept:
    """Whether a deleted line may be a header or a signature: ``---``, ``-- ``, ``--``."""
    return line[1] == c"-" and (size == 2 or line[2] in (c"-", c" ", c"\r"))


def body(list lines not None, Py_ssize_t start, int64_t old, int64_t new, ends_early):
    """Take as many lines as the counts of a hunk require.

    - ``lines``: of the whole diff; `start` is the hunk's header.
    - ``old``, ``new``: how many lines the images have.
    - ``ends_early``: told a line that looks like a header or signature, and how many lines are
      missing there, returns whether it is one.

    Returns: the lines with a line end between them, the line behind them, how many are missing of
    each image, and whether the last line of each image has no line end.
    """
    cdef Py_ssize_t at = start + 1, end = len(lines), size
    cdef bytes line
    cdef const char* data
    cdef char kind, last = 0
    cdef bint old_open = False, new_open = False
    taken = []
    while (old or new) and at < end:
        line = lines[at]
        size = len(line)
        data = line
        kind = data[0]        # of an empty line: NUL
        if kind == c"+" and new:
            new -= 1
        elif kind == c"-" and old:
            if is_doubtful(data, size) and ends_early(at, old, new):
                break
            old -= 1
        elif (kind == c" " or size == 0 or kind == c"\r" and size == 1) and old and new:
            if at == end - 1 and size == 0:
                break         # what follows the last line end is not a line
            old -= 1
            new -= 1
            if kind != c" ":
                line = b" " + line
                kind = c" "
        elif kind == c"\\":
            old_open = old_open or last in (c" ", c"-")
            new_open = new_open or last in (c" ", c"+")
            at += 1
            continue
        else:
            break
        taken.append(line)
        last = kind
        at += 1
    if last and at < end and lines[at].startswith(b"\\ "):
        old_open = old_open or last in (c" ", c"-")
        new_open = new_open or last in (c" ", c"+")
        at += 1
    return b"\n".join(taken), at, old, new, old_open, new_open
