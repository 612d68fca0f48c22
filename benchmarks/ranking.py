"""What the ranking is worth: how often its top pick passes the tests (docs/ranking.md).

``EXCISE_DATA=DIR python benchmarks/ranking.py [--seeds 20] [--voices 5]`` prints the tables as
Markdown; with ``--by-voices`` it prints that of the first set by the number of revisions alone.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
from ranking_sets import Draw, Item, agents, draws, outputs

import excise

Floats = npt.NDArray[np.float64]
Rule = Callable[[Draw], Floats]
Verdicts = dict[str, float]
"""Share of passing top picks, by item."""

PYTHON = "humanevalfix_python.jsonl"
MAIN = "many models"
LABELLED = {
    MAIN: ("hef_python_many_models_dev.jsonl.gz", PYTHON),
    "OctoCoder": ("hef_python_octocoder.jsonl", PYTHON),
    "Astraios": ("hef_python_astraios.jsonl", PYTHON),
    "Astraios, Java": ("hef_java_astraios.jsonl", "humanevalfix_java.jsonl"),
}
AGENTS = "agents' patches"
NEVER = 1e6
VOICES = (2, 3, 5, 8, 12, 16)
RESAMPLES = 2000
GRID = tuple(product((0, 1, 2, 3, 4, 5, 6), (1, 2, 4, 8), (1, 3, 6)))
"""Weights of agreement, slack and costs of broken syntax that the cross-validation tries."""


def consensus(values: Floats) -> Floats:
    """Return the mean similarity to the others."""
    means: Floats = (values.sum(axis=1) - np.diag(values)) / (len(values) - 1)
    return means


def es(draw: Draw) -> Floats:
    """Rank by agreement, as ES sees it."""
    return consensus(draw.matrix.values)


def nes(draw: Draw) -> Floats:
    """Rank by agreement, as the normalised edit similarity of whole texts sees it."""
    return consensus(draw.nes)


def size(draw: Draw) -> Floats:
    """Rank by the size of the edit in tokens."""
    return -np.array(draw.matrix.edit_sizes, dtype=np.float64)


def broken(draw: Draw) -> Floats:
    """Return 1 where the syntax is broken."""
    return np.array(draw.matrix.syntax_errors, dtype=np.float64)


def idle(draw: Draw) -> Floats:
    """Return 1 where no token changed."""
    return np.array(draw.matrix.unchanged, dtype=np.float64)


def shipped(draw: Draw) -> Floats:
    """Rank as the library does."""
    places = np.zeros(len(draw.passed))
    for ranked in excise.rank(draw.matrix):
        places[ranked.index] = -ranked.rank
    return places


def formula(
    draw: Draw, agreement: float = 3, slack: float = 4, cost: float = 3, power: float = 1
) -> Floats:
    """Return the shipped formula with other weights."""
    agreed = consensus(draw.matrix.values**power)
    score: Floats = agreement * agreed - np.log(slack - size(draw)) - cost * broken(draw)
    return np.round(score - NEVER * idle(draw), 9)


RULES: dict[str, Rule] = {
    "random (expected)": lambda draw: np.zeros(len(draw.passed)),
    "ES consensus": es,
    "NES consensus": nes,
    "smallest edit": size,
    "smallest edit, syntax errors last": lambda draw: size(draw) - NEVER * broken(draw),
    "3.35 ES consensus - 1.09 log(1 + size)": lambda d: 3.35 * es(d) - 1.09 * np.log1p(-size(d)),
    "the same + 2.3 NES consensus": (
        lambda d: 3.35 * es(d) - 1.09 * np.log1p(-size(d)) + 2.3 * nes(d)
    ),
    "**`excise.rank`**": shipped,
    "best possible": lambda draw: draw.passed.astype(np.float64),
}
VARIANTS: dict[str, Rule] = {
    "without agreement": lambda draw: formula(draw, agreement=0),
    "without size": lambda d: np.round(3 * es(d) - 3 * broken(d) - NEVER * idle(d), 9),
    "without syntax errors": lambda draw: formula(draw, cost=0),
    "unchanged tokens not last": lambda draw: formula(draw) + NEVER * idle(draw),
    "log(1 + size)": lambda draw: formula(draw, slack=1),
    "agreement weighs 2": lambda draw: formula(draw, agreement=2),
    "agreement weighs 5": lambda draw: formula(draw, agreement=5),
    "mean of squared similarities": lambda draw: formula(draw, power=2),
    "most similar other alone": lambda d: formula(d, 0) + 3 * np.sort(d.matrix.values, 1)[:, -2],
    "+ 4 NES consensus": lambda draw: formula(draw) + 4 * nes(draw),
}


def verdicts(rule: Rule, drawn: Iterable[Draw]) -> Verdicts:
    """Return how often the top pick passes; of tied ones each is picked as often."""
    found: dict[str, list[float]] = defaultdict(list)
    for draw in drawn:
        scores = rule(draw)
        found[draw.item].append(float(draw.passed[scores >= scores.max() - 1e-9].mean()))
    return {item: float(np.mean(passes)) for item, passes in found.items()}


def interval(passes: Iterable[float]) -> str:
    """Return the mean and its 95 % interval, items resampled."""
    values = np.array(list(passes))
    chance = np.random.default_rng(7)
    means = values[chance.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return f"{values.mean():.3f} [{low:.3f}, {high:.3f}]".replace("0.", ".")


def cross_validated(drawn: list[Draw], folds: int = 10) -> str:
    """Choose the weights on nine tenths of the items, measure on the tenth, in turn."""
    tried = [verdicts(lambda d, w=w: formula(d, *w), drawn) for w in GRID]  # type: ignore[misc]
    items = list(tried[0])
    passes = np.array([[found[item] for item in items] for found in tried])
    total, chosen = np.zeros(len(items)), []
    for fold in range(folds):
        held = np.arange(len(items)) % folds == fold
        best = int(passes[:, ~held].mean(axis=1).argmax())
        total[held] = passes[best][held]
        chosen.append(GRID[best])
    return f"{interval(total)}; chosen (agreement, slack, cost): {sorted(set(chosen))}"


def table(title: str, rules: dict[str, Rule], sets: dict[str, list[Draw]], against: bool) -> None:
    """Print rules by sets; `against`: how much more often the shipped rule's pick passes."""
    ours = {name: verdicts(shipped, drawn) for name, drawn in sets.items()}
    print(f"\n| {title} | {' | '.join(sets)} |\n|{'---|' * (len(sets) + 1)}")
    for label, rule in rules.items():
        cells = []
        for name, drawn in sets.items():
            found = verdicts(rule, drawn)
            gains = [ours[name][item] - found[item] for item in found]
            cells.append(interval(gains if against else found.values()))
        print(f"| {label} | {' | '.join(cells)} |")


