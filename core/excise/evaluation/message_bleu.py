"""The BLEU of single commit messages: without smoothing, smoothed, and averaged over orders.

The three that Tao et al. 2021 call B-Moses, B-Norm and B-CC. The parts are exposed, because what
papers print under these names differs in them: Dey et al. 2022 counted characters, not words.
"""

from __future__ import annotations

from collections.abc import Sequence

from excise.errors import OptionError
from excise.evaluation.base import Item, Measure, Value
from excise.evaluation.ngrams import Grams, geometric, grams, ratio
from excise.evaluation.translation import SACREBLEU, sacrebleu_tokens

ORDERS = (1, 2, 3, 4)
SMOOTHING = ("none", "plus-one", "neighbours")
CC_HIGH = (4 / 3 * 10 / 9 * 28 / 27 * 82 / 81) ** (1 / 4)
"""BLEU-CC of equal texts of five words or more: averaging with 2 for order 0 lifts it above 1."""


def tokens_bleu(
    hypothesis: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    smoothing: str = "none",
    brevity: float | None = 0.0,
) -> float:
    """Return the BLEU of one list of tokens.

    - ``hypothesis``, ``references``: tokens: words, or characters. References clip together; the
      length nearest to the hypothesis' counts, the shorter of two.
    - ``smoothing``: ``none``; ``plus-one``: (m + 1) / (l + 1) for orders above 1 (Lin and Och
      2004); ``neighbours``: each precision averaged with the averaged one below (1 + p_1 below the
      first) and the raw one above (Chen and Cherry 2014, method 5).
    - ``brevity``: added to both lengths in the penalty exp(1 - r / c); None: no penalty.

    Returns: in [0, 1]; with ``neighbours`` up to `CC_HIGH`. 0/0: no tokens on either side: 1. No
    token in common, or without smoothing an order without match: 0.
    """
    if smoothing not in SMOOTHING:
        raise OptionError(f"smoothing is {smoothing!r}; it must be one of {', '.join(SMOOTHING)}")
    if not hypothesis:
        return float(any(not reference for reference in references))
    counts = [_count(hypothesis, references, order) for order in (*ORDERS, len(ORDERS) + 1)]
    shares = _shares(counts, smoothing)
    if not counts[0][0] or min(shares) <= 0:
        return 0.0
    nearest = min(map(len, references), key=lambda size: (abs(size - len(hypothesis)), size))
    if brevity is None:
        return geometric(shares, 1, 1)
    return geometric(shares, len(hypothesis) + brevity, nearest + brevity)


def _count(
    hypothesis: Sequence[str], references: Sequence[Sequence[str]], order: int
) -> tuple[int, int]:
    """Return how many n-grams match, and how many there are."""
    ours = grams(hypothesis, order)
    most: Grams = grams((), order)
    for reference in references:
        most |= grams(reference, order)
    return (ours & most).total(), ours.total()


def _shares(counts: list[tuple[int, int]], smoothing: str) -> list[float]:
    raw = [ratio(match, total) for match, total in counts]
    if smoothing == "none":
        return raw[:-1]
    if smoothing == "plus-one":
        return [raw[0], *((match + 1) / (total + 1) for match, total in counts[1:-1])]
    smoothed = [raw[0] + 1]
    for index in range(len(ORDERS)):
        smoothed.append((smoothed[-1] + raw[index] + raw[index + 1]) / 3)
    return smoothed[1:]


def mteval_tokens(text: str) -> list[str]:
    """Return the tokens of NIST's mteval in lower case, by sacrebleu: punctuation apart.

    The point or comma inside a number stays.

    >>> mteval_tokens("Bump x to 1.2, (again)")
    ['bump', 'x', 'to', '1.2', ',', '(', 'again', ')']
    """
    return sacrebleu_tokens(f" {text.lower()} ", "mteval")


def bleu4(item: Item) -> Value:
    """BLEU-4 of one text without smoothing (B-Moses of Tao et al. 2021). In [0, 1].

    Words between white space, case kept. 0 where one of the orders 1 to 4 has no match, so for
    every text of fewer than four words. 0/0: no words on either side: 1.
    """
    references = [text.split() for text in item.references]
    return Value(tokens_bleu(item.hypothesis.split(), references))


def bleu_norm(item: Item) -> Value:
    """BLEU-Norm (B-Norm of Tao et al. 2021, after Loyola et al. 2017). In [0, 1].

    Lower case, mteval tokens, (m + 1) / (l + 1) for orders above 1, lengths of the penalty plus 1.
    0/0: no words on either side: 1.
    """
    references = [mteval_tokens(text) for text in item.references]
    hypothesis = mteval_tokens(item.hypothesis)
    return Value(tokens_bleu(hypothesis, references, smoothing="plus-one", brevity=1.0))


def bleu_cc(item: Item) -> Value:
    """BLEU-CC (B-CC of Tao et al. 2021; Chen and Cherry 2014, method 5). In [0, 1.1166].

    Words between white space, case kept; each precision averaged with its neighbours, which lifts
    equal texts above 1. 0/0: no words on either side: 1; no word in common: 0.
    """
    references = [text.split() for text in item.references]
    return Value(tokens_bleu(item.hypothesis.split(), references, smoothing="neighbours"))


MEASURES = (
    Measure(
        score=bleu4,
        source="Papineni et al. 2002; B-Moses of Tao et al. 2021",
        key="bleu4|n:4|case:mixed|tok:space|smooth:no|bp:plain|0/0:1|v:1",
        several="joint",
    ),
    Measure(
        score=bleu_norm,
        source="Loyola et al. 2017; B-Norm of Tao et al. 2021",
        key="bleu-norm|n:4|case:lc|tok:mteval|smooth:plus-one|bp:plus-one|0/0:1|v:1",
        several="joint",
        package=SACREBLEU,
    ),
    Measure(
        score=bleu_cc,
        source="Chen, Cherry 2014, method 5; B-CC of Tao et al. 2021",
        key="bleu-cc|n:4|case:mixed|tok:space|smooth:neighbours|bp:plain|0/0:1|v:1",
        high=CC_HIGH,
        several="joint",
    ),
)
