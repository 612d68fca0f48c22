"""How well each measure agrees with a label, and with what certainty: weighted, resampled, paired.

One row is a distinct output, and its weight is how often it occurred. The correlation of weighted
rows equals that of the sample with repeated rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Interval = tuple[float, float]

_CELLS = 200_000
"""Weights in memory at a time while resampling: few enough for the processor's cache."""

_NO_VARIANCE = 1e-12
"""Variance, of standardised values, below which a resample counts as constant."""


class Sample(NamedTuple):
    """Values of several measures on the same rows, and a label.

    The values have shape (rows, measures), with NaN where a measure has none; a cluster is the
    number, from 0, of the task that a row belongs to.
    """

    values: Floats
    labels: Floats
    counts: Floats
    clusters: Ints

    def only(self, rows: npt.NDArray[np.bool_]) -> Sample:
        """Return some of the rows, with the tasks numbered anew."""
        tasks = np.unique(self.clusters[rows], return_inverse=True)[1].astype(np.int64)
        return Sample(self.values[rows], self.labels[rows], self.counts[rows], tasks)

    def distinct(self) -> Sample:
        """Return the same rows, each counted once."""
        return Sample(self.values, self.labels, np.ones_like(self.counts), self.clusters)


# --- one correlation -----------------------------------------------------------------------------


def pearson(x: Floats, y: Floats, weights: Floats) -> float | None:
    """Return Pearson's r of weighted rows, or None if `why_undefined` has something to say.

    Rows whose ``x`` is NaN are left out.

    >>> pearson(np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0]), np.array([3.0, 1.0, 1.0]))
    1.0
    """
    if why_undefined(x, y, weights):
        return None
    counted = (weights > 0) & ~np.isnan(x)
    w = weights[counted] / weights[counted].sum()
    dx, dy = x[counted] - w @ x[counted], y[counted] - w @ y[counted]
    r = (w @ (dx * dy)) / np.sqrt((w @ dx**2) * (w @ dy**2))
    return float(np.clip(r, -1.0, 1.0))


def spearman(x: Floats, y: Floats, weights: Floats) -> float | None:
    """Return Spearman's rho of weighted rows: Pearson's r of their mid-ranks.

    >>> spearman(np.array([1.0, 10.0, 100.0]), np.array([1.0, 2.0, 3.0]), np.ones(3))
    1.0
    """
    if why_undefined(x, y, weights):
        return None
    counted = (weights > 0) & ~np.isnan(x)
    row = weights[counted][np.newaxis]
    ranks = (_Ranker(x[counted])(row)[0], _Ranker(y[counted])(row)[0])
    return pearson(*ranks, weights[counted])


def why_undefined(x: Floats, y: Floats, weights: Floats) -> str | None:
    """Return why a correlation is undefined, or None if it is defined."""
    counted = (weights > 0) & ~np.isnan(x)
    if weights[counted].sum() < 2:
        return "fewer than two outputs"
    for name, values in (("label", y[counted]), ("measure", x[counted])):
        if (values == values[0]).all():
            return f"the {name} is constant ({values[0]:g} everywhere)"
    return None


class _Ranker:
    """Mid-ranks of the same values under many weightings."""

    def __init__(self, values: Floats) -> None:
        _, self._group = np.unique(values, return_inverse=True)
        self._order = np.argsort(self._group, kind="stable")
        self._starts = np.searchsorted(self._group[self._order], np.arange(self._group.max() + 1))

    def __call__(self, weights: Floats) -> Floats:
        """Return the ranks, shape (weightings, rows), of weights of that shape."""
        groups = np.add.reduceat(weights[:, self._order], self._starts, axis=1)
        ranks: Floats = (np.cumsum(groups, axis=1) - groups / 2 + 0.5)[:, self._group]
        return ranks


# --- many resamples at once ----------------------------------------------------------------------


