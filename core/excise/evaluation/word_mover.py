"""Word Mover's Distance, with word vectors that the caller reads and hands in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from re import findall
from typing import TYPE_CHECKING

from excise.evaluation.base import Item, Measure, MeasureUnavailableError, Value, best

if TYPE_CHECKING:  # it takes longer to load than most scores take
    import numpy as np
    import numpy.typing as npt

    Vectors = Mapping[str, npt.NDArray[np.float32]]

MOST_NUMBERS = 200_000_000
"""Numbers that a file of vectors may have: 800 MB."""

MOST_WORDS = 500
"""Distinct words of a text that the other lacks, above which nothing is computed."""


def wmd(item: Item, vectors: Vectors) -> Value:
    """Word Mover's Distance (Kusner, Sun, Kolkin, Weinberger 2015). At least 0; small is good.

    The least cost to move the words of one text onto those of the other, by Euclidean distances.
    Words are runs of letters, digits and _, in lower case where only that has a vector; words
    without one, and other characters, do not count. The nearest reference counts. 0/0: no word with
    a vector on either side: 0.

    Raises MeasureUnavailableError if only one side has such a word, or there are too many.
    """
    ours = _masses(item.hypothesis, vectors)
    return best(item.references, lambda text: _distance(ours, _masses(text, vectors), vectors), min)


def read_vectors(lines: Iterable[bytes]) -> dict[str, npt.NDArray[np.float32]]:
    """Read vectors as word2vec, GloVe and fastText write them: a word and its numbers a line.

    A first line of two whole numbers is their header. Raises MeasureUnavailableError, which names
    the line.
    """
    import numpy as np

    vectors: dict[str, npt.NDArray[np.float32]] = {}
    size = read = 0
    for number, line in enumerate(lines, start=1):
        word, *numbers = line.decode("utf-8", "replace").rstrip().split(" ")
        if number == 1 and len(numbers) == 1 and word.isdigit() and numbers[0].isdigit():
            size = int(numbers[0])
            continue
        size = size or len(numbers)
        if len(numbers) != size or not size:
            why = f"line {number} has {len(numbers):,} numbers instead of {size:,}"
            raise MeasureUnavailableError(why if size else f"line {number} has no numbers")
        if (read := read + size) > MOST_NUMBERS:
            raise MeasureUnavailableError(
                f"more than {MOST_NUMBERS:,} numbers; keep the vectors of fewer words"
            )
        try:
            vector = np.array(numbers, dtype=np.float32)
        except ValueError as error:
            raise MeasureUnavailableError(
                f"line {number} has something else than numbers"
            ) from error
        if not np.isfinite(vector).all():
            raise MeasureUnavailableError(f"line {number} has a number that is not finite")
        vectors.setdefault(word, vector)
    if not vectors:
        raise MeasureUnavailableError("no vectors")
    return vectors


def _masses(text: str, vectors: Vectors) -> dict[str, float]:
    """Return the share of each word among those with a vector."""
    words = (w if w in vectors else w.lower() for w in findall(r"\w+", text))
    counts = Counter(word for word in words if word in vectors)
    return {word: count / counts.total() for word, count in counts.items()}


def _distance(ours: dict[str, float], theirs: dict[str, float], vectors: Vectors) -> float:
    if not ours or not theirs:
        if not ours and not theirs:
            return 0.0
        raise MeasureUnavailableError("wmd: no word of one of the texts has a vector")
    # What both have stays where it is: no way is shorter than none.
    left = {word: mass - theirs.get(word, 0.0) for word, mass in ours.items()}
    missing = {word: mass - ours.get(word, 0.0) for word, mass in theirs.items()}
    left, missing = ({w: m for w, m in side.items() if m > 1e-12} for side in (left, missing))
    if max(len(left), len(missing)) > MOST_WORDS:
        raise MeasureUnavailableError(f"wmd: more than {MOST_WORDS} words to move")
    if not left or not missing:
        return 0.0
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import eye_array, kron, vstack
    from scipy.spatial.distance import cdist

    a, b = (np.array([vectors[word] for word in side], dtype=float) for side in (left, missing))
    cost = cdist(a, b)
    rows, columns = cost.shape
    leaving = kron(eye_array(rows), np.ones((1, columns)))
    arriving = kron(np.ones((1, rows)), eye_array(columns))
    masses = np.array([*left.values(), *missing.values()])
    found = linprog(cost.ravel(), A_eq=vstack([leaving, arriving]), b_eq=masses, method="highs")
    if not found.success:
        raise MeasureUnavailableError(f"wmd: {found.message}")
    return max(0.0, float(found.fun))


MEASURES = (
    Measure(
        score=wmd,
        source="Kusner, Sun, Kolkin, Weinberger 2015",
        key="wmd|norm:l1|dist:euclid|stop:no|tok:word|v:1",
        high=float("inf"),
        larger_is_better=False,
        several="min",
        resource="vectors",
    ),
)
