"""The change blocks of a patch, each with the heading and the context that place it (section 8)."""

from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

from tests.reference.lcs import canonical_lcs
from tests.reference.patches import WHITE, ended, operations, tokens, words

from excise.patches import Patch, parse

NEAREST = 3
"""How many lines of context a block has on each side, at most."""


@dataclass(frozen=True)
class Block:
    """What a patch does between two lines that it keeps.

    ``old`` and ``new`` are tokens (or raw lines), ``context`` the lines around the block, ``said``
    the words in the heading and on the removed and context lines of the hunk, ``function`` the name
    of the function that it is in, if that is known.
    """

    key: str
    heading: str
    said: frozenset[str]
    function: str | None
    context: Counter
    old: list[Hashable]
    new: list[Hashable]

    def n_grams(self) -> Counter:
        """What the block keeps, adds and deletes, keyed by file, operation and n-gram."""
        return operations(self.key, self.old, self.new)


@dataclass(frozen=True)
class Submission:
    """A patch as the library parses it, and its text, where the oracle reads the headings."""

    patch: Patch
    lines: list[bytes]

    def heading(self, hunk) -> str:
        """The text behind the second ``@@``, stripped; equal iff the bytes are."""
        _, _, heading = self.lines[hunk.line - 1].split(b"@@", 2)
        return heading.decode("utf-8", "backslashreplace").strip(WHITE)


def submission(text: bytes) -> Submission:
    """Read the text of one patch without a mail around it."""
    return Submission(parse(text), text.split(b"\n"))


def blocks(submitted: Submission, key: str, *, raw: bool = False) -> list[Block]:
    """List the blocks of all hunks, with their tokens or, if ``raw``, with their raw lines."""
    return [
        Block(
            pair.name if key == "name" else "",
            submitted.heading(hunk),
            said_in(hunk, submitted.heading(hunk)),
            function_of([submitted.heading(hunk), *above]),
            *rest,
        )
        for pair in submitted.patch.files
        for hunk in pair.hunks
        for above, *rest in between_kept_lines(hunk, raw=raw)
    ]


def said_in(hunk, heading: str) -> frozenset[str]:
    """The words in a heading and on the lines of its hunk that are not inserted."""
    old = [line[1:].decode("utf-8", "backslashreplace") for line in hunk.lines if line[:1] != b"+"]
    return frozenset(word for line in (heading, *old) for word in words(line))


def function_of(lines: list[str]) -> str | None:
    """The name in the last line that begins a function, a heading or one at column 0.

    Reading: behind a line that begins with ``}`` nobody knows.
    """
    title, *above = lines
    name = name_in(title)
    for line in above:
        if line[:1] == "}":
            name = None
        elif line[:1] in {*"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$"}:
            name = name_in(line)
    return name


def name_in(line: str) -> str | None:
    """The function that a line begins, found character by character."""
    read, at, is_behind_word = [], 0, False
    while at < len(line):
        rest = line[at:]
        if found := words(rest[:1]) and words(rest)[0]:
            read.append(found)
            at, is_behind_word = at + len(found), True
            continue
        if rest[0] in WHITE:
            at += 1
            continue
        if rest[0] == "(" and is_behind_word and read[-1] in ("func", "pub"):
            inside, closed, _ = rest[1:].partition(")")
            if not closed or "(" in inside:
                break
            at += len(inside) + 2
        elif rest.startswith("::"):
            at += 2
        elif not read or rest[0] in "*&~.$":
            at += 1
        else:
            break
        is_behind_word = False
    if not read:
        return None
    *before, name = read
    if before and before[-1] in ("def", "fn", "fun", "func", "function", "sub"):
        return name
    if {"class", "interface", "record"} & {*before}:
        return None
    return name if has_parameters(line[at:]) else None


def has_parameters(rest: str) -> bool:
    """Tell whether a text begins with a parenthesis, perhaps behind parameters of types."""
    for left, right in ("<>", "[]"):
        if rest[:1] == left:
            inside, closed, behind = rest[1:].partition(right)
            if closed and not {*inside} & {left, *"()"}:
                rest = behind
            break
    return rest.lstrip(WHITE)[:1] == "("


def between_kept_lines(hunk, *, raw: bool) -> Iterator[tuple[list, Counter, list, list]]:
    """Yield what lies between matched lines: old lines above, context, old and new tokens."""
    old = [line[1:].decode() for line in hunk.lines if line[:1] != b"+"]
    new = [line[1:].decode() for line in hunk.lines if line[:1] != b"-"]
    if raw:
        old, new = ended(old, hunk.old_open), ended(new, hunk.new_open)
    else:
        old = [line.rstrip(WHITE) for line in old if line.strip(WHITE)]
        new = [line.rstrip(WHITE) for line in new if line.strip(WHITE)]
    o_from = a_from = 0
    for o_to, a_to in [*canonical_lcs(old, new), (len(old), len(new))]:
        if (o_from, a_from) != (o_to, a_to):
            deleted, inserted = old[o_from:o_to], new[a_from:a_to]
            yield (
                old[:o_from],
                context_of(old[:o_from], old[o_to:]),
                [("raw", line) for line in deleted] if raw else tokens(deleted),
                [("raw", line) for line in inserted] if raw else tokens(inserted),
            )
        o_from, a_from = o_to + 1, a_to + 1


def context_of(above: list[str], below: list[str]) -> Counter:
    """The nearest lines of the old image on each side that are not blank, stripped."""
    above, below = (
        [line.strip(WHITE) for line in side if line.strip(WHITE)] for side in (above, below)
    )
    return Counter(above[-NEAREST:] + below[:NEAREST])


def weight(context: Counter) -> int:
    """How many words the lines hold."""
    return sum(len(words(line)) * times for line, times in context.items())


def stand_together(x: Block, y: Block) -> bool:
    """Tell whether two blocks of two patches are at one place."""
    if x.key != y.key:
        return False
    headings_differ = bool(x.heading and y.heading and x.heading != y.heading)
    smaller = min(weight(x.context), weight(y.context))
    if smaller == 0:
        return not headings_differ
    agreement = Fraction(weight(x.context & y.context), smaller)
    if headings_differ:
        return agreement >= Fraction(1, 2) and may_be_one_function(x, y)
    if x.heading and y.heading:
        return agreement > 0
    return agreement >= Fraction(1, 5)


def may_be_one_function(x: Block, y: Block) -> bool:
    """Tell whether a function may only have been renamed between two patches."""
    if x.function is None or y.function is None:
        return True
    return x.function in y.said or y.function in x.said


def components(a: list[Block], b: list[Block]) -> list[tuple[list[Block], list[Block]]]:
    """The blocks of A and of B at each place: the relation's transitive closure."""
    fresh = count()
    place_a, place_b = [next(fresh) for _ in a], [next(fresh) for _ in b]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if stand_together(x, y):
                kept, gone = place_a[i], place_b[j]
                place_a = [kept if place == gone else place for place in place_a]
                place_b = [kept if place == gone else place for place in place_b]
    return [
        (
            [block for block, place in zip(a, place_a, strict=True) if place == name],
            [block for block, place in zip(b, place_b, strict=True) if place == name],
        )
        for name in sorted({*place_a, *place_b})
    ]