def resample(
    sample: Sample,
    resamples: int,
    seed: int,
    *,
    by_task: bool,
    map: Callable[..., Iterable[Any]] = map,
    done: Callable[[int], None] = lambda count: None,
) -> tuple[Floats, Floats]:
    """Return Pearson's r and Spearman's rho of every measure in every resample.

    Both have shape (resamples, measures), with NaN where a resample is constant. The resamples are
    the same for all measures, so that differences are paired.

    - ``by_task``: draw whole tasks with replacement (outputs of one task depend on each other),
      instead of single outputs.
    - ``map``: runs over the measures; a thread pool's is faster (numpy works without the GIL).
    - ``done``: called with the number of resamples that are done.
    """
    columns = [_resampler(sample, index) for index in range(sample.values.shape[1])]
    ranker = _Ranker(sample.labels)
    parts: list[Floats] = []
    for weights in _weightings(sample, resamples, seed, by_task):
        label = ranker(weights)
        drawn = map(lambda column, w=weights, y=label: column(w, y), columns)
        parts.append(np.stack(list(drawn), axis=-1))
        done(sum(part.shape[1] for part in parts))
    r, rho = np.concatenate(parts, axis=1)
    return r, rho


def _weightings(sample: Sample, resamples: int, seed: int, by_task: bool) -> Iterator[Floats]:
    """Yield weights of rows, shape (some resamples, rows)."""
    chance = np.random.default_rng([seed, int(by_task)])
    size = max(1, _CELLS // max(1, len(sample.counts)))
    for first in range(0, resamples, size):
        k = min(size, resamples - first)
        if by_task:
            tasks = int(sample.clusters.max()) + 1
            drawn = chance.multinomial(tasks, np.full(tasks, 1 / tasks), size=k)
            yield drawn[:, sample.clusters] * sample.counts
        else:
            total = sample.counts.sum()
            yield chance.multinomial(int(total), sample.counts / total, size=k).astype(np.float64)


def _resampler(sample: Sample, index: int) -> Callable[[Floats, Floats], Floats]:
    """Return a function that gives r and rho of a measure, shape (2, weightings).

    It takes weightings of all rows, and the ranks of the label under them.
    """
    kept = ~np.isnan(sample.values[:, index])
    if not kept.any():
        return lambda weights, _: np.full((2, len(weights)), np.nan)
    x, y, counts = sample.values[kept, index], sample.labels[kept], sample.counts[kept]
    dx, dy = _standardised(x, counts), _standardised(y, counts)
    terms = np.column_stack([np.ones_like(dx), dx, dy, dx * dx, dy * dy, dx * dy])
    ranker, ranker_of_label = _Ranker(x), _Ranker(y)

    def correlate(weights: Floats, label: Floats) -> Floats:
        if not kept.all():
            weights = weights[:, kept]
            label = ranker_of_label(weights)
        with np.errstate(divide="ignore", invalid="ignore"):
            n, sx, sy, xx, yy, xy = (weights @ terms).T
            mx, my = sx / n, sy / n
            r = _ratio(xy / n - mx * my, xx / n - mx * mx, yy / n - my * my)
            return np.stack([r, _rho(weights, ranker, label)])

    return correlate


def _rho(weights: Floats, ranker: _Ranker, label: Floats) -> Floats:
    n = weights.sum(axis=1, keepdims=True)
    # The mean of all ranks is (n + 1) / 2, whatever the ties.
    x, y = ((ranks - (n + 1) / 2) / n for ranks in (ranker(weights), label))
    wx, wy = weights * x / n, weights * y / n
    sums = (np.einsum("ij,ij->i", *pair) for pair in ((wx, y), (wx, x), (wy, y)))
    return _ratio(*sums)


def _standardised(values: Floats, weights: Floats) -> Floats:
    """Centre and scale: sums of squares then lose no digits."""
    w = weights / weights.sum()
    centred = values - w @ values
    scale = np.sqrt(w @ centred**2)
    scaled: Floats = centred / scale if scale > 0 else centred
    return scaled


def _ratio(xy: Floats, xx: Floats, yy: Floats) -> Floats:
    varies = (xx > _NO_VARIANCE) & (yy > _NO_VARIANCE)
    coefficients = np.where(varies, xy / np.sqrt(np.where(varies, xx * yy, 1.0)), np.nan)
    return np.clip(coefficients, -1.0, 1.0)


# --- what the resamples say ----------------------------------------------------------------------


def interval(values: Floats) -> Interval | None:
    """Return the 95 % percentile interval of resampled values, or None if most are undefined."""
    defined = values[~np.isnan(values)]
    if not len(defined) or 2 * len(defined) < len(values):
        return None
    low, high = np.quantile(defined, ((1 - 0.95) / 2, (1 + 0.95) / 2))
    return float(low), float(high)


def difference(values: Floats, against: Floats) -> tuple[Interval | None, float | None]:
    """Return the interval of paired differences, and the two-sided p-value that there is none.

    The p-value is twice the share of resamples on the other side of 0 (0 included), with one added
    to both counts, so that it is never 0 (Davison and Hinkley 1997, section 4.2).
    """
    differences = values - against
    if (bounds := interval(differences)) is None:
        return None, None
    differences = differences[~np.isnan(differences)]
    tail = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    return bounds, min(1.0, 2 * (tail + 1) / (len(differences) + 1))


# --- the table of the paper -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Resampling:
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
class CorrelationDifference:
    """Pearson's r of one measure (-r of a distance) minus that of another, on the same outputs."""

    value: float
    ci: Interval | None
    p: float | None
    ci_task: Interval | None
    p_task: float | None


@dataclass(frozen=True, slots=True)
class Correlation:
    """The correlation of one measure with the label.

    - ``n``: the number of outputs (each as often as it occurred) that have a value and a label.
    - ``mean``: the mean of the measure; None without any value.
    - ``pearson``, ``spearman``: the coefficients; None if undefined, and `undefined` says why.
    - ``ci``, ``ci_task``, ``spearman_ci``, ``spearman_ci_task``: 95 % intervals, by resampling
      outputs and by resampling whole tasks.
    - ``difference``: the difference from the baseline of the plan.
    - ``mean_ci``, ``mean_ci_task``: the intervals of the mean, where no measure has a correlation.
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
    difference: CorrelationDifference | None = None
    mean_ci: Interval | None = None
    mean_ci_task: Interval | None = None


def correlations(sample: Sample, plan: Resampling) -> tuple[Correlation, ...]:
    """Correlate every column of a sample with its labels.

    Rows without a label (NaN) count for the mean alone.
    """
    used = sample.only(~np.isnan(sample.labels))
    points = [
        _points(sample.values[:, index], used.values[:, index], sample, used)
        for index in range(sample.values.shape[1])
    ]
    if not plan.resamples or not len(sample.counts):
        return tuple(points)
    if all(point.pearson is None for point in points):
        means = [_means(sample, plan, by_task=by_task).T for by_task in (False, True)]
        return tuple(
            replace(point, mean_ci=interval(of_outputs), mean_ci_task=interval(of_tasks))
            for point, of_outputs, of_tasks in zip(points, *means, strict=True)
        )
    by = []
    for by_task in (False, True):
        offset = plan.resamples * by_task
        done = lambda count, offset=offset: plan.done(offset + count)  # noqa: E731
        by.append(
            resample(used, plan.resamples, plan.seed, by_task=by_task, map=plan.map, done=done)
        )
    return tuple(_with_intervals(points, index, by, plan) for index in range(len(points)))


def _means(sample: Sample, plan: Resampling, *, by_task: bool) -> Floats:
    """Return the mean of every measure in every resample, NaN where none of it was drawn."""
    defined = ~np.isnan(sample.values)
    values = np.where(defined, sample.values, 0.0)
    drawn = list(_weightings(sample, plan.resamples, plan.seed, by_task))
    with np.errstate(invalid="ignore"):
        return np.concatenate([(weights @ values) / (weights @ defined) for weights in drawn])


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


def _with_intervals(
    points: list[Correlation], index: int, by: list[tuple[Floats, Floats]], plan: Resampling
) -> Correlation:
    """Add the intervals by the resamples of outputs and by those of tasks."""
    point = points[index]
    if point.pearson is None:
        return point
    compared = None
    to = plan.against
    if to is not None and to != index and (baseline := points[to].pearson) is not None:
        ours, theirs = (-1.0 if column in plan.distances else 1.0 for column in (index, to))
        tests = [difference(ours * r[:, index], theirs * r[:, to]) for r, _ in by]
        compared = CorrelationDifference(
            ours * point.pearson - theirs * baseline, *tests[0], *tests[1]
        )
    (r, rho), (r_task, rho_task) = ([drawn[:, index] for drawn in pair] for pair in by)
    return replace(
        point,
        ci=interval(r),
        ci_task=interval(r_task),
        spearman_ci=interval(rho),
        spearman_ci_task=interval(rho_task),
        difference=compared,
    )
