"""The protocol ``commit-messages``: measures beside ratings, with and without their factors.

After "Evaluating Commit Message Generation: To BLEU Or Not To BLEU?" (Dey, Vinayakarao, Gupta,
Dechu 2022). Their table 1 asks for each factor (length, word order, semantics, case, punctuation,
smoothing) whether a measure agrees better with raters when it has it; `factors` computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from excise.evaluation.base import Synonyms
from excise.evaluation.message_bleu import tokens_bleu
from excise.evaluation.meteor import METEOR, NEXT, PUNCTUATION, Parameters, score_words
from excise.evaluation.ngrams import f1, grams
from excise.evaluation.rouge import rouge_l
from excise.evaluation.statistics import pearson, spearman
from excise.evaluation.translation import sacrebleu_metric
from excise_server.evaluation.run import Document
from excise_server.evaluation.tables import number_text, plain_table
from excise_server.foundation.inputs import SourceError
from excise_server.records.outputs import Record, read_label, read_record

__all__ = ["METRICS", "UNITS", "Choices", "Effect", "factor_report", "factors"]
__all__ += ["read_pair"]

UNITS = ("character", "word")
FACTORS = ("length", "word order", "semantics", "case", "punctuation", "smoothing")


class Choices(NamedTuple):
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
        Whether ASCII punctuation is kept (and if not, not replaced by a space).
    """

    unit: str = "character"
    length: bool = True
    order: bool = True
    semantics: bool = True
    fold: bool | None = None
    punctuation: bool = True


Agreement = tuple[float | None, float | None]
"""Spearman's rho and Pearson's r, None where undefined."""

Score = Callable[[str, str, Choices, Synonyms | None], float]


class Effect(NamedTuple):
    """Agreement of a measure with the ratings, without and with each factor that it has."""

    metric: str
    clean: Agreement
    factors: Mapping[str, tuple[Agreement, Agreement]]


def read_pair(number: int, value: Mapping[str, Any]) -> Record:
    """Read ``{"id", "prediction", "reference", "ratings"}`` as a record without an origin.

    Its label is the mean of the ratings.
    """
    if "prediction" not in value:
        raise SourceError("'prediction' is missing")
    ratings = value.get("ratings")
    if not isinstance(ratings, list) or not ratings:
        raise SourceError("'ratings' is not a list of at least one number")
    grades = [grade for rating in ratings if (grade := read_label(rating)) is not None]
    if len(grades) < len(ratings):
        raise SourceError("'ratings' holds null")
    record = {key: field for key, field in value.items() if key in ("id", "reference", "count")}
    record |= {"origin": "", "hypothesis": value["prediction"], "label": fmean(grades)}
    return read_record(number, record)


# --- the measures --------------------------------------------------------------------------------


def _bleu(smoothing: str) -> Score:
    def score(hypothesis: str, reference: str, choices: Choices, _: Synonyms | None) -> float:
        ours, theirs = (_text(text, choices) for text in (hypothesis, reference))
        split: Callable[[str], Sequence[str]] = list if choices.unit == "character" else str.split
        brevity = 0.0 if choices.length else None
        return tokens_bleu(split(ours), [split(theirs)], smoothing=smoothing, brevity=brevity)

    return score


def _meteor(parameters: Parameters) -> Score:
    def score(
        hypothesis: str, reference: str, choices: Choices, synonyms: Synonyms | None
    ) -> float:
        assert synonyms is not None
        ours, theirs = (_text(text, choices, True).split() for text in (hypothesis, reference))
        chosen = parameters if choices.order else parameters._replace(gamma=0.0)
        stages = 3 if choices.semantics else 1
        return score_words(ours, theirs, chosen, synonyms, stages)

    return score


def _rouge(size: int) -> Score:
    """Return ROUGE of n-grams of a size, or of the longest common subsequence (0)."""

    def score(hypothesis: str, reference: str, choices: Choices, _: Synonyms | None) -> float:
        ours, theirs = (_text(text, choices).split() for text in (hypothesis, reference))
        if not ours or not theirs:
            return float(ours == theirs)
        if not size:
            return rouge_l(theirs, ours)
        a, b = grams(ours, size), grams(theirs, size)
        return f1((a & b).total(), a.total(), b.total())

    return score


def _ter(hypothesis: str, reference: str, choices: Choices, _: Synonyms | None) -> float:
    ours, theirs = (_text(text, choices) for text in (hypothesis, reference))
    rate: float = sacrebleu_metric("TER", case_sensitive=True).sentence_score(ours, [theirs]).score
    return rate / 100


