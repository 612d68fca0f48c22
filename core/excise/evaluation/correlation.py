"""The table of the paper: how well each measure agrees with a label, and with what certainty."""

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
    """The plan of resampling: how often (0: not at all), from which seed, and the baseline.

    ``against`` is the number of a column with which all others are compared. The columns in
    ``distances`` are compared as -r, because a good distance falls.
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
    """The correlation of one measure with the label.

    Attributes
    ----------
    n
        The number of outputs (each as often as it occurred) that have a value and a label.
    mean
        The mean of the measure; None without any value.
    pearson, spearman
        The coefficients; None if undefined, and `undefined` says why.
    ci, ci_task, spearman_ci, spearman_ci_task
        95 % intervals, by resampling outputs and by resampling whole tasks.
    difference
        The difference from the baseline of the plan.
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
    points = [
        _points(sample.values[:, index], used.values[:, index], sample, used)
        for index in range(sample.values.shape[1])
    ]
    if not plan.resamples or all(point.pearson is None for point in points):
        return tuple(points)
    by = [_resampled(used, plan, by_task) for by_task in (False, True)]
    return tuple(_with_intervals(points, index, by, plan) for index in range(len(points)))


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
    arrays = resample(
        used,
        plan.resamples,
        plan.seed,
        by_task=by_task,
        map=plan.map,
        done=lambda count: plan.done(offset + count),
    )
    return _Resampled(*arrays)


def _with_intervals(
    points: list[Correlation], index: int, by: list[_Resampled], plan: Plan
) -> Correlation:
    point = points[index]
    if point.pearson is None:
        return point
    compared = None
    to = plan.against
    if to is not None and to != index and (baseline := points[to].pearson) is not None:
        ours, theirs = (-1.0 if column in plan.distances else 1.0 for column in (index, to))
        tests = [difference(ours * drawn.r[:, index], theirs * drawn.r[:, to]) for drawn in by]
        compared = Difference(ours * point.pearson - theirs * baseline, *tests[0], *tests[1])
    samples, tasks = by
    return Correlation(
        point.n,
        point.mean,
        pearson=point.pearson,
        ci=interval(samples.r[:, index]),
        ci_task=interval(tasks.r[:, index]),
        spearman=point.spearman,
        spearman_ci=interval(samples.rho[:, index]),
        spearman_ci_task=interval(tasks.rho[:, index]),
        difference=compared,
    )
