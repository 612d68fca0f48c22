"""MaxMatch (M2) of Dahlmeier and Ng 2012: the edits of a text, read as the gold edits suggest."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from excise.alignment import align
from excise.evaluation.base import Item, Measure, MeasureUnavailableError, Value, best

UNCHANGED = 2
"""Unchanged words that one edit may span, as in the authors' scorer."""

BETA = 0.5
"""Weight of recall against precision."""

PAIRS = 1_000_000
"""Words of an origin times words of a hypothesis, above which no lattice is built."""

_BETWEEN, _INSERTED = -1, -2

Words = Sequence[str]
Node = tuple[int, int]


class Correction(NamedTuple):
    """The words ``start`` to ``stop`` of the origin, and what takes their place."""

    start: int
    stop: int
    words: tuple[str, ...]


class Matched(NamedTuple):
    """How many edits of the hypothesis are gold ones, how many it has, and how many gold has."""

    correct: int
    proposed: int
    gold: int

    @property
    def f(self) -> float:
        """F with `BETA`; a precision or recall of nothing is 1."""
        precision = self.correct / self.proposed if self.proposed else 1.0
        recall = self.correct / self.gold if self.gold else 1.0
        weighted = BETA**2 * precision + recall
        return (1 + BETA**2) * precision * recall / weighted if weighted else 0.0


def m2(item: Item) -> Value:
    """MaxMatch F0.5 (Dahlmeier and Ng 2012), words between white space. In [0, 1].

    The gold edits are the runs that differ between origin and reference in their canonical
    alignment (the published data sets have edits by hand). Of the shortest ways from origin to
    hypothesis, an edit spanning at most two unchanged words, that with most gold edits counts, then
    that with fewest steps and edits. The best reference counts. 0/0: no edit on either side: 1.

    Raises MeasureUnavailableError above `PAIRS`.
    """
    origin, hypothesis = item.origin.split(), item.hypothesis.split()

    def score(reference: str) -> float:
        return max_match(origin, hypothesis, corrections(origin, reference.split())).f

    return best(item.references, score)


def corrections(origin: Words, revision: Words) -> list[Correction]:
    """Return the runs of words that a revision changes."""
    numbers: dict[str, int] = {}
    both = (
        array("i", (numbers.setdefault(w, len(numbers)) for w in t)) for t in (origin, revision)
    )
    edits = align(*both).edits
    return [Correction(e.o_lo, e.o_hi, tuple(revision[e.a_lo : e.a_hi])) for e in edits]


def max_match(origin: Words, hypothesis: Words, gold: Sequence[Correction]) -> Matched:
    """Return how the edits of a hypothesis match the gold edits of an origin."""
    if len(origin) * len(hypothesis) > PAIRS:
        sizes = f"{len(origin):,} and {len(hypothesis):,}"
        raise MeasureUnavailableError(f"m2: texts of {sizes} words are too long for a lattice")
    steps: dict[Node, dict[Node, bool]] = {}
    for substitution in (1, 2):
        for before, after, is_kept in _shortest_ways(origin, hypothesis, substitution):
            steps.setdefault(before, {})[after] = is_kept
    by_start: dict[int, list[Correction]] = {}
    for edit in gold:
        by_start.setdefault(edit.start, []).append(edit)
    end = (len(origin), len(hypothesis))
    # The least cost at each node: matches, negated; steps; edits. By state: unchanged words of the
    # open edit; without one `_BETWEEN`; `_INSERTED` right behind a gold insertion.
    costs: dict[Node, dict[int, tuple[int, int, int]]] = {(0, 0): {_BETWEEN: (0, 0, 0)}}

    def reach(node: Node, state: int, cost: tuple[int, int, int]) -> None:
        known = costs.setdefault(node, {})
        known[state] = min(cost, known.get(state, cost))

    for node in sorted({*steps, end}):
        here = costs[node]
        if is_open := [cost for state, cost in here.items() if state >= 0]:
            reach(node, _BETWEEN, min(is_open))
        for state, (matches, length, edits) in here.items():
            for after, is_kept in steps.get(node, {}).items():
                if state < 0 and is_kept:
                    reach(after, _BETWEEN, (matches, length + 1, edits))
                elif state < 0:
                    reach(after, 0, (matches, length + 1, edits + 1))
                elif state + is_kept <= UNCHANGED:
                    reach(after, state + is_kept, (matches, length + 1, edits))
        if _BETWEEN not in here:
            continue
        matches, length, edits = here[_BETWEEN]
        for edit in by_start.get(node[0], ()):
            after = (edit.stop, node[1] + len(edit.words))
            is_there = tuple(hypothesis[node[1] : after[1]]) == edit.words
            if is_there and after != node and _connects(steps, node, after):
                state = _INSERTED if after[0] == node[0] else _BETWEEN
                reach(after, state, (matches - 1, length, edits))
    matches, _, edits = min(costs[end].values())
    return Matched(min(-matches, len(gold)), edits - matches, len(gold))


def _shortest_ways(
    origin: Words, hypothesis: Words, substitution: int
) -> Iterator[tuple[Node, Node, bool]]:
    """Yield the steps of all shortest ways through the table of the edit distance.

    Each is two nodes, and whether a word is kept between them.
    """
    rows = [list(range(len(hypothesis) + 1))]
    for i, word in enumerate(origin, start=1):
        above, row = rows[-1], [i]
        for j, other in enumerate(hypothesis, start=1):
            diagonal = above[j - 1] + (word != other) * substitution
            row.append(min(diagonal, above[j] + 1, row[-1] + 1))
        rows.append(row)
    waiting = [(len(origin), len(hypothesis))]
    reached = set(waiting)
    while waiting:
        i, j = after = waiting.pop()
        is_kept = bool(i and j) and origin[i - 1] == hypothesis[j - 1]
        for before, cost in (
            ((i - 1, j - 1), 0 if is_kept else substitution),
            ((i - 1, j), 1),
            ((i, j - 1), 1),
        ):
            if min(before) >= 0 and rows[before[0]][before[1]] + cost == rows[i][j]:
                yield before, after, is_kept and before == (i - 1, j - 1)
                if before not in reached:
                    reached.add(before)
                    waiting.append(before)


def _connects(steps: dict[Node, dict[Node, bool]], start: Node, stop: Node) -> bool:
    """Whether a way leads from one node to another, past no more than `UNCHANGED` kept words."""
    waiting = [(start, 0)]
    reached = set(waiting)
    while waiting:
        node, unchanged = waiting.pop()
        if node == stop:
            return True
        for after, is_kept in steps.get(node, {}).items():
            state = (after, unchanged + is_kept)
            is_inside = after[0] <= stop[0] and after[1] <= stop[1] and state[1] <= UNCHANGED
            if is_inside and state not in reached:
                reached.add(state)
                waiting.append(state)
    return False


MEASURES = (
    Measure(
        score=m2,
        source="Dahlmeier, Ng 2012 (MaxMatch)",
        key="m2|f:0.5|unchanged:2|edits:canonical|tok:space|case:mixed|0/0:1|v:1",
        needs_origin=True,
    ),
)
