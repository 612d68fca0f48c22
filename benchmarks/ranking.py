"""What the ranking is worth: how often its top pick passes the tests (docs/ranking.md).

``EXCISE_DATA=DIR python benchmarks/ranking.py [--seeds 20] [--voices 5]`` prints the tables as
Markdown; with ``--by-voices`` it prints that of the first set by the number of revisions alone.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
from ranking_sets import Draw, Item, agents, draws, instructions, outputs

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
GRID = tuple(
    (tiny, apart)
    for tiny in (0, 2, 3, 4, 5, 6, 7, 8, 10, 15, 30)
    for apart in (0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.5)
)
"""Borders of the regimes that the cross-validation tries."""


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


def agentless(draw: Draw) -> Floats:
    """Rank as Agentless does: by votes of equal normalised patches, the smallest of those.

    It normalises patches by their syntax trees; here texts that are equal without white space are
    votes for one patch.
    """
    bare = ["".join(text.split()) for text in draw.matrix.texts]
    votes = np.array([bare.count(own) for own in bare], dtype=np.float64)
    return votes + size(draw) / NEVER


def earlier(draw: Draw) -> Floats:
    """Rank as the library did before: sizes always count, and a parse error is all that breaks."""
    return formula(draw)


def shipped(draw: Draw) -> Floats:
    """Rank as the library does."""
    places = np.zeros(len(draw.passed))
    for ranked in excise.rank(draw.matrix):
        places[ranked.index] = -ranked.rank
    return places


def formula(
    draw: Draw, agreement: float = 3, slack: float = 4, cost: float = 3, power: float = 1
) -> Floats:
    """Return the earlier formula with other weights."""
    agreed = consensus(draw.matrix.values**power)
    score: Floats = agreement * agreed - np.log(slack - size(draw)) - cost * broken(draw)
    return np.round(score - NEVER * idle(draw), 9)


Weight = Callable[[float, float], float]
"""How much sizes count, by the smallest edit and the largest agreement."""


def by_regime(tiny: float = 5, apart: float = 0.2, rest: float = 0.01) -> Weight:
    """Return the weight that the library gives sizes, with other borders."""
    return lambda smallest, agreed: 1.0 if smallest <= tiny or agreed < apart else rest


def weighed(
    draw: Draw,
    weight: Weight = by_regime(),  # noqa: B008 a constant
    *,
    breaks: bool = True,
    stubs: bool = True,
) -> Floats:
    """Return the shipped formula with another weight of sizes, or without facts about texts."""
    facts, sizes = draw.matrix.facts, -size(draw)
    bad = broken(draw)
    if breaks:
        losers = Counter(name for own in facts for name in own.lost)
        missed = [any(2 * losers[name] <= len(facts) for name in own.lost) for own in facts]
        errors = [bool(own.errors) for own in facts]
        bad = np.maximum(bad, np.logical_or(missed, errors))
    levels = 2 * idle(draw)
    if stubs:
        levels = np.maximum(levels, [float(own.is_stub) for own in facts])
    agreed = consensus(draw.matrix.values)
    first = levels == levels.min()
    whole = first & (bad == bad[first].min())
    share = weight(float(sizes[whole].min()), float(agreed[whole].max()))
    score: Floats = 3 * agreed - share * np.log(4 + sizes) - 3 * bad
    return np.round(score - NEVER * levels, 9)


RULES: dict[str, Rule] = {
    "random (expected)": lambda draw: np.zeros(len(draw.passed)),
    "ES consensus": es,
    "NES consensus": nes,
    "smallest edit": size,
    "Agentless: most votes, then the smallest": agentless,
    "smallest edit, syntax errors last": lambda draw: size(draw) - NEVER * broken(draw),
    "3.35 ES consensus - 1.09 log(1 + size)": lambda d: 3.35 * es(d) - 1.09 * np.log1p(-size(d)),
    "the same + 2.3 NES consensus": (
        lambda d: 3.35 * es(d) - 1.09 * np.log1p(-size(d)) + 2.3 * nes(d)
    ),
    "**`excise.rank`**": shipped,
    "best possible": lambda draw: draw.passed.astype(np.float64),
}
VARIANTS: dict[str, Rule] = {
    "sizes always count": lambda draw: weighed(draw, lambda m, a: 1),
    "sizes never count": lambda draw: weighed(draw, lambda m, a: 0.01),
    "tiny: 3 tokens": lambda draw: weighed(draw, by_regime(tiny=3)),
    "tiny: 8 tokens": lambda draw: weighed(draw, by_regime(tiny=8)),
    "tiny: 15 tokens": lambda draw: weighed(draw, by_regime(tiny=15)),
    "however far they agree": lambda draw: weighed(draw, by_regime(apart=0)),
    "apart: below .1": lambda draw: weighed(draw, by_regime(apart=0.1)),
    "apart: below .35": lambda draw: weighed(draw, by_regime(apart=0.35)),
    "fading: exp(-m/10)": lambda draw: weighed(draw, lambda m, a: float(np.exp(-m / 10))),
    "broken: parse errors alone": lambda draw: weighed(draw, breaks=False),
    "stubs not last": lambda draw: weighed(draw, stubs=False),
    "before: 3 agreement - ln(4 + size) - 3 broken": earlier,
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
    """Choose the borders on nine tenths of the items, measure on the tenth, in turn."""
    tried = [verdicts(partial(weighed, weight=by_regime(*borders)), drawn) for borders in GRID]
    items = list(tried[0])
    passes = np.array([[found[item] for item in items] for found in tried])
    total, chosen = np.zeros(len(items)), []
    for fold in range(folds):
        held = np.arange(len(items)) % folds == fold
        best = int(passes[:, ~held].mean(axis=1).argmax())
        total[held] = passes[best][held]
        chosen.append(GRID[best])
    return f"{interval(total)}; chosen (tiny, apart): {sorted(set(chosen))}"


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
    for how in ("descriptive", "lazy"):
        items[f"CanItEdit, {how}"] = instructions(folder, f"instruction_{how}")
    for distinct in (False, True):
        report(items, asked.seeds, distinct, asked.voices)


if __name__ == "__main__":
    main()
