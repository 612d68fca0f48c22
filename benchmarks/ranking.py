"""What the order is worth: how often its first passes the tests (docs/ranking.md).

``EXCISE_DATA=DIR python benchmarks/ranking.py [--seeds 20] [--voices 5]`` prints the tables as
Markdown. Nothing is fitted: the rule has no constants.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
from evaluation import SETS
from ranking_sets import Draw, Item, agents, draws, instructions, outputs

import excise

Floats = npt.NDArray[np.float64]
Rule = Callable[[Draw], Floats]
Verdicts = dict[str, float]
"""Share of passing first picks, by item."""

LABELLED = {
    "many models": "many", "OctoCoder": "octocoder", "Astraios": "python", "Astraios, Java": "java"
}  # fmt: skip
RESAMPLES = 2000


def consensus(draw: Draw) -> Floats:
    """Rank by the mean similarity to the others."""
    sums: Floats = draw.matrix.values.sum(axis=1)
    return np.round(sums, 9)


def fewest(draw: Draw) -> Floats:
    """Rank by the number of tokens deleted and inserted."""
    return -np.array(draw.matrix.edit_sizes, dtype=np.float64)


def ranked(draw: Draw, intent: str) -> Floats:
    """Rank as the library does."""
    places = np.zeros(len(draw.passed))
    for entry in excise.rank(draw.matrix, intent=intent):
        places[entry.index] = -entry.rank
    return places


RULES: dict[str, Rule] = {
    "random (expected)": lambda draw: np.zeros(len(draw.passed)),
    "ES consensus": consensus,
    "fewest tokens": fewest,
    "**`excise.rank`, fix**": partial(ranked, intent="fix"),
    "**`excise.rank`, change**": partial(ranked, intent="change"),
    "best possible": lambda draw: draw.passed.astype(np.float64),
}


def first(rule: Rule, draw: Draw) -> float:
    """Return how often the first pick passes; of tied ones each is picked as often."""
    scores = rule(draw)
    return float(draw.passed[scores >= scores.max() - 1e-9].mean())


def verdicts(rule: Rule, drawn: Iterable[Draw]) -> Verdicts:
    """Return how often the first pick passes, by item."""
    found: dict[str, list[float]] = defaultdict(list)
    for draw in drawn:
        found[draw.item].append(first(rule, draw))
    return {item: float(np.mean(passes)) for item, passes in found.items()}


def interval(passes: Sequence[float]) -> str:
    """Return the mean and its 95 % interval, items resampled."""
    values = np.array(passes)
    chance = np.random.default_rng(7)
    means = values[chance.integers(0, len(values), (RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    shown = f"{values.mean():.3f} [{low:.3f}, {high:.3f}]"
    return re.sub(r"(?<!\d)0\.", ".", shown)


def table(sets: dict[str, list[Draw]], against: Rule | None = None) -> None:
    """Print rules by sets; `against`: how much more often its first pick passes."""
    base = {name: verdicts(against, drawn) for name, drawn in sets.items()} if against else {}
    for label, rule in RULES.items():
        if rule is against:
            continue
        cells = []
        for name, drawn in sets.items():
            found = verdicts(rule, drawn)
            cells.append(interval([base[name][i] - found[i] if base else found[i] for i in found]))
        print(f"| {label} | {' | '.join(cells)} |")


def by_count(drawn: Sequence[Draw], intent: str, voices: int) -> list[str]:
    """Return how often the first is right, by how many make its edit, and how often that is."""
    found: dict[str, list[float]] = {}
    for draw in drawn:
        ranking = excise.rank(draw.matrix, intent=intent)
        makers = ranking[0].makers
        row = "all" if makers == voices else str(makers) if makers < 3 else "3 or more"
        found.setdefault(row, []).append(first(partial(ranked, intent=intent), draw))
    rows = [found.get(row, []) for row in ("all", "3 or more", "2", "1")]
    return [f"{np.mean(row):.2f} ({len(row):,})".removeprefix("0") if row else "-" for row in rows]


def main() -> None:
    """Read the sets and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--voices", type=int, default=5, help="revisions drawn of an item")
    asked = parser.parse_args()
    items: dict[str, tuple[dict[str, Item], str]] = {
        name: (outputs(*SETS[key]), "fix") for name, key in LABELLED.items()
    }
    items["agents' patches"] = agents(), "fix"
    for how in ("descriptive", "lazy"):
        items[f"CanItEdit, {how}"] = instructions(f"instruction_{how}"), "change"
    sets = {
        name: list(draws(found, asked.seeds, asked.voices)) for name, (found, _) in items.items()
    }
    for name, drawn in sets.items():
        print(f"- {name}: {len({d.item for d in drawn})} items, {len(drawn):,} draws")
    head = f" | {' | '.join(sets)} |\n|{'---|' * (len(sets) + 1)}"
    print(f"\n| the first passes{head}")
    table(sets)
    for intent in ("fix", "change"):
        fitting = {name: drawn for name, drawn in sets.items() if items[name][1] == intent}
        print(f"\n| {intent} gains over | {' | '.join(fitting)} |\n|{'---|' * (len(fitting) + 1)}")
        table(fitting, RULES[f"**`excise.rank`, {intent}**"])
    print(f"\n| who makes the first's edit{head}")
    counted = [by_count(drawn, items[name][1], asked.voices) for name, drawn in sets.items()]
    labels = (f"all {asked.voices}", "three or more", "two", "nobody else")
    for label, cells in zip(labels, zip(*counted, strict=True), strict=True):
        print(f"| {label} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
