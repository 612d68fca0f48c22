"""Which lines a merge of git sees as changed: those of its default diff, before any heuristic.

A canonical alignment cannot say what git calls a conflict. Where several alignments are equally
long, the edits of one adjoin those of the other side and the edits of another do not. So lines are
aligned as git aligns them, in three steps: lines without a counterpart, and frequent lines among
many of these, are changed and not aligned; the rest is halved where the shortest paths from both
ends meet (Myers 1986, section 4b), or, if they do not meet soon, where the farthest of them ends;
then runs slide.

Written after that paper; which of several paths is taken, and where a search is given up, is as
`git merge-file` decides it, against which tests/reference/replay.py holds the result.
"""
from libc.stdint cimport int32_t
from libc.string cimport memset

from array import array

from excise.kernels._walk cimport CancelFlag, Stop, stopped

cdef enum:
    END = 0x7fffffff
    FARTHEST = 256        # steps from either end, after which a longer path will do
    NEAR = 100            # how far around a frequent line others are looked at
    MOST_FREQUENT = 1024


cdef struct Lines:
    const int32_t* units
    char* changed
    int32_t n


# ------------------------------------------------------------------------------------------------
# What is aligned at all.

cdef int32_t frequent_from(int32_t lines) noexcept nogil:
    """How often the other text has a frequent line: two to the digits, in base 4, of all lines."""
    cdef int32_t bits = 0
    while lines >> bits:
        bits += 1
    return min(1 << ((bits + 1) // 2), <int32_t>MOST_FREQUENT)


cdef int32_t lonely(
    const char* kinds, int32_t line, int32_t step, int32_t end, int32_t* frequent
) noexcept nogil:
    """How many lines next to one have no counterpart; counts the frequent ones among them."""
    cdef int32_t found = 0, _seen
    for _seen in range(NEAR):
        line += step
        if line == end or kinds[line] == 1:
            break
        if kinds[line] == 0:
            found += 1
        else:
            frequent[0] += 1
    return found


cdef int32_t choose(
    Lines* text, int32_t lo, int32_t hi, const int32_t* times, char* kinds, int32_t* chosen
) noexcept nogil:
    """Choose the lines lo to hi that are aligned, mark the others as changed, and count the former.

    - ``times``: how often the other text has each unit.
    - ``kinds``: room for as many lines; 0: without a counterpart, 2: frequent.
    """
    cdef int32_t line, count = 0, frequent, above, below, most = frequent_from(text.n)
    for line in range(lo, hi):
        count = times[text.units[line]]
        kinds[line] = 0 if count == 0 else (2 if count >= most else 1)
    count = 0
    for line in range(lo, hi):
        if kinds[line] == 2:
            frequent = 2
            above = lonely(kinds, line, -1, lo - 1, &frequent)
            below = lonely(kinds, line, 1, hi, &frequent)
            # Three lines without a counterpart for each frequent one, and some on both sides.
            if above and below and 3 * frequent < above + below:
                text.changed[line] = True
                continue
        if kinds[line] == 0:
            text.changed[line] = True
        else:
            chosen[count] = line
            count += 1
    return count


# ------------------------------------------------------------------------------------------------
# Halves of shortest paths. A diagonal k holds the points (i, i - k).

cdef struct Search:
    const int32_t* o
    const int32_t* a
    const int32_t* o_lines    # the line of each unit
    const int32_t* a_lines
    char* o_changed
    char* a_changed
    int32_t* ahead            # by diagonal, how far paths from the start come, and from the end
    int32_t* back


cdef struct Split:
    int32_t x
    int32_t y
    bint exact_before     # whether the box before the point, or the one after it, is to be halved
    bint exact_after      # by shortest paths, however long


cdef struct Box:
    int32_t x                 # from (x, y) to (x_end, y_end)
    int32_t y
    int32_t x_end
    int32_t y_end
    int32_t lowest            # its outermost diagonals
    int32_t highest


cdef inline int32_t low(const Box* box, int32_t home, int32_t steps) noexcept nogil:
    """The lowest diagonal that as many steps from one lead to; it has their parity."""
    cdef int32_t k = home - steps
    return k if k >= box.lowest else box.lowest + ((k - box.lowest) & 1)


cdef inline int32_t high(const Box* box, int32_t home, int32_t steps) noexcept nogil:
    """The highest diagonal that as many steps from one lead to."""
    cdef int32_t k = home + steps
    return k if k <= box.highest else box.highest - ((box.highest - k) & 1)


cdef bint go_ahead(Search* s, const Box* box, int32_t steps, Split* met) noexcept nogil:
    """Lengthen the paths from the start by a step; whether one meets a path from the end."""
    cdef int32_t home = box.x - box.y, other = box.x_end - box.y_end, x
    cdef int32_t k = high(box, home, steps), last = low(box, home, steps)
    # They can meet where the parities of both are the same.
    cdef int32_t meets = low(box, other, steps - 1), meets_to = high(box, other, steps - 1)
    if (home - other) & 1 == 0:
        meets_to = meets - 1
    if last == home - steps:
        s.ahead[last - 1] = -1
    if k == home + steps:
        s.ahead[k + 1] = -1
    while k >= last:
        # A line of `o` leads here from the diagonal below, one of `a` from the one above.
        x = max(s.ahead[k - 1] + 1, s.ahead[k + 1])
        while x < box.x_end and x - k < box.y_end and s.o[x] == s.a[x - k]:
            x += 1
        s.ahead[k] = x
        if meets <= k <= meets_to and s.back[k] <= x:
            met[0] = Split(x, x - k, True, True)
            return True
        k -= 2
    return False


cdef bint go_back(Search* s, const Box* box, int32_t steps, Split* met) noexcept nogil:
    """Lengthen the paths from the end by a step; whether one meets a path from the start."""
    cdef int32_t home = box.x_end - box.y_end, other = box.x - box.y, x
    cdef int32_t k = high(box, home, steps), last = low(box, home, steps)
    cdef int32_t meets = low(box, other, steps), meets_to = high(box, other, steps)
    if (home - other) & 1:
        meets_to = meets - 1
    if last == home - steps:
        s.back[last - 1] = END
    if k == home + steps:
        s.back[k + 1] = END
    while k >= last:
        x = min(s.back[k - 1], s.back[k + 1] - 1)
        while x > box.x and x - k > box.y and s.o[x - 1] == s.a[x - k - 1]:
            x -= 1
        s.back[k] = x
        if meets <= k <= meets_to and x <= s.ahead[k]:
            met[0] = Split(x, x - k, True, True)
            return True
        k -= 2
    return False


cdef Split middle(Search* s, const Box* box, bint exact) noexcept nogil:
    """Where shortest paths through a box meet, or the farthest of them ends."""
    cdef int32_t home = box.x - box.y, end = box.x_end - box.y_end, steps = 0, k, x, done
    cdef int32_t most = -1, most_back = -1
    cdef Split split = Split(box.x, box.y, True, True), back = split
    s.ahead[home] = box.x
    s.back[end] = box.x_end
    while exact or steps < FARTHEST:
        steps += 1
        if go_ahead(s, box, steps, &split) or go_back(s, box, steps, &split):
            return split
    for k in range(high(box, home, steps), low(box, home, steps) - 1, -2):
        x = min(s.ahead[k], box.x_end, box.y_end + k)
        done = x - box.x + x - k - box.y
        if done > most:
            most, split = done, Split(x, x - k, True, False)
    for k in range(high(box, end, steps), low(box, end, steps) - 1, -2):
        x = max(s.back[k], box.x, box.y + k)
        done = box.x_end - x + box.y_end - (x - k)
        if done > most_back:
            most_back, back = done, Split(x, x - k, False, True)
    return split if most > most_back else back


cdef void halve(Search* s, int32_t i, int32_t n, int32_t j, int32_t m, bint exact) noexcept nogil:
    """Mark what the path through a box does not keep."""
    cdef Box box
    cdef Split split
    cdef int32_t line
    while i < n and j < m and s.o[i] == s.a[j]:
        i += 1
        j += 1
    while i < n and j < m and s.o[n - 1] == s.a[m - 1]:
        n -= 1
        m -= 1
    if i == n or j == m:
        for line in range(i, n):
            s.o_changed[s.o_lines[line]] = True
        for line in range(j, m):
            s.a_changed[s.a_lines[line]] = True
        return
    box = Box(i, j, n, m, i - m, n - j)
    split = middle(s, &box, exact)
    halve(s, i, split.x, j, split.y, split.exact_before)
    halve(s, split.x, n, split.y, m, split.exact_after)


# ------------------------------------------------------------------------------------------------
# Slides. Between two lines that both texts keep stands a run of changed lines, maybe an empty one,
# in each: as many in the one text as in the other.

cdef struct Run:
    int32_t start
    int32_t end


cdef void widen(const Lines* text, Run* run) noexcept nogil:
    while run.start > 0 and text.changed[run.start - 1]:
        run.start -= 1
    while run.end < text.n and text.changed[run.end]:
        run.end += 1


cdef void step(const Lines* text, Run* run, bint down) noexcept nogil:
    """Go to the next run, or to the one before."""
    run.start = run.end = run.end + 1 if down else run.start - 1
    widen(text, run)


cdef bint slid(Lines* text, Run* run, const Lines* other, Run* beside, bint down) noexcept nogil:
    """Move a run by a line if it can, with the run beside it in the other text, and widen it."""
    if down:
        if run.end == text.n or text.units[run.start] != text.units[run.end]:
            return False
        text.changed[run.start] = False
        text.changed[run.end] = True
        run.start += 1
        run.end += 1
    else:
        if run.start == 0 or text.units[run.start - 1] != text.units[run.end - 1]:
            return False
        text.changed[run.start - 1] = True
        text.changed[run.end - 1] = False
        run.start -= 1
        run.end -= 1
    widen(text, run)
    step(other, beside, down)
    return True


cdef void slide_runs(Lines* text, const Lines* other, const Stop* stop) noexcept nogil:
    """Move each run down as far as it goes, or to the last place where the other text has one, too.

    On its way up and down it takes in the runs that it touches.
    """
    cdef Run run = Run(0, 0), beside = Run(0, 0)
    cdef int32_t size, highest
    cdef bint meets
    widen(text, &run)
    widen(other, &beside)
    while True:
        size = -1
        while run.end - run.start > 0 and size != run.end - run.start:
            size = run.end - run.start
            while slid(text, &run, other, &beside, False):
                pass
            highest = run.end
            meets = beside.end > beside.start
            while slid(text, &run, other, &beside, True):
                meets = meets or beside.end > beside.start
            if size == run.end - run.start and meets and run.end != highest:
                while beside.end == beside.start:
                    slid(text, &run, other, &beside, False)
        if run.end >= text.n or stopped(stop, 0):
            return
        step(text, &run, True)
        step(other, &beside, True)


# ------------------------------------------------------------------------------------------------
# What Python sees.

def merge_edits(const int32_t[::1] o not None, const int32_t[::1] a not None, int32_t symbols, *,
                CancelFlag cancel=None):
    """Return what a merge of git sees as changed, as a flat array of o_lo, o_hi, a_lo, a_hi.

    - ``o``, ``a``: lines as ints from 0 to below ``symbols``.
    - ``cancel``: polled for every run that slides.
    """
    cdef int32_t n = <int32_t>o.shape[0], m = <int32_t>a.shape[0], o_end = n, a_end = m
    cdef int32_t i = 0, j, k
    cdef Lines texts[2]
    cdef Search s
    cdef const Stop* stop = NULL if cancel is None else &cancel.stop
    cdef char[::1] o_changed = bytearray(n + 1), a_changed = bytearray(m + 1)
    cdef char[::1] kinds = bytearray(max(n, m) + 1)
    zero = array("i", [0])
    cdef int32_t[::1] times = zero * (2 * symbols + 1)
    cdef int32_t[::1] chosen = zero * (2 * (n + m) + 4), reach = zero * (2 * (n + m) + 16)
    memset(texts, 0, sizeof(texts))
    texts[0].changed, texts[0].n = &o_changed[0], n
    texts[1].changed, texts[1].n = &a_changed[0], m
    if n:
        texts[0].units = &o[0]
    if m:
        texts[1].units = &a[0]
    with nogil:
        while i < n and i < m and o[i] == a[i]:
            i += 1
        while o_end > i and a_end > i and o[o_end - 1] == a[a_end - 1]:
            o_end -= 1
            a_end -= 1
        for k in range(m):
            times[a[k]] += 1
        for k in range(n):
            times[symbols + o[k]] += 1
        s.o_lines = &chosen[0]
        k = choose(&texts[0], i, o_end, &times[0], &kinds[0], &chosen[0])
        s.a_lines = &chosen[k]
        j = choose(&texts[1], i, a_end, &times[symbols], &kinds[0], &chosen[k])
        for i in range(k):
            chosen[n + m + i] = o[chosen[i]]
        for i in range(k, k + j):
            chosen[n + m + i] = a[chosen[i]]
        s.o = &chosen[n + m]
        s.a = &chosen[n + m + k]
        s.o_changed = &o_changed[0]
        s.a_changed = &a_changed[0]
        s.ahead = &reach[j + 2]
        s.back = &reach[j + k + 7 + j]
        halve(&s, 0, k, 0, j, False)
        slide_runs(&texts[0], &texts[1], stop)
        slide_runs(&texts[1], &texts[0], stop)
    if cancel is not None:
        cancel.check()
    result = array("i")
    i = j = 0
    while i < n or j < m:
        if not o_changed[i] and not a_changed[j]:
            i += 1
            j += 1
            continue
        k, o_end = i, j
        while o_changed[i]:
            i += 1
        while a_changed[j]:
            j += 1
        result.extend((k, i, o_end, j))
    return result
