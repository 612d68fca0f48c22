"""Measures of commit messages compared with ratings, with and without each of their factors.

After "Evaluating Commit Message Generation: To BLEU Or Not To BLEU?" (Dey, Vinayakarao, Gupta,
Dechu 2022). Their table 1 asks for each factor (length, word order, semantics, case, punctuation,
smoothing) whether a measure agrees better with raters when it has it; `factors` computes it.

Over 300 lines: the measures differ only in these factors, and stand beside each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from excise.errors import OptionError
from excise.evaluation.base import Synonyms
from excise.evaluation.data import Record, RecordError, read_record
from excise.evaluation.message_bleu import tokens_bleu
from excise.evaluation.meteor import METEOR, NEXT, Match, Parameters, align
from excise.evaluation.ngrams import grams, harmonic, ratio
from excise.evaluation.statistics import pearson, spearman

if TYPE_CHECKING:
    from sacrebleu.metrics.ter import TER

__all__ = ["FACTORS", "METRICS", "UNITS", "Choices", "Effect", "factors", "read_pair"]

UNITS = ("character", "word")
FACTORS = ("length", "word order", "semantics", "case", "punctuation", "smoothing")

PUNCTUATION = str.maketrans("", "", "!()-[]{};:'\"\\,<>./?@#$%^&*_~")
"""What a measure without punctuation removes (and does not replace by a space)."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The factors that a measure takes into account.

    Attributes
    ----------
    unit
        What BLEU counts: ``character``, as the published figures do (their code handed texts, not
        words, to a library that takes sequences), or ``word``.
    length
        Whether BLEU punishes texts shorter than the reference.
    order
        Whether METEOR punishes matches that are scattered.
    semantics
        Whether METEOR matches stems and synonyms too.
    fold
        Whether case is folded; None: by the measure's default (METEOR folds, the others do not).
    punctuation
        Whether ASCII punctuation is kept.
    smoothing
        Of BLEU: ``none``, ``plus-one`` or ``neighbours``.
    """

    unit: str = "character"
    length: bool = True
    order: bool = True
    semantics: bool = True
    fold: bool | None = None
    punctuation: bool = True
    smoothing: str = "none"


@dataclass(frozen=True, slots=True)
class Effect:
    """Agreement of a measure with the ratings with and without a factor, the plain form first.

    Each value is Spearman's rho and Pearson's r, None where undefined. A factor that has no part in
    the measure is not in ``factors``.
    """

    metric: str
    clean: Agreement
    factors: Mapping[str, tuple[Agreement, Agreement]]


Agreement = tuple[float | None, float | None]
Score = Callable[[str, str, Choices, Synonyms | None], float]


def read_pair(value: Mapping[str, Any]) -> Record:
    """Read ``{"id", "prediction", "reference", "ratings"}`` as a record without an origin.

    Its label is the mean of the ratings.

    Raises
    ------
    RecordError
        If it has another shape.

    Examples
    --------
    >>> read_pair({"id": 1, "prediction": "a", "reference": "b", "ratings": [1, 2]}).label
    1.5
    """
    if "prediction" not in value:
        raise RecordError("'prediction' is missing")
    ratings = value.get("ratings")
    if not isinstance(ratings, list) or not ratings:
        raise RecordError("'ratings' is not a list of at least one number")
    grades = [read_record(_FILLED | {"label": rating}).label for rating in ratings]
    if None in grades:
        raise RecordError("'ratings' holds null")
    text = {"origin": "", "hypothesis": value["prediction"]}
    copied = {key: field for key, field in value.items() if key in ("id", "reference", "count")}
    return read_record(
        text | copied | {"label": fmean(grade for grade in grades if grade is not None)}
    )


_FILLED: dict[str, Any] = {"id": "", "origin": "", "reference": "", "hypothesis": ""}


# --- the measures --------------------------------------------------------------------------------


def _bleu(hypothesis: str, reference: str, choices: Choices, _synonyms: Synonyms | None) -> float:
    ours, theirs = (_text(text, choices, False) for text in (hypothesis, reference))
    brevity = 0.0 if choices.length else None
    split: Callable[[str], Sequence[str]] = list if choices.unit == "character" else str.split
    return tokens_bleu(split(ours), [split(theirs)], smoothing=choices.smoothing, brevity=brevity)


def _smoothed(smoothing: str) -> Score:
    return lambda hypothesis, reference, choices, none: _bleu(
        hypothesis, reference, replace(choices, smoothing=smoothing), none
    )


def _meteor(parameters: Parameters) -> Score:
    def score(
        hypothesis: str, reference: str, choices: Choices, synonyms: Synonyms | None
    ) -> float:
        if synonyms is None:
            raise OptionError("METEOR needs the synonyms of WordNet; none were handed in")
        ours, theirs = (_text(text, choices, True).split() for text in (hypothesis, reference))
        matches = align(ours, theirs, synonyms)
        if not choices.semantics:
            matches = [match for match in matches if match.stage == 0]
        return _f_with_penalty(matches, ours, theirs, parameters, choices.order)

    return score


def _f_with_penalty(
    matches: list[Match], ours: list[str], theirs: list[str], chosen: Parameters, order: bool
) -> float:
    if not matches:
        return float(not ours and not theirs)
    weight = sum(chosen.weights[match.stage] for match in matches)
    p, r = weight / len(ours), weight / len(theirs)
    mean = ratio(p * r, chosen.alpha * p + (1 - chosen.alpha) * r)
    if not order or (chosen.spare_equal and ours == theirs):
        return mean
    apart = [(b.hypothesis - a.hypothesis, b.reference - a.reference) for a, b in pairwise(matches)]
    chunks = 1 + sum(step != (1, 1) for step in apart)
    return mean * (1 - chosen.gamma * float((chunks / len(matches)) ** chosen.beta))


def _rouge(size: int) -> Score:
    def score(hypothesis: str, reference: str, choices: Choices, _: Synonyms | None) -> float:
        ours, theirs = (_text(text, choices, False).split() for text in (hypothesis, reference))
        if not ours and not theirs:
            return 1.0
        if not size:
            common = _common(ours, theirs)
            return harmonic(ratio(common, len(ours)), ratio(common, len(theirs)))
        a, b = grams(ours, size), grams(theirs, size)
        common = (a & b).total()
        return harmonic(ratio(common, a.total()), ratio(common, b.total()))

    return score


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two short lists of words."""
    row = [0] * (len(b) + 1)
    for word in a:
        before = row[:]
        for index, b_word in enumerate(b, start=1):
            row[index] = (
                before[index - 1] + 1 if word == b_word else max(before[index], row[index - 1])
            )
    return row[-1]


