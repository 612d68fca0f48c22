"""Correlations on real outputs, against a slow second implementation of the definition.

The figures were computed from the definition alone, before this code was; they hold for the texts
without comments. B != O compares the texts as they came, but for white space around them.
"""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest
from scipy import stats
from tests.known_figures import KNOWN

from excise.evaluation import Item, measure

pytestmark = pytest.mark.slow

# All measures of three files; of the fourth one, which is long, only one.
MANY = "hef_python_many_models_dev.jsonl.gz"
FIGURES = KNOWN | {MANY: {"es-nested": KNOWN[MANY]["es-nested"]}}


def rows(path):
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8", newline="\n") as file:
        return [json.loads(line) for line in file]


def pearson(values, labels, weights):
    weights = weights / weights.sum()
    x, y = values - weights @ values, labels - weights @ labels
    return weights @ (x * y) / np.sqrt((weights @ x**2) * (weights @ y**2))


@pytest.mark.parametrize("file", FIGURES)
def test_excision_score_correlates_with_the_tests_as_it_should(excise_data, file):
    outputs = rows(excise_data / "labelled" / file)
    language = outputs[0]["language"]
    items = {row["id"]: row for row in rows(excise_data / f"humanevalfix_{language}.jsonl")}
    texts = [(items[row["id"]], row["revision"]) for row in outputs]
    read = [
        Item.of(
            origin=item["origin"],
            reference=item["reference"],
            hypothesis=revision,
            language=language,
            comments="drop",
        )
        for item, revision in texts
    ]
    changed = np.array([item["origin"].strip() != revision.strip() for item, revision in texts])
    labels = np.array([float(row["passed"]) for row in outputs])
    counts = np.array([float(row["count"]) for row in outputs])
    for name, expected in FIGURES[file].items():
        values = np.array([measure(name).of(item).value for item in read])
        found = (
            pearson(values, labels, counts),
            pearson(values, labels, np.ones(len(values))),
            pearson(values[changed], labels[changed], np.ones(changed.sum())),
        )
        assert found == pytest.approx(expected, abs=0.0005), name


# Tao et al. 2021, human evaluation of 100 pairs: Pearson and Spearman with the mean rating.
MESSAGES = {"bleu-norm": (0.6966, 0.6229), "bleu-cc": (0.5715, 0.5461)}


@pytest.mark.parametrize("name", MESSAGES)
def test_the_bleus_of_commit_messages_correlate_as_published(excise_data, name):
    """B-Moses is not here: its Spearman is met (.1970), its Pearson is .2378 beside .2444."""
    pairs = rows(excise_data / "commit_messages_100.jsonl")
    values = np.array(
        [
            measure(name)(origin="", reference=row["reference"], hypothesis=row["prediction"]).value
            for row in pairs
        ]
    )
    ratings = np.array([np.mean(row["ratings"]) for row in pairs])
    found = (stats.pearsonr(values, ratings)[0], stats.spearmanr(values, ratings)[0])
    assert found == pytest.approx(MESSAGES[name], abs=0.00006)
