"""SARI in two forms: the original script's, and EASSE's.

They differ by some points on one sentence (.268 and .3135 on the original's own example), so they
are two measures with two names. Both have 0/0 = 0, so an exact reproduction of a reference that
adds nothing scores less than 1. Excision Score drops an operation that is not defined instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from statistics import fmean

from excise.errors import OptionError
from excise.evaluation.base import Item, Measure, Value
from excise.evaluation.ngrams import Grams, f1, grams, harmonic, ratio
from excise.evaluation.translation import SACREBLEU, sacrebleu_tokens

ORDERS = (1, 2, 3, 4)
Counts = tuple[Grams, Grams, Grams]
"""N-grams of one order: of origin and hypothesis once per reference, and of all references."""


def sari(item: Item) -> Value:
    """SARI of Xu et al. 2016 as their SARI.py computes it. In [0, 1].

    Lower case; tokens between white space (the script splits at single spaces, which is the same
    on its tokenised sentences). Keep and delete: each n-gram's ratio, averaged over the distinct
    n-grams; origin and hypothesis count once per reference. Add: distinct n-grams. F for keep and
    add, precision for delete, each averaged over n = 1..4. 0/0 = 0.
    """
    values = []
    for counts in _by_order(item, str.split):
        origin, hypothesis, references = counts
        kept, kept_by_references = origin & hypothesis, origin & references
        by_both, deleted = kept & references, origin - hypothesis
        keep = harmonic(_mean_share(by_both, kept), _mean_share(by_both, kept_by_references))
        values.append((keep, f1(*_new(counts)), _mean_share(deleted - references, deleted)))
    return Value(fmean(fmean(operation) for operation in zip(*values, strict=True)))


def sari_easse(item: Item) -> Value:
    """SARI as EASSE has it (Alva-Manchego et al. 2019), which EditEval uses. In [0, 100].

    Lower case, 13a tokens of sacrebleu. Counts are summed over the n-grams of an order before they
    are divided; F for all three operations, averaged over n = 1..4. 0/0 = 0.
    """
    return Value(_of_sums(_sums(item)))


def corpus_sari_easse(items: Iterable[Item]) -> float:
    """SARI of a corpus as EASSE has it: counts are summed over all texts first. In [0, 100].

    It is not the mean of the texts' SARI. Texts may have different numbers of references.

    Raises OptionError without any item.
    """
    every = [_sums(item) for item in items]
    if not every:
        raise OptionError("SARI of a corpus needs at least one text")
    return _of_sums([sum(column) for column in zip(*every, strict=True)])


def _by_order(item: Item, split: Callable[[str], list[str]]) -> Iterable[Counts]:
    texts = (item.origin, item.hypothesis, *item.references)
    origin, hypothesis, *references = [split(text.lower()) for text in texts]
    for order in ORDERS:
        by_references: Grams = Counter()
        for reference in references:
            by_references.update(grams(reference, order))
        of_origin, of_hypothesis = (
            Counter({gram: n * len(references) for gram, n in grams(tokens, order).items()})
            for tokens in (origin, hypothesis)
        )
        yield of_origin, of_hypothesis, by_references


def _new(counts: Counts) -> tuple[int, int, int]:
    """Count the distinct n-grams that are new: in both, the hypothesis, the references."""
    origin, hypothesis, references = (one.keys() for one in counts)
    by_hypothesis, by_references = hypothesis - origin, references - origin
    return len(by_hypothesis & by_references), len(by_hypothesis), len(by_references)


def _mean_share(part: Grams, whole: Grams) -> float:
    """Average the share of each distinct n-gram of the whole that the part has."""
    return ratio(sum(count / whole[gram] for gram, count in part.items()), len(whole))


def _sums(item: Item) -> list[int]:
    """Return the counts of EASSE: keep, add, delete at each order, three numbers for each."""
    sums: list[int] = []
    for counts in _by_order(item, partial(sacrebleu_tokens, kind="13a")):
        origin, hypothesis, references = counts
        sums += _totals(origin & hypothesis, origin & references)
        sums += _new(counts)
        sums += _totals(origin - hypothesis, origin - references)
    return sums


def _totals(by_hypothesis: Grams, by_references: Grams) -> tuple[int, int, int]:
    shared = by_hypothesis & by_references
    return shared.total(), by_hypothesis.total(), by_references.total()


def _of_sums(sums: list[int]) -> float:
    return 100 * fmean(f1(*sums[index : index + 3]) for index in range(0, len(sums), 3))


MEASURES = (
    Measure(
        score=sari,
        source="Xu, Napoles, Pavlick, Chen, Callison-Burch 2016",
        key="sari|form:original|del:p|n:4|case:lc|tok:space|0/0:0|v:1",
        needs_origin=True,
        several="joint",
    ),
    Measure(
        name="sari-easse",
        score=sari_easse,
        source="Alva-Manchego, Martin, Scarton, Specia 2019 (EASSE)",
        key="sari|form:easse|del:f1|n:4|case:lc|tok:13a|0/0:0|scale:100|v:1",
        high=100.0,
        needs_origin=True,
        several="joint",
        package=SACREBLEU,
    ),
)
