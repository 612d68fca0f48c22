"""The protocol ``commit-messages``: measures beside ratings, with and without their factors.

After "Evaluating Commit Message Generation: To BLEU Or Not To BLEU?" (Dey, Vinayakarao, Gupta,
Dechu 2022). Their table 1 asks for each factor (length, word order, semantics, case, punctuation,
smoothing) whether a measure agrees better with raters when it has it; `factors` computes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from rich.console import Group, RenderableType
from rich.text import Text

from excise.evaluation.base import Synonyms
from excise.evaluation.message_bleu import tokens_bleu
from excise.evaluation.meteor import METEOR, NEXT, PUNCTUATION, Parameters
from excise.evaluation.meteor import score as meteor_score
from excise.evaluation.ngrams import f1, grams
from excise.evaluation.rouge import rouge_l
from excise.evaluation.statistics import pearson, spearman
from excise.evaluation.translation import sacrebleu_metric
from excise_server.evaluation.run import Document
from excise_server.evaluation.tables import number_text, plain_table
from excise_server.foundation.inputs import SourceError
from excise_server.records.outputs import Record, read_label, read_record

UNITS = ("character", "word")
SIDES = ("without", "with")
FACTORS = ("length", "word order", "semantics", "case", "punctuation", "smoothing")


class Choices(NamedTuple):
    """The factors that a measure takes into account.

    - ``unit``: what BLEU counts: ``character``, as the published figures do (their code handed
      texts, not words, to a library that takes sequences), or ``word``.
    - ``length``: whether BLEU punishes texts shorter than the reference.
    - ``order``: whether METEOR punishes matches that are scattered.
    - ``semantics``: whether METEOR matches stems and synonyms too.
    - ``fold``: whether case is folded; None: by the measure's default (METEOR folds, the others do
      not).
    - ``punctuation``: whether ASCII punctuation is kept (and if not, not replaced by a space).
    """

    unit: str = "character"
    length: bool = True
    order: bool = True
    semantics: bool = True
    fold: bool | None = None
    punctuation: bool = True


Score = Callable[[str, str, Choices, Synonyms | None], float]


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
        chosen = parameters._replace(
            gamma=parameters.gamma if choices.order else 0.0,
            stages=3 if choices.semantics else 1,
            fold=choices.fold is not False,
            punctuation=choices.punctuation,
        )
        return meteor_score(hypothesis, reference, chosen, synonyms)

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


def _text(text: str, choices: Choices) -> str:
    if not choices.punctuation:
        text = text.translate(PUNCTUATION)
    return text.lower() if choices.fold else text


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

Variant = tuple[str, Choices]


def factors(
    pairs: Sequence[Record], synonyms: Synonyms | None = None, unit: str = "character"
) -> Document:
    """Correlate every measure with the ratings, without and with each factor.

    The first of several references counts. Without synonyms, METEOR and its kin are left out. The
    sign of TER, a distance, is reversed.

    Returns: ``{measure: {"plain": agreement, factor: {"without": agreement, "with": agreement}}}``,
    where an agreement is ``{"spearman": rho, "pearson": r}``, None where undefined.
    """
    y = np.array([pair.label for pair in pairs], dtype=np.float64)
    weights = np.array([pair.count for pair in pairs], dtype=np.float64)

    @cache
    def agreement(variant: Variant) -> dict[str, float | None]:
        name, choices = variant
        sign = -1.0 if name == "ter" else 1.0
        scores = (
            sign * METRICS[name](pair.hypothesis, pair.references[0], choices, synonyms)
            for pair in pairs
        )
        x = np.fromiter(scores, dtype=np.float64)
        return {"spearman": spearman(x, y, weights), "pearson": pearson(x, y, weights)}

    document = {}
    for name in METRICS:
        if synonyms is None and name in _METEORS:
            continue
        plain = name, Choices(unit=unit, punctuation=name != "log-mnext")
        document[name] = {"plain": agreement(plain)} | {
            factor: {"without": agreement(without), "with": agreement(having)}
            for factor, (without, having) in _variants(*plain).items()
        }
    return document


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


def factor_tables(by_unit: Document) -> Iterator[RenderableType]:
    """Yield the table of `factors` for each unit: Spearman's rho alone."""
    for unit, effects in by_unit.items():
        table = plain_table("measure", "plain", *FACTORS, no_wrap=True)
        for name, effect in effects.items():
            cells = [
                " > ".join(number_text(effect[factor][side]["spearman"]).plain for side in SIDES)
                if factor in effect
                else ""
                for factor in FACTORS
            ]
            table.add_row(name, number_text(effect["plain"]["spearman"], "bold"), *cells)
        title = f"Spearman's rho with the ratings, without > with each factor (BLEU of {unit}s)"
        yield Group(Text(), Text(title, "bold"), table)