def _ter(hypothesis: str, reference: str, choices: Choices, _: Synonyms | None) -> float:
    ours, theirs = (_text(text, choices, False) for text in (hypothesis, reference))
    rate: float = _edit_rate().sentence_score(ours, [theirs]).score / 100
    return rate


@cache
def _edit_rate() -> TER:
    from sacrebleu.metrics.ter import TER

    return TER(case_sensitive=True)


def _text(text: str, choices: Choices, folds: bool) -> str:
    if not choices.punctuation:
        text = text.translate(PUNCTUATION)
    fold = folds if choices.fold is None else choices.fold
    return text.lower() if fold else text


_BLEUS = frozenset({"bleu4", "bleu-norm", "bleu-cc"})
_METEORS = frozenset({"meteor", "meteor-next", "log-mnext"})

METRICS: Mapping[str, Score] = {
    "bleu4": _bleu,
    "bleu-norm": _smoothed("plus-one"),
    "bleu-cc": _smoothed("neighbours"),
    "meteor": _meteor(METEOR),
    "meteor-next": _meteor(NEXT),
    "rouge1": _rouge(1),
    "rouge2": _rouge(2),
    "rougeL": _rouge(0),
    "ter": _ter,
    "log-mnext": _meteor(NEXT._replace(spare_equal=True)),
}


# --- the table -----------------------------------------------------------------------------------


def factors(
    pairs: Sequence[Record], synonyms: Synonyms | None = None, unit: str = "character"
) -> tuple[Effect, ...]:
    """Correlate every measure with the ratings, without and with each factor.

    Parameters
    ----------
    pairs
        Records from `read_pair`. The first of several references counts.
    synonyms
        Maps a word to its synonyms; None: METEOR and its kin are left out.
    unit
        The unit that BLEU counts: one of `UNITS`.

    Returns
    -------
    tuple of Effect
        In the order of `METRICS`. The sign of TER, a distance, is reversed.
    """
    if unit not in UNITS:
        raise OptionError(f"unit is {unit!r}; it must be one of {', '.join(UNITS)}")
    names = [name for name in METRICS if synonyms is not None or name not in _METEORS]
    return tuple(_effect(name, pairs, synonyms, unit) for name in names)


def _effect(name: str, pairs: Sequence[Record], synonyms: Synonyms | None, unit: str) -> Effect:
    plain = Choices(unit=unit, punctuation=name != "log-mnext")
    clean = _agreement(name, plain, pairs, synonyms)
    sides_by_factor = {}
    for factor, (without, included) in _variants(name, plain).items():
        sides = [
            clean
            if variant == (name, plain)
            else _agreement(variant[0], variant[1], pairs, synonyms)
            for variant in (without, included)
        ]
        sides_by_factor[factor] = (sides[0], sides[1])
    return Effect(name, clean, sides_by_factor)


Variant = tuple[str, Choices]


def _variants(name: str, plain: Choices) -> dict[str, tuple[Variant, Variant]]:
    """Return, for each factor of a measure, the variant without it and the variant with it."""
    variants: dict[str, tuple[Variant, Variant]] = {}
    if name in _BLEUS:
        variants["length"] = (name, replace(plain, length=False)), (name, plain)
    if name in _METEORS:
        variants["word order"] = (name, replace(plain, order=False)), (name, plain)
        variants["semantics"] = (name, replace(plain, semantics=False)), (name, plain)
    variants["case"] = (name, replace(plain, fold=False)), (name, replace(plain, fold=True))
    with_punctuation, without_punctuation = (
        replace(plain, punctuation=True),
        replace(plain, punctuation=False),
    )
    variants["punctuation"] = (name, with_punctuation), (name, without_punctuation)
    if name in _BLEUS - {"bleu4"}:
        variants["smoothing"] = ("bleu4", plain), (name, plain)
    return variants


def _agreement(
    name: str, choices: Choices, pairs: Sequence[Record], synonyms: Synonyms | None
) -> Agreement:
    measure = METRICS[name]
    sign = -1.0 if name == "ter" else 1.0
    x = np.array(
        [sign * measure(p.hypothesis, p.references[0], choices, synonyms) for p in pairs],
        dtype=np.float64,
    )
    y = np.array([np.nan if p.label is None else p.label for p in pairs], dtype=np.float64)
    weights = np.array([p.count for p in pairs], dtype=np.float64)
    return spearman(x, y, weights), pearson(x, y, weights)
