"""GLEU of Napoles et al. 2015: BLEU that punishes what should have been changed and was not.

Google's GLEU (Wu et al. 2016), which is nltk's ``sentence_gleu``, is another measure: it does not
know the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from statistics import fmean

from excise.errors import OptionError
from excise.evaluation.base import Item, Measure, Value
from excise.evaluation.ngrams import geometric, grams

ORDERS = (1, 2, 3, 4)
ROUNDS = 500

Statistics = list[int]
"""Lengths of hypothesis and reference, then matches and totals of each order: they add up."""


def _value(statistics: Statistics) -> float:
    """Return the geometric mean of the precisions times the brevity penalty, or 0 for a count 0."""
    if not all(statistics):
        return 0.0
    hypothesis, reference, *counts = statistics
    shares = (match / total for match, total in zip(counts[::2], counts[1::2], strict=True))
    return geometric(shares, hypothesis, reference)


def gleu(item: Item) -> Value:
    """GLEU of one text (Napoles, Sakaguchi, Post, Tetreault 2015, without tuning). In [0, 1].

    Tokens between white space, case kept, n = 1..4: n-grams shared with the reference, less those
    shared with what the origin has and the reference has not. Smoothed: a count of 0 is taken as
    1. Several references: the mean. 0/0: both texts empty: 1; one of them: 0.
    """
    origin, hypothesis = item.origin.split(), item.hypothesis.split()
    values = []
    for reference in map(str.split, item.references):
        if not reference or not hypothesis:
            values.append(float(not reference and not hypothesis))
            continue
        # As the authors' script does for single sentences.
        statistics = _statistics(origin, reference, hypothesis)
        values.append(_value([count or 1 for count in statistics]))
    return Value(fmean(values))


def corpus_gleu(
    origins: Sequence[str],
    references: Sequence[Sequence[str]],
    hypotheses: Sequence[str],
    rounds: int = ROUNDS,
) -> float:
    """GLEU of a corpus: the mean over rounds, in each of which chance picks one reference per text.

    - ``origins``, ``hypotheses``: tokenised texts, tokens between white space.
    - ``references``: for each text the same number of references.
    - ``rounds``: round j is seeded with 101 j, as in the authors' script: the value is
      reproducible.

    Returns: in [0, 1]; not smoothed: a count of 0 over the whole corpus makes it 0.

    Raises OptionError on lists of different lengths, or texts with different numbers of references.
    """
    sizes = {len(texts) for texts in references}
    if not len(origins) == len(references) == len(hypotheses) or len(sizes) != 1 or 0 in sizes:
        raise OptionError(
            "GLEU needs one origin, hypothesis and the same number of references each"
        )
    several = sizes.pop()
    statistics = [
        [_statistics(origin.split(), text.split(), hypothesis.split()) for text in texts]
        for origin, texts, hypothesis in zip(origins, references, hypotheses, strict=True)
    ]
    values = []
    for seed in range(rounds):
        chance = Random(101 * seed)  # noqa: S311 (a sample, no secret)
        drawn = (by_reference[chance.randint(0, several - 1)] for by_reference in statistics)
        values.append(_value([sum(column) for column in zip(*drawn, strict=True)]))
    return fmean(values)


def _statistics(origin: list[str], reference: list[str], hypothesis: list[str]) -> Statistics:
    statistics = [len(hypothesis), len(reference)]
    for order in ORDERS:
        ours, theirs = grams(hypothesis, order), grams(reference, order)
        source = grams(origin, order)
        for gram in source.keys() & theirs.keys():
            del source[gram]
        statistics.append(max(0, (ours & theirs).total() - (ours & source).total()))
        statistics.append(max(0, len(hypothesis) + 1 - order))
    return statistics


MEASURES = (
    Measure(
        score=gleu,
        source="Napoles, Sakaguchi, Post, Tetreault 2015",
        key="gleu|form:napoles2015|n:4|case:mixed|tok:space|smooth:1|0/0:1|v:1",
        needs_origin=True,
        several="mean",
    ),
)