def _text(text: str, choices: Choices, folds: bool = False) -> str:
    if not choices.punctuation:
        text = text.translate(PUNCTUATION)
    return text.lower() if (folds if choices.fold is None else choices.fold) else text


METRICS: Mapping[str, Score] = {
    "bleu4": _bleu("none"),
    "bleu-norm": _bleu("plus-one"),
    "bleu-cc": _bleu("neighbours"),
    "meteor": _meteor(METEOR),
    "meteor-next": _meteor(NEXT),
    "rouge1": _rouge(1),
    "rouge2": _rouge(2),
    "rougeL": _rouge(0),
    "ter": _ter,
    "log-mnext": _meteor(NEXT._replace(spare_equal=True)),
}
_BLEUS = frozenset({"bleu4", "bleu-norm", "bleu-cc"})
_METEORS = frozenset({"meteor", "meteor-next", "log-mnext"})


# --- the table -----------------------------------------------------------------------------------


def factors(
    pairs: Sequence[Record], synonyms: Synonyms | None = None, unit: str = "character"
) -> tuple[Effect, ...]:
    """Correlate every measure with the ratings, without and with each factor.

    The first of several references counts. Without synonyms, METEOR and its kin are left out. The
    sign of TER, a distance, is reversed.
    """
    names = [name for name in METRICS if synonyms is not None or name not in _METEORS]
    return tuple(_effect(name, pairs, synonyms, unit) for name in names)


def _effect(name: str, pairs: Sequence[Record], synonyms: Synonyms | None, unit: str) -> Effect:
    plain = name, Choices(unit=unit, punctuation=name != "log-mnext")
    known = {plain: _agreement(*plain, pairs, synonyms)}
    sides = {}
    for factor, variants in _variants(*plain).items():
        for variant in variants:
            if variant not in known:
                known[variant] = _agreement(*variant, pairs, synonyms)
        sides[factor] = known[variants[0]], known[variants[1]]
    return Effect(name, known[plain], sides)


Variant = tuple[str, Choices]


def _variants(name: str, choices: Choices) -> dict[str, tuple[Variant, Variant]]:
    """Return, for each factor of a measure, the variant without it and the variant with it."""
    plain, change = (name, choices), choices._replace
    variants: dict[str, tuple[Variant, Variant]] = {}
    if name in _BLEUS:
        variants["length"] = (name, change(length=False)), plain
    if name in _METEORS:
        variants["word order"] = (name, change(order=False)), plain
        variants["semantics"] = (name, change(semantics=False)), plain
    variants["case"] = (name, change(fold=False)), (name, change(fold=True))
    variants["punctuation"] = (name, change(punctuation=True)), (name, change(punctuation=False))
    if name in _BLEUS - {"bleu4"}:
        variants["smoothing"] = ("bleu4", choices), plain
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
    y = np.array([p.label for p in pairs], dtype=np.float64)
    weights = np.array([p.count for p in pairs], dtype=np.float64)
    return spearman(x, y, weights), pearson(x, y, weights)


def factor_report(
    pairs: Sequence[Record], synonyms: Synonyms | None
) -> tuple[list[RenderableType], Document]:
    """Return the effects of all factors by unit: of Spearman's rho for people, of both as JSON."""
    parts: list[RenderableType] = []
    document: Document = {}
    for unit in UNITS:
        effects = factors(pairs, synonyms, unit)
        table = plain_table("measure", "plain", *FACTORS, no_wrap=True)
        for effect in effects:
            cells = [
                " > ".join(number_text(side[0]).plain for side in effect.factors[factor])
                if factor in effect.factors
                else ""
                for factor in FACTORS
            ]
            table.add_row(effect.metric, number_text(effect.clean[0], "bold"), *cells)
        title = f"Spearman's rho with the ratings, without > with each factor (BLEU of {unit}s)"
        parts.append(Group(Text(), Text(title, "bold"), table))
        document[unit] = {
            effect.metric: {
                "plain": _both(effect.clean),
                **{
                    factor: {"without": _both(sides[0]), "with": _both(sides[1])}
                    for factor, sides in effect.factors.items()
                },
            }
            for effect in effects
        }
    return parts, {"factors": document}


def _both(values: Agreement) -> dict[str, float | None]:
    return {"spearman": values[0], "pearson": values[1]}
