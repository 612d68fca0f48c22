"""METEOR and its kin: words matched exactly, by stem and by synonym, less a penalty for scatter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from excise.evaluation.base import Item, Measure, Synonyms, Value, best
from excise.evaluation.ngrams import ratio

PUNCTUATION = str.maketrans("", "", "!()-[]{};:'\"\\,<>./?@#$%^&*_~")
"""What a measure without punctuation removes (and does not replace by a space)."""


class WordMatch(NamedTuple):
    """A matched word: its places, and the stage that found it (0 exact, 1 stem, 2 synonym)."""

    hypothesis: int
    reference: int
    stage: int


class Parameters(NamedTuple):
    """The choices of a METEOR.

    ``alpha`` weighs recall against precision; the penalty is ``gamma`` times the fragmentation to
    the power ``beta``; ``weights`` are those of the stages. ``punctuation``: whether it is kept.
    ``spare_equal``: whether equal texts go without penalty. ``stages``: how many of them match
    words. ``fold``: whether case is folded.
    """

    alpha: float
    beta: float
    gamma: float
    weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
    punctuation: bool = True
    spare_equal: bool = False
    stages: int = 3
    fold: bool = True


METEOR = Parameters(alpha=0.9, beta=3.0, gamma=0.5)
NEXT = Parameters(alpha=0.85, beta=2.35, gamma=0.45, weights=(1.0, 0.8, 0.6))
LOG_MNEXT = NEXT._replace(punctuation=False, spare_equal=True)


def align(
    hypothesis: Sequence[str], reference: Sequence[str], synonyms: Synonyms
) -> list[WordMatch]:
    """Match words in three stages, each from the last word to the first, as nltk does.

    Words left after the second stage enter the third as stems, as in nltk.
    """
    ours, theirs = list(enumerate(hypothesis)), list(enumerate(reference))
    matches, ours, theirs = _stage(ours, theirs, lambda word: (word,), 0)
    stem = _stemmer()
    ours, theirs = ([(index, stem(word)) for index, word in side] for side in (ours, theirs))
    by_stem, ours, theirs = _stage(ours, theirs, lambda word: (word,), 1)
    by_synonym, _, _ = _stage(ours, theirs, lambda word: {word, *synonyms(word)}, 2)
    return sorted(matches + by_stem + by_synonym)


Words = list[tuple[int, str]]


def _stage(
    ours: Words, theirs: Words, same: Callable[[str], Collection[str]], stage: int
) -> tuple[list[WordMatch], Words, Words]:
    """Match each of our words with the last free one of theirs that has the same meaning."""
    places: dict[str, list[int]] = defaultdict(list)
    for index, word in theirs:
        places[word].append(index)
    matches = []
    for index, word in reversed(ours):
        free = [places[synonym] for synonym in same(word) if places.get(synonym)]
        if free:
            matches.append(
                WordMatch(index, max(free, key=lambda indices: indices[-1]).pop(), stage)
            )
    used_ours, used_theirs = ({match[side] for match in matches} for side in (0, 1))
    return (
        matches,
        [pair for pair in ours if pair[0] not in used_ours],
        [pair for pair in theirs if pair[0] not in used_theirs],
    )


def score(hypothesis: str, reference: str, choices: Parameters, synonyms: Synonyms) -> float:
    """Return the METEOR of two texts under given choices, in [0, 1]."""
    texts = [hypothesis, reference]
    if not choices.punctuation:
        texts = [text.translate(PUNCTUATION) for text in texts]
    if choices.fold:
        texts = [text.lower() for text in texts]
    ours, theirs = (text.split() for text in texts)
    if not ours and not theirs:
        return 1.0
    matches = [match for match in align(ours, theirs, synonyms) if match.stage < choices.stages]
    if not matches:
        return 0.0
    weight = sum(choices.weights[match.stage] for match in matches)
    precision, recall = weight / len(ours), weight / len(theirs)
    mean = ratio(precision * recall, choices.alpha * precision + (1 - choices.alpha) * recall)
    if choices.spare_equal and ours == theirs:
        return mean
    # Runs of words that are adjacent on both sides.
    chunks = 1 + sum(
        (b.hypothesis - a.hypothesis, b.reference - a.reference) != (1, 1)
        for a, b in pairwise(matches)
    )
    fragmentation: float = (chunks / len(matches)) ** choices.beta
    return mean * (1 - choices.gamma * fragmentation)


@cache
def _stemmer() -> Callable[[str], str]:
    from nltk.stem.porter import PorterStemmer

    return lru_cache(maxsize=100_000)(PorterStemmer().stem)


def _best(item: Item, synonyms: Synonyms, choices: Parameters) -> Value:
    return best(item.references, lambda text: score(item.hypothesis, text, choices, synonyms))


def meteor(item: Item, synonyms: Synonyms) -> Value:
    """METEOR (Banerjee and Lavie 2005, parameters of nltk). In [0, 1].

    Words between white space in lower case, matched exactly, then by Porter stem, then by WordNet;
    F with alpha = .9, less .5 (chunks / matches)^3. Equal texts of m words score 1 - .5 / m^3.
    The best reference counts. 0/0: both without words: 1; one of them, or no match: 0.
    """
    return _best(item, synonyms, METEOR)


def meteor_next(item: Item, synonyms: Synonyms) -> Value:
    """METEOR-NEXT (Denkowski and Lavie 2010, parameters of Dey et al. 2022). In [0, 1].

    As `meteor`, with alpha .85, beta 2.35, gamma .45, and weights 1, .8 and .6 of the stages. No
    paraphrase tables: WordNet stands for them. 0/0 as there.
    """
    return _best(item, synonyms, NEXT)


def log_mnext(item: Item, synonyms: Synonyms) -> Value:
    """Log-MNEXT (Dey et al. 2022), for commit messages; no logarithm is in it. In [0, 1].

    As `meteor_next`, without ASCII punctuation (removed, not split), and without penalty where
    both texts have equal words: they score 1. 0/0 as there.
    """
    return _best(item, synonyms, LOG_MNEXT)


def _key(name: str, choices: Parameters) -> str:
    weights = "/".join(f"{weight:g}" for weight in choices.weights)
    return (
        f"{name}|a:{choices.alpha:g}|b:{choices.beta:g}|g:{choices.gamma:g}|w:{weights}|case:lc"
        f"|tok:space|punct:{'yes' if choices.punctuation else 'no'}|stem:porter"
        f"|equal:{'spared' if choices.spare_equal else 'penalised'}|0/0:1|v:1"
    )


MEASURES = tuple(
    Measure(
        score=function,
        source=source,
        key=_key(name, choices),
        package="nltk",
        resource="synonyms",
    )
    for name, function, source, choices in (
        ("meteor", meteor, "Banerjee, Lavie 2005", METEOR),
        ("meteor-next", meteor_next, "Denkowski, Lavie 2010; Dey et al. 2022", NEXT),
        ("log-mnext", log_mnext, "Dey, Vinayakarao, Gupta, Dechu 2022", LOG_MNEXT),
    )
)
