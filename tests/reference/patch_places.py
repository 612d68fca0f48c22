"""Section 8 for `basis:edits` with places, written plainly: the oracle of `excise.patches.Pool`."""

from collections import Counter
from dataclasses import dataclass, fields
from fractions import Fraction

from tests.reference.counts import ELSEWHERE, OPERATIONS, Placed
from tests.reference.patch_blocks import Block, Submission, blocks, components, submission
from tests.reference.patch_levels import level
from tests.reference.patches import renamed
from tests.reference.words import ALL, MOVED, SOME, Contained, share

IN_ANOTHER_FILE = "in another file"


@dataclass(frozen=True)
class Comparison:
    """What is said of two patches; ``counts`` are n-grams of all orders, by operation."""

    exact: Fraction
    anchored: Fraction
    anywhere: Fraction
    contained: Contained
    word: str
    notes: frozenset[str]
    counts: dict[str, Placed]


def compare(a_text: bytes, b_text: bytes, key: str = "name") -> Comparison:
    """Compare the texts of two patches without mails around them, no path ignored."""
    a, b = submission(a_text), submission(b_text)
    by_name = compare_keyed(a, b, key)
    if key == "none" or not renamed(a.patch, b.patch):
        return by_name
    by_content = compare_keyed(a, b, "none")
    if by_content.exact <= by_name.exact:
        return by_name
    # Reading: everything said of a rescued pair comes of the counts that gave its value.
    notes = by_content.notes | {IN_ANOTHER_FILE}
    return Comparison(**{**vars(by_content), "notes": notes})


def compare_keyed(a: Submission, b: Submission, key: str) -> Comparison:
    """Apply the guards, then count; with one key for all files if ``key`` is "none"."""
    notes = frozenset()
    sides = blocks(a, key), blocks(b, key)
    idle = [all(block.old == block.new for block in side) for side in sides]
    if all(idle):
        sides = blocks(a, key, raw=True), blocks(b, key, raw=True)
        if not any(sides):
            return compare_facts(a, b, key)
        notes = frozenset({"whitespace-only"})
    is_idle = idle[0] != idle[1]
    counts = count(*sides)
    value, anchored, anywhere = values(counts)
    if same_text(a, b):
        value = anchored = anywhere = Fraction(1)
    elif is_idle:
        value = anchored = anywhere = Fraction(0)
    contained = containment(counts)
    said = level(a, b)
    if not said:
        is_part = not is_idle and (
            max(contained) >= SOME or (anywhere >= ALL and anywhere - anchored >= MOVED)
        )
        said = "overlaps" if is_part else "different"
    return Comparison(value, anchored, anywhere, contained, said, notes, counts)


def same_text(a: Submission, b: Submission) -> bool:
    r"""Guard 1 for patches.

    Reading: the text of a patch is all that its headers and hunks say, line numbers and headings
    included, with ``\r\n`` as ``\n``; what stands around it (a message) is no part of it.
    """
    return stated(a) == stated(b)


def stated(submitted: Submission) -> list:
    rows = []
    for pair in submitted.patch.files:
        rows.append([getattr(pair, field.name) for field in fields(pair) if field.name != "hunks"])
        for hunk in pair.hunks:
            lines = [line.removesuffix(b"\r") for line in hunk.lines]
            numbers = hunk.old_start, hunk.new_start, hunk.old_open, hunk.new_open
            rows.append([numbers, submitted.heading(hunk), lines])
    return rows


def count(a: list[Block], b: list[Block]) -> dict[str, Placed]:
    """Count keep, add and delete, in common at one place and in common anywhere."""
    here = Counter()
    for of_a, of_b in components(a, b):
        here += n_grams(of_a) & n_grams(of_b)
    all_a, all_b = n_grams(a), n_grams(b)
    return {
        operation: Placed(*(of(operation, some) for some in (here, all_a & all_b, all_a, all_b)))
        for operation in OPERATIONS
    }


def n_grams(some: list[Block]) -> Counter:
    """The n-grams of blocks: taken per block, then summed."""
    return sum((block.n_grams() for block in some), Counter())


def of(operation: str, grams: Counter) -> int:
    return sum(times for (_, name, _), times in grams.items() if name == operation)


def values(counts: dict[str, Placed]) -> tuple[Fraction, Fraction, Fraction]:
    """The value, what it is when nothing elsewhere counts, and when everything does.

    Blocks are never all empty: a + b > 0.
    """
    here, shared, by_a, by_b = (sum(some) for some in zip(*counts.values(), strict=True))
    return tuple(
        Fraction(2) * (here + (shared - here) * elsewhere) / (by_a + by_b)
        for elsewhere in (ELSEWHERE, 0, 1)
    )


def containment(counts: dict[str, Placed]) -> Contained:
    """The share of what A adds and deletes that B adds and deletes at the same place; and of B."""
    here, _, by_a, by_b = (
        counts["add"][i] + counts["delete"][i] for i in range(len(Placed._fields))
    )
    return share(here, by_a), share(here, by_b)


def compare_facts(a: Submission, b: Submission, key: str) -> Comparison:
    """Nothing changes in any line: 1 if the facts in the headers are equal, else 0.

    Reading: a fact is one of a file's, keyed as its n-grams would be; a file without any states
    that it is there. Hunks that change nothing count as none. Contained is 0 both ways, as W is;
    equal facts of files of other paths overlap.
    """
    value = Fraction(facts(a, key) == facts(b, key))
    nothing = {operation: Placed(0, 0, 0, 0) for operation in OPERATIONS}
    said = level(a, b) or ("overlaps" if value else "different")
    return Comparison(value, value, value, (Fraction(0), Fraction(0)), said, frozenset(), nothing)


def facts(submitted: Submission, key: str) -> Counter:
    return Counter(
        (pair.name if key == "name" else "", fact)
        for pair in submitted.patch.files
        for fact in pair.facts or ["no change"]
    )
