"""Words and numbers that people read: values, pairs (section 6a of the definition), the order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from excise import Ranked, agreement
from excise.agreement import CODE, DIFFERENT, IDENTICAL, NAMES, OVERLAPS
from excise.excision import PLACED
from excise_server.foundation.escape import printable, shortened
from excise_server.wire.documents import RelationEntry

SHARE_ELSEWHERE = {4: "a quarter", 2: "half"}.get(
    sum(PLACED), f"{PLACED[1]} of {sum(PLACED)} parts"
)
"""What an n-gram in common counts for that does not stand at the same place."""


BESIDE = {
    IDENTICAL: "identical to {}",
    CODE: "same code as {}",
    NAMES: "same up to names as {}",
    OVERLAPS: "overlaps {}",
    DIFFERENT: "different from {}",
}
"""What is said of one of a pair beside the other, by their word."""

LETTERS = {"created": "A", "deleted": "D", "renamed": "R", "modified": "M"}
"""What happened to a file, as git has it."""


def plural(count: int, noun: str) -> str:
    """Return "1 n-gram", "2,000 n-grams", "2 families", "2 patches"."""
    several = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    several = f"{noun[:-1]}ies" if noun.endswith("y") else several
    return f"{count:,} {noun if count == 1 else several}"


def place_words(lo: int, hi: int) -> str:
    """Return which lines of the origin (from 0, exclusive) these are, as people count them.

    >>> place_words(7, 7), place_words(6, 7), place_words(0, 0)
    ('after line 7', 'line 7', 'at the start')
    """
    if lo == hi:
        return f"after line {lo:,}" if lo else "at the start"
    return f"line {hi:,}" if hi == lo + 1 else f"lines {lo + 1:,} to {hi:,}"


def digits(value: float | None) -> str:
    """Return a value in two digits, or – if it is undefined.

    A value below 1 is never 1.00, and a value above 0 never 0.00.

    >>> [digits(value) for value in (1.0, 0.996, 0.994, 0.25, 0.001, 0.0, None)]
    ['1.00', '>.99', '0.99', '0.25', '<.01', '0.00', '–']
    """
    if value is None:
        return "–"
    shown = f"{value:.2f}"
    if shown == "1.00" and value < 1:
        return ">.99"
    return "<.01" if shown == "0.00" and value > 0 else shown


LONGEST_LINE = 120
"""Characters of a changed line that is shown in part."""

MOST_RENAMED = 4
"""Most renamed names that a phrase lists."""

MOST_OF_NAME = 40
"""Most characters of such a name."""


def level_words(word: str, renamed: Sequence[Sequence[str]], phrase: str) -> str:
    """Return the word for a pair, and in brackets the names in which the two differ.

    >>> level_words("same up to names", [("s", "square")], "{} is {} there")
    'same up to names (s is square there)'
    """
    pairs = [
        phrase.format(*(shortened(printable(name), MOST_OF_NAME) for name in pair))
        for pair in renamed[:MOST_RENAMED]
    ]
    names = ", ".join([*pairs, *["…"] * (len(renamed) > MOST_RENAMED)])
    return f"{word} ({names})" if names else word


THERE = "{} is {} there"
"""How a name in a text and that in the one that it is compared with are said."""


def other_facets(facets: Sequence[str]) -> str:
    """Return what is said where two have the same code, but other files beside it.

    >>> other_facets(["docs", "tests"]), other_facets([])
    (', other docs and tests', '')
    """
    return f", other {' and '.join(facets)}" if facets else ""


def words_of(ids: Sequence[str], word: Callable[[int, int], str]) -> list[list[str]]:
    """Return the words of all pairs of a matrix, in its shape."""
    return [[word(i, j) for j in range(len(ids))] for i in range(len(ids))]


DISAGREE = "they disagree: read each, or run excise review --run 'COMMAND'"
"""What is said where no two make the same edit: no order says much of that."""

_NEXT = {
    "fix": "then fewer tokens",
    "change": "then what is most like the others, then fewer tokens",
}
_OTHER = {"fix": "for any other change: --intent change", "change": "for a bug fix: --intent fix"}


def order_words(intent: str) -> str:
    """Return the rule that decided an order.

    >>> order_words("fix").partition(":")[0]
    'intent fix (for any other change'
    """
    whole = "whole edits first, then the edit that more make"
    return f"intent {intent} ({_OTHER[intent]}): {whole}, {_NEXT[intent]}"


def disagree(ranking: Sequence[Ranked]) -> bool:
    """Whether several whole edits are ranked, and nobody makes one that another makes."""
    whole = [r for r in ranking if not (r.no_op or r.stub or r.broken)]
    return len(whole) > 1 and all(ranked.makers == 1 for ranked in whole)


_MOST_BETWEEN = 12
"""Most pairs of candidates of different tasks that a page names."""


def relation_lines(relations: Sequence[RelationEntry], labels: Mapping[str, str]) -> Iterator[str]:
    """Yield what candidates are to each other, what is broken first, and how many more there are.

    - ``labels``: by id; a candidate that is not shown is called by the end of its id.
    """
    # Rivals are of one task, but for one that would make one of two.
    words = ("breaks", "collides", "rivals", "both add", *agreement.SAME)
    ordered = sorted(relations, key=lambda relation: words.index(relation.word))
    for relation in ordered[:_MOST_BETWEEN]:
        first, second = relation.first, relation.second
        if relation.word == "breaks":
            first, second = (first, second) if relation.evidence[0].by == first else (second, first)
        a, b = (labels.get(name, name.partition(":")[2] or name) for name in (first, second))
        messages = shortened("; ".join(each.message for each in relation.evidence), 400)
        head = {"breaks": f"{a} breaks {b}", "collides": f"{a} and {b} collide",
                "rivals": f"{a} and {b} are rivals"}  # fmt: skip
        yield f"{head.get(relation.word, f'{a} and {b}')}: {messages}"
    if (more := len(ordered) - _MOST_BETWEEN) > 0:
        yield f"and {more:,} more pairs (--format json has all)"