def report(items: dict[str, dict[str, Item]], seeds: int, distinct: bool, voices: int) -> None:
    """Print everything about one way of drawing."""
    sets = {name: list(draws(found, seeds, distinct, voices)) for name, found in items.items()}
    kind = "Distinct texts" if distinct else "As models answer"
    print(f"\n## {kind}, {seeds} seeds, {voices} voices\n")
    for name, drawn in sets.items():
        print(f"- {name}: {len({d.item for d in drawn})} items, {len(drawn):,} draws")
    table("top pick passes", RULES, sets, against=False)
    others = {label: rule for label, rule in RULES.items() if rule is not shipped}
    table("`excise.rank` gains over", others, sets, against=True)
    table("variant", VARIANTS, sets, against=False)
    table("`excise.rank` gains over variant", VARIANTS, sets, against=True)
    print(f"\nCross-validated on {MAIN}: {cross_validated(sets[MAIN])}")


def by_voices(items: dict[str, Item], seeds: int) -> None:
    """Print how often the top pick passes with more and more revisions of an item."""
    drawn = {voices: list(draws(items, seeds, False, voices)) for voices in VOICES}
    print(f"| rule | {' | '.join(map(str, VOICES))} |\n|{'---|' * (len(VOICES) + 1)}")
    for label, rule in RULES.items():
        means = (np.mean(list(verdicts(rule, drawn[voices]).values())) for voices in VOICES)
        print(f"| {label} | {' | '.join(f'{mean:.3f}'.lstrip('0') for mean in means)} |")


def main() -> None:
    """Read the sets and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--voices", type=int, default=5, help="revisions drawn of an item")
    parser.add_argument("--by-voices", action="store_true", help=f"{VOICES} revisions, {MAIN}")
    asked = parser.parse_args()
    if not (named := os.environ.get("EXCISE_DATA")):
        parser.error("EXCISE_DATA must name the folder that holds humanevalfix_*.jsonl")
    folder = Path(named)
    if asked.by_voices:
        by_voices(outputs(folder, *LABELLED[MAIN]), asked.seeds)
        return
    items = {name: outputs(folder, *files) for name, files in LABELLED.items()}
    items[AGENTS] = agents(folder)
    for distinct in (False, True):
        report(items, asked.seeds, distinct, asked.voices)


if __name__ == "__main__":
    main()
