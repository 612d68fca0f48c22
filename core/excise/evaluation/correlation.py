"""The table of the paper: how well each measure agrees with a label, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from excise.evaluation.statistics import (
    Floats,
    Interval,
    Sample,
    difference,
    interval,
    pearson,
    resample,
    spearman,
    why_undefined,
)

__all__ = ["Correlation", "Difference", "Plan", "correlations"]


@dataclass(frozen=True, slots=True)
class Plan:
    """How to resample: how often (0: not at all), from which seed, and what to compare with.

    ``against`` is the number of a column; every other one is compared with it. The columns of
    ``distances`` are compared as -r: a distance does well by falling.
    """

    resamples: int = 1000
    seed: int = 0
    against: int | None = None
    distances: frozenset[int] = frozenset()
    map: Callable[..., Iterable[Any]] = map
    done: Callable[[int], None] = lambda count: None


@dataclass(frozen=True, slots=True)
class Difference:
    """Pearson's r of one measure (-r of a distance) minus that of another, on the same outputs."""

    value: float
    ci: Interval | None
    p: float | None
    ci_task: Interval | None
    p_task: float | None


@dataclass(frozen=True, slots=True)
class Correlation:
    """One measure beside the label.

    Attributes
    ----------
    n
        Outputs (each as often as it occurred) that have a value and a label.
    mean
        Of the measure; None without any value.
    pearson, spearman
        None where undefined: `undefined` says why.
    ci, ci_task, spearman_ci, spearman_ci_task
        95 % intervals, by resampling outputs and by resampling whole tasks.
    difference
        From the measure that the plan names.
    """

    n: int
    mean: float | None
    pearson: float | None = None
    ci: Interval | None = None
    ci_task: Interval | None = None
    spearman: float | None = None
    spearman_ci: Interval | None = None
    spearman_ci_task: Interval | None = None
    undefined: str | None = None
    difference: Difference | None = None


@dataclass(frozen=True)
class _Resampled:
    """Resampled correlations, each of shape (resamples, measures)."""

    r: Floats = field(default_factory=lambda: np.empty((0, 0)))
    rho: Floats = field(default_factory=lambda: np.empty((0, 0)))


def correlations(sample: Sample, plan: Plan) -> tuple[Correlation, ...]:
    """Correlate every column of a sample with its labels.

    Rows without a label (NaN) count for the mean alone.
    """
    labelled = ~np.isnan(sample.labels)
    used = sample.only(labelled)
    found = [
        _points(sample.values[:, index], used.values[:, index], sample, used)
        for index in range(sample.values.shape[1])
    ]
    if not plan.resamples or all(one.pearson is None for one in found):
        return tuple(found)
    by = [_resampled(used, plan, by_task) for by_task in (False, True)]
    return tuple(_with_intervals(found, index, by, plan) for index in range(len(found)))


def _points(every: Floats, x: Floats, sample: Sample, used: Sample) -> Correlation:
    scored: npt.NDArray[np.bool_] = ~np.isnan(every)
    weights = sample.counts[scored]
    mean = float(weights @ every[scored] / weights.sum()) if scored.any() else None
    n = int(used.counts[~np.isnan(x)].sum())
    why = why_undefined(x, used.labels, used.counts) if n else "no output has a label"
    if not scored.any():
        why = "no output has a value"
    if why is not None:
        return Correlation(n, mean, undefined=why)
    r, rho = (of(x, used.labels, used.counts) for of in (pearson, spearman))
    return Correlation(n, mean, pearson=r, spearman=rho)


def _resampled(used: Sample, plan: Plan, by_task: bool) -> _Resampled:
    offset = plan.resamples * by_task
    found = resample(
        used,
        plan.resamples,
        plan.seed,
        by_task=by_task,
        map=plan.map,
        done=lambda count: plan.done(offset + count),
    )
    return _Resampled(*found)


def _with_intervals(
    found: list[Correlation], index: int, by: list[_Resampled], plan: Plan
) -> Correlation:
    one = found[index]
    if one.pearson is None:
        return one
    compared = None
    to = plan.against
    if to is not None and to != index and (other := found[to].pearson) is not None:
        ours, theirs = (-1.0 if column in plan.distances else 1.0 for column in (index, to))
        tests = [difference(ours * drawn.r[:, index], theirs * drawn.r[:, to]) for drawn in by]
        compared = Difference(ours * one.pearson - theirs * other, *tests[0], *tests[1])
    samples, tasks = by
    return Correlation(
        one.n,
        one.mean,
        pearson=one.pearson,
        ci=interval(samples.r[:, index]),
        ci_task=interval(tasks.r[:, index]),
        spearman=one.spearman,
        spearman_ci=interval(samples.rho[:, index]),
        spearman_ci_task=interval(tasks.rho[:, index]),
        difference=compared,
    )
