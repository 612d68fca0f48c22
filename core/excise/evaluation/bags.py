"""Texts as bags of tokens: Jaccard, the cosine of TF-IDF, and CrystalBLEU."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import islice
from math import log, sqrt

from excise.evaluation.base import Item, Measure, Value, best
from excise.evaluation.ngrams import Grams, geometric, grams, ratio

ORDERS = (1, 2, 3, 4)
TRIVIAL = 500
"""How many of a corpus' most frequent n-grams CrystalBLEU ignores: the k of its paper."""

_TOKEN = re.compile(r"\w+|[^\w\s]")


def jaccard(item: Item) -> Value:
    """Jaccard's index of two multisets of tokens: what is shared over what either has. In [0, 1].

    Words and single other characters, case kept. The best reference counts. 0/0: no tokens on
    either side: 1.
    """
    ours = _bag(item.hypothesis)

    def score(reference: str) -> float:
        theirs = _bag(reference)
        every = (ours | theirs).total()
        return (ours & theirs).total() / every if every else 1.0

    return best(item.references, score)


def tfidf(item: Item) -> Value:
    """Cosine of the TF-IDF vectors of hypothesis and reference. In [0, 1].

    Tokens as in `jaccard`; tf is the count, idf is ln(4 / (1 + df)) + 1, where df is how many of
    origin, reference and hypothesis have the token. (No corpus: a value does not depend on other
    outputs.) The best reference counts. 0/0: no tokens on either side: 1; on one: 0.
    """
    origin, ours = _bag(item.origin), _bag(item.hypothesis)

    def score(reference: str) -> float:
        theirs = _bag(reference)
        if not ours or not theirs:
            return float(ours == theirs)
        seen = Counter(token for text in (origin, ours, theirs) for token in text)
        idf = {token: log(4 / (1 + count)) + 1 for token, count in seen.items()}
        product, by_us, by_them = (
            sum(one[token] * other[token] * idf[token] ** 2 for token in one)
            for one, other in ((ours, theirs), (ours, ours), (theirs, theirs))
        )
        return min(1.0, product / sqrt(by_us * by_them))

    return best(item.references, score)


def crystalbleu(item: Item, trivial: Collection[tuple[str, ...]]) -> Value:
    """CrystalBLEU (Eghbali and Pradel 2022): BLEU without trivially shared n-grams. In [0, 1].

    These are the `TRIVIAL` most frequent n-grams of a corpus, of the orders 1 to 4. Tokens as in
    `jaccard`; not smoothed. Several references clip together. 0/0: an order of which nothing is
    left on either side is dropped (the authors' code: 0); none left: 1 if the tokens are equal.
    """
    references = [_TOKEN.findall(text) for text in item.references]
    hypothesis = _TOKEN.findall(item.hypothesis)
    shares = []
    for order in ORDERS:
        ours, *theirs = (
            Counter({gram: n for gram, n in grams(text, order).items() if gram not in trivial})
            for text in (hypothesis, *references)
        )
        most: Grams = Counter()
        for reference in theirs:
            most |= reference
        if ours or most:
            shares.append(ratio((ours & most).total(), ours.total()))
    if not shares or min(shares) <= 0:
        return Value(float(not shares and hypothesis in references))
    nearest = min(map(len, references), key=lambda size: (abs(size - len(hypothesis)), size))
    return Value(geometric(shares, len(hypothesis), nearest))


def trivial_ngrams(lines: Iterable[str]) -> frozenset[tuple[str, ...]]:
    """Return the `TRIVIAL` most frequent n-grams of a corpus (of equals, the first by name)."""
    counts: Grams = Counter()
    last: list[str] = []
    for line in lines:
        tokens = _TOKEN.findall(line)
        for order in ORDERS:  # across the ends of lines, each n-gram once
            start = max(0, len(last) + 1 - order)
            counts.update(grams([*last[start:], *tokens], order))
        last = [*last, *tokens][-ORDERS[-2] :]
    ordered = sorted(counts, key=lambda gram: (-counts[gram], gram))
    return frozenset(islice(ordered, TRIVIAL))


def _bag(text: str) -> Counter[str]:
    return Counter(_TOKEN.findall(text))


MEASURES = (
    Measure(
        score=jaccard,
        source="Jaccard 1901, on multisets",
        key="jaccard|tok:word|case:mixed|0/0:1|v:1",
    ),
    Measure(
        score=tfidf,
        source="Salton, Buckley 1988; idf of three texts",
        key="tfidf|tok:word|case:mixed|idf:item|smooth:yes|0/0:1|v:1",
        needs_origin=True,
    ),
    Measure(
        score=crystalbleu,
        source="Eghbali, Pradel 2022",
        key=f"crystalbleu|n:4|k:{TRIVIAL}|tok:word|case:mixed|smooth:no|0/0:1|v:1",
        several="joint",
        resource="trivial",
    ),
)
