"""The kernels: every engine agrees, and small scores are those of the oracle."""

import random
from array import array

from tests.fuzz.targets.base import Target, packed, unpacked
from tests.reference.lcs import canonical_lcs

import excise
from excise.kernels import _lcs

ENGINES = ("auto", "myers", "bits", "checkpoints")
TEXTBOOK = 80
"""Lengths up to which the textbook's algorithm, which is quadratic, is asked as well."""


def sequences(choice: random.Random) -> bytes:
    """Write three sequences of ints: unrelated, edited, periodic, long or empty."""
    symbols = choice.choice((1, 2, 3, 6, 50, 1000))
    long = choice.random() < 0.1
    most = choice.choice((300, 2000)) if long else 40

    def drawn() -> list[int]:
        some = [choice.randrange(symbols) for _ in range(choice.randrange(most))]
        return some * choice.randrange(1, 4) if choice.random() < 0.2 else some

    def edited(given: list[int]) -> list[int]:
        copy = list(given)
        for _ in range(choice.randrange(6)):
            at = choice.randrange(len(copy) + 1)
            size = choice.randrange(9)
            copy[at : at + choice.randrange(9)] = [choice.randrange(symbols) for _ in range(size)]
        return copy

    origin = drawn()
    a, b = (edited(origin) if choice.random() < 0.7 else drawn() for _ in range(2))
    return packed([origin, a, b])


def check(data: bytes) -> None:
    origin, a, b = unpacked(data)
    for revision in (a, b):
        walks = {
            engine: list(_lcs.edits(array("i", origin), array("i", revision), engine=engine))
            for engine in ENGINES
        }
        assert len({tuple(walk) for walk in walks.values()}) == 1, f"engines differ: {walks}"
        if max(len(origin), len(revision)) <= TEXTBOOK:
            matched = list(canonical_lcs(origin, revision))
            assert pairs(walks["auto"], len(origin)) == matched, "not the textbook's walk"
    texts = [" ".join(f"t{symbol}" for symbol in some) for some in (origin, a, b)]
    for place in ("pooled", "anchored"):
        ab = excise.similarity(origin=texts[0], a=texts[1], b=texts[2], place=place)
        ba = excise.similarity(origin=texts[0], a=texts[2], b=texts[1], place=place)
        assert ab.exact == ba.exact, "not symmetric"
        assert 0 <= ab.value <= 1, "out of range"
    excise.excision_score(origin=texts[0], reference=texts[1], hypothesis=texts[2])


def pairs(flat, n):
    """Return the matched pairs that the edits of a walk leave."""
    matched, place, shift = [], 0, 0
    for at in range(0, len(flat), 4):
        matched += [(o, o + shift) for o in range(place, flat[at])]
        place, shift = flat[at + 1], flat[at + 3] - flat[at + 1]
    return matched + [(o, o + shift) for o in range(place, n)]


TARGETS = {"engines": Target(sequences, check)}
