"""Section 8 for `basis:edits` without places, written plainly.

`score` is the pooled value: the value of version 1, and what no value with places
(`patch_places`) exceeds.
"""

import re
from collections import Counter
from fractions import Fraction

from tests.reference.lcs import canonical_lcs

WHITE = " \t\n\v\f\r"
WORD = r"[0-9A-Za-z_\x80-\U0010ffff]+"


def score(a, b) -> Fraction:
    """Return the value of two patches (`excise.patches.Patch`), nothing ignored."""
    left, right = features(a), features(b)
    if renamed(a, b):
        left, right = without_names(left), without_names(right)
    total = left.total() + right.total()
    return Fraction(2 * (left & right).total(), total) if total else Fraction(1)


def features(patch) -> Counter:
    found, changed = Counter(), False
    for pair in patch.files:
        for old, new in blocks(pair):
            o, a = tokens(old), tokens(new)
            changed = changed or o != a
            found += operations(pair.name, o, a)
    if changed:
        return found
    found = Counter()
    for pair in patch.files:
        for old, new in blocks(pair, raw=True):
            found += operations(pair.name, [("raw", x) for x in old], [("raw", x) for x in new])
    if found:
        return found
    return Counter(
        (pair.name, "add", (fact,)) for pair in patch.files for fact in pair.facts or ["no change"]
    )


def operations(name, o, a) -> Counter:
    found = Counter()
    for n in range(1, 5):
        in_o, in_a = n_grams(o, n), n_grams(a, n)
        for operation, counts in (
            ("keep", in_o & in_a),
            ("add", in_a - in_o),
            ("delete", in_o - in_a),
        ):
            for gram, count in counts.items():
                found[name, operation, gram] += count
    return found


def n_grams(items, n) -> Counter:
    return Counter(tuple(items[at : at + n]) for at in range(len(items) - n + 1))


def blocks(pair, raw=False):
    """Yield the unmatched runs of lines of every hunk's two images."""
    for hunk in pair.hunks:
        old = [line[1:].decode() for line in hunk.lines if line[:1] != b"+"]
        new = [line[1:].decode() for line in hunk.lines if line[:1] != b"-"]
        if raw:
            old, new = ended(old, hunk.old_open), ended(new, hunk.new_open)
        else:
            old = [line.rstrip(WHITE) for line in old if line.strip(WHITE)]
            new = [line.rstrip(WHITE) for line in new if line.strip(WHITE)]
        place = (0, 0)
        for i, j in [*canonical_lcs(old, new), (len(old), len(new))]:
            if (i, j) != place:
                yield old[place[0] : i], new[place[1] : j]
            place = (i + 1, j + 1)


def ended(lines, is_open):
    found = [f"{line.removesuffix(chr(13))}\n" for line in lines]
    return [*found[:-1], found[-1][:-1]] if is_open and found else found


def tokens(lines):
    return re.findall(rf"{WORD}|[^ \t\n\v\f\r]", "\n".join(lines))


def words(line):
    """Return the tokens of a line that are words."""
    return re.findall(WORD, line)


def renamed(a, b) -> bool:
    left, right = context(a), context(b)
    if not left or not right:
        return False
    return Fraction(2 * (left & right).total(), left.total() + right.total()) >= Fraction(9, 10)


def context(patch) -> Counter:
    lines = (
        line[1:].decode().strip(WHITE)
        for pair in patch.files
        for hunk in pair.hunks
        for line in hunk.lines
        if line[:1] == b" "
    )
    return Counter(line for line in lines if len(line) > 3)


def without_names(found) -> Counter:
    bare = Counter()
    for (_, operation, gram), count in found.items():
        bare[operation, gram] += count
    return bare
