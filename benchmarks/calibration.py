"""The table of `excise.confidence`, and what it is worth (docs/confidence.md).

``EXCISE_DATA=DIR python benchmarks/calibration.py`` prints both as Markdown. Fitted on HumanEvalFix
and agents' patches alone; CanItEdit, whose licence forbids training, only judges.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from ranking import AGENTS, LABELLED, MAIN, RESAMPLES
from ranking_sets import Item, agents, instructions, outputs, part
from sklearn.isotonic import IsotonicRegression

import excise
from excise.confidence import CALIBRATIONS, Kind
from excise.ranking import Regime

Floats = npt.NDArray[np.float64]

EDGES = (0.0, 0.1, 0.25, 0.4, 0.6, 0.8)
"""From which agreement on a row may begin; rows with equal shares become one."""

FAMILIES = (
    "acr", "aider", "astraios", "codellama", "codestory", "deepseek-coder", "llama", "octocoder",
    "qwen2.5-coder", "qwen2.5", "qwen3", "starcoder2", "swe-agent",
)  # fmt: skip
"""Names of runs begin with these: one model or tool each, whatever its size, tuning or try."""

SEEDS, FOLDS, VOICES = 20, 10, 5
COVERAGE = 0.25


@dataclass(frozen=True)
class Pick:
    """A first pick: of which item and voice, how far others agree, and whether it was right.

    ``tiny`` says whether some edit of the draw was tiny.
    """

    item: str
    voice: str
    tiny: bool
    agreement: float
    right: float


def voice_of(name: str) -> str:
    """Return the model or tool of a run."""
    return next((family for family in FAMILIES if name.startswith(family)), name)


def picks(items: dict[str, Item], *, by_voice: bool = True) -> list[Pick]:
    """Draw five runs of an item and seed, as docs/ranking.md does, and take the first of them.

    With `by_voice` runs of one model count as one, and draws with one voice alone are left out.
    """
    found = []
    for name, item in sorted(items.items()):
        for seed in range(SEEDS):
            chance, names = random.Random(f"{name}/{seed}"), sorted(item.pool)
            chance.shuffle(names)
            drawn = [(run, chance.choice(item.pool[run])) for run in names][:VOICES]
            if len(drawn) < 2:
                continue
            matrix = part(item.matrix, [output for _, output in drawn])
            ranking = excise.rank(matrix)
            voices = {str(at): voice_of(run) for at, (run, _) in enumerate(drawn)}
            said = excise.confidence(
                ranking, "function", voices=voices if by_voice else None, values=matrix.values
            )
            first = [ranked for ranked in ranking if ranked.rank == 1]
            if said.agreement is not None:
                right = np.mean([item.passed[drawn[ranked.index][1]] for ranked in first])
                voice = voices[first[0].id]
                tiny = first[0].regime is Regime.SMALL_EDIT
                found.append(Pick(name, voice, tiny, said.agreement, float(right)))
    return found


def shares(fitted: Sequence[Pick], weights: Floats | None = None) -> Floats:
    """Return the share of right picks from each edge on, never falling."""
    at = np.digitize([pick.agreement for pick in fitted], EDGES) - 1
    right = np.array([pick.right for pick in fitted])
    model = IsotonicRegression(out_of_bounds="clip").fit(at, right, sample_weight=weights)
    predicted: Floats = model.predict(np.arange(len(EDGES)))
    return predicted


def intervals(fitted: Sequence[Pick]) -> tuple[Floats, Floats]:
    """Return 95 % intervals of these shares, whole items resampled."""
    items = sorted({pick.item for pick in fitted})
    of = np.array([items.index(pick.item) for pick in fitted])
    chance = np.random.default_rng(7)
    resampled = []
    for _ in range(RESAMPLES // 4):
        counts = np.bincount(chance.integers(0, len(items), len(items)), minlength=len(items))
        weights = counts[of].astype(np.float64)
        if weights.any():
            resampled.append(shares([p for p, w in zip(fitted, weights, strict=True) if w],
                                    weights[weights > 0]))  # fmt: skip
    low, high = np.quantile(resampled, (0.025, 0.975), axis=0)
    return low, high


def of_table(every: Sequence[Pick], tiny: bool | None) -> list[Pick]:
    """Return the picks that a table speaks of."""
    return [pick for pick in every if tiny is None or pick.tiny == tiny]


def predicted(kind: Kind, fitted: Sequence[Pick], judged: Sequence[Pick]) -> Floats:
    """Return what the tables of a kind, fitted on some picks, say of others."""
    said = np.zeros(len(judged))
    for shipped in CALIBRATIONS:
        if shipped.kind == kind:
            own = shares(of_table(fitted, shipped.tiny))
            at = np.digitize([pick.agreement for pick in judged], EDGES) - 1
            fits = np.array([shipped.tiny in (None, pick.tiny) for pick in judged])
            said[fits] = own[at][fits]
    return said


def by_group(kind: Kind, every: Sequence[Pick], groups: Sequence[str]) -> Floats:
    """Return what tables say of each pick that were made without its group."""
    said = np.zeros(len(every))
    for group in sorted(set(groups)):
        held = np.array([own == group for own in groups])
        rest = [pick for pick, out in zip(every, held, strict=True) if not out]
        judged = [pick for pick, out in zip(every, held, strict=True) if out]
        said[held] = predicted(kind, rest, judged)
    return said


def folds(every: Sequence[Pick]) -> list[str]:
    """Return the fold of each pick, by its item."""
    items = sorted({pick.item for pick in every})
    return [str(items.index(pick.item) % FOLDS) for pick in every]


def error(said: Floats, judged: Sequence[Pick]) -> float:
    """Return the expected calibration error, over ten bins of equal width."""
    right = np.array([pick.right for pick in judged])
    bins = np.minimum((said * 10).astype(int), 9)
    gaps = [
        (bins == own).sum() * abs(right[bins == own].mean() - said[bins == own].mean())
        for own in set(bins)
    ]
    return float(sum(gaps) / len(right))


def precision(said: Floats, judged: Sequence[Pick]) -> float:
    """Return how many are right of the quarter with the largest predicted shares."""
    ordered = sorted(zip(said.round(6), (pick.right for pick in judged), strict=True), reverse=True)
    count = COVERAGE * len(ordered)
    border = ordered[max(0, int(count) - 1)][0]
    above = [right for share, right in ordered if share > border]
    tied = [right for share, right in ordered if share == border]
    return (sum(above) + (count - len(above)) * float(np.mean(tied))) / count


def number(value: float) -> str:
    """Return .123."""
    return f"{value:.3f}".replace("0.", ".", 1)


def table(kind: Kind, tiny: bool | None, every: Sequence[Pick]) -> None:
    """Print the rows of a table, and whether the library has the same."""
    fitted = of_table(every, tiny)
    own, (low, high) = shares(fitted), intervals(fitted)
    rows = [
        (edge, *(round(float(v), 2) for v in (own[at], low[at], high[at])))
        for at, edge in enumerate(EDGES)
        if not at or round(float(own[at]), 2) > round(float(own[at - 1]), 2)
    ]
    which = {None: "", True: ", some edit is tiny", False: ", no edit is tiny"}[tiny]
    of = f"{len(fitted):,} draws of {len({pick.item for pick in fitted})} items"
    print(f"\n`{kind}`{which} ({of}):\n\n| agreement from | share | 95 % interval |\n|---|---|---|")
    for edge, share, least, most in rows:
        print(f"| {edge:g} | {share:.2f} | {least:.2f} to {most:.2f} |")
    [shipped] = [c for c in CALIBRATIONS if (c.kind, c.tiny) == (kind, tiny)]
    same = [(r.agreement, r.share, r.low, r.high) for r in shipped.rows] == rows
    print(f"\nThe library has {'the same rows' if same else 'OTHER ROWS: ' + str(rows)}.")


def curve(name: str, judged: Sequence[Pick]) -> str:
    """Return a row of the reliability table: how many were right, for each range of agreement."""
    at = np.digitize([pick.agreement for pick in judged], EDGES) - 1
    right = np.array([pick.right for pick in judged])
    cells = [
        f"{number(right[at == i].mean())} ({(at == i).sum():,})" if (at == i).any() else "-"
        for i in range(len(EDGES))
    ]
    return f"| {name} | {' | '.join(cells)} |"


def worth(name: str, said: Floats, judged: Sequence[Pick]) -> None:
    """Print what tables are worth on picks that they do not know."""
    ece, right = number(error(said, judged)), number(precision(said, judged))
    print(f"| {name} | {len(judged):,} | {ece} | {right} |")


def report(sets: dict[str, dict[str, Item]], judges: dict[str, dict[str, Item]]) -> None:
    """Print tables, their worth, and the curves of every set."""
    known = {name: picks(items) for name, items in (sets | judges).items()}
    as_drawn = {name: picks(items, by_voice=False) for name, items in (sets | judges).items()}
    fitted: dict[Kind, list[Pick]] = {"function": known[MAIN], "files": known[AGENTS]}
    for shipped in CALIBRATIONS:
        table(shipped.kind, shipped.tiny, fitted[shipped.kind])
    heads = "| judged | draws | ECE | right in the surest quarter |\n|---|---|---|---|"
    print(f"\n{heads}")
    for kind, own in fitted.items():
        worth(f"`{kind}`, cross-fitted by item", by_group(kind, own, folds(own)), own)
        voices = [pick.voice for pick in own]
        worth(f"`{kind}`, one model or tool left out at a time", by_group(kind, own, voices), own)
    for name in judges:
        said = predicted("function", fitted["function"], known[name])
        worth(f"`function` on {name}", said, known[name])
    print(f"\nEvery run a voice of its own, one set left out at a time:\n\n{heads}")
    functions = [name for name in sets if name != AGENTS]
    for name in functions:
        rest = [pick for other in functions if other != name for pick in as_drawn[other]]
        worth(name, predicted("function", rest, as_drawn[name]), as_drawn[name])
    pooled = [pick for name in functions for pick in as_drawn[name]]
    worth("all four, cross-fitted by item", by_group("function", pooled, folds(pooled)), pooled)
    print("\nRuns of one model count once; how many were right (of how many draws):\n")
    curves((name, own) for name, own in known.items() if own)
    print("\nThe same, every run a voice of its own:\n")
    curves(as_drawn.items())


def curves(rows: Iterable[tuple[str, Sequence[Pick]]]) -> None:
    """Print reliability curves as a table."""
    print(f"| agreement from | {' | '.join(f'{edge:g}' for edge in EDGES)} |")
    print(f"|{'---|' * (len(EDGES) + 1)}")
    for name, own in rows:
        for tiny in (True, False):
            of_kind = [pick for pick in own if pick.tiny == tiny]
            print(curve(f"{name}, {'some edit is tiny' if tiny else 'no edit is tiny'}", of_kind))


def main() -> None:
    """Read the sets and print the page's tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    if not (named := os.environ.get("EXCISE_DATA")):
        parser.error("EXCISE_DATA must name the folder that holds humanevalfix_*.jsonl")
    folder = Path(named)
    sets = {name: outputs(folder, *files) for name, files in LABELLED.items()}
    sets[AGENTS] = agents(folder)
    judges = {
        f"CanItEdit, {how}": instructions(folder, f"instruction_{how}")
        for how in ("descriptive", "lazy")
    }
    report(sets, judges)


if __name__ == "__main__":
    main()
