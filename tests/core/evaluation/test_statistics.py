"""Correlations: against scipy on the sample written out in full, and against plain resampling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from excise.evaluation.statistics import (
    Resampling,
    Sample,
    correlations,
    difference,
    interval,
    pearson,
    resample,
    spearman,
    why_undefined,
)

pytestmark = pytest.mark.slow

ROW = st.tuples(st.integers(-5, 5), st.integers(0, 2), st.integers(1, 6))


def sample(rows: int = 200, measures: int = 2, seed: int = 1) -> Sample:
    chance = np.random.default_rng(seed)
    x = chance.integers(0, 20, (rows, measures)) / 7
    y = (chance.random(rows) * 3 < x[:, 0]).astype(float)
    counts = chance.integers(1, 9, rows).astype(float)
    return Sample(x, y, counts, np.arange(rows, dtype=np.int64) // 4)


def written_out(found: Sample, at: int = 0):
    counts = found.counts.astype(int)
    return np.repeat(found.values[:, at], counts), np.repeat(found.labels, counts)


@given(st.lists(ROW, min_size=2, max_size=30))
def test_weighted_correlations_are_those_of_the_sample_written_out(rows):
    x, y, w = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    long_x, long_y = np.repeat(x, w.astype(int)), np.repeat(y, w.astype(int))
    if why_undefined(x, y, w):
        assert pearson(x, y, w) is None
        assert spearman(x, y, w) is None
        assert len(set(long_x)) == 1 or len(set(long_y)) == 1
    else:
        assert pearson(x, y, w) == pytest.approx(stats.pearsonr(long_x, long_y)[0])
        assert spearman(x, y, w) == pytest.approx(stats.spearmanr(long_x, long_y)[0])


def test_a_measure_without_a_value_leaves_its_row_out():
    x, y, w = np.array([0.0, np.nan, 1.0, 2.0]), np.array([0.0, 1.0, 1.0, 1.0]), np.ones(4)
    kept = ~np.isnan(x)
    assert pearson(x, y, w) == pearson(x[kept], y[kept], w[kept])


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([0, 1], [1, 1], "the label is constant (1 everywhere)"),
        ([0.5, 0.5], [0, 1], "the measure is constant (0.5 everywhere)"),
        ([0.5], [1], "fewer than two outputs"),
    ],
)
def test_an_undefined_correlation_has_a_reason(x, y, reason):
    x, y = np.array(x, dtype=float), np.array(y, dtype=float)
    assert why_undefined(x, y, np.ones(len(x))) == reason
    assert pearson(x, y, np.ones(len(x))) is None
    found = Sample(x[:, np.newaxis], y, np.ones(len(x)), np.arange(len(x), dtype=np.int64))
    (one,) = correlations(found, Resampling(50))
    assert (one.pearson, one.ci, one.undefined) == (None, None, reason)


@pytest.mark.parametrize("by_task", [False, True])
def test_each_resample_is_a_correlation_of_the_drawn_rows(by_task):
    """Replay the draws of the generator, of rows or of whole tasks, and correlate with scipy."""
    found = sample(rows=60)
    r, rho = resample(found, 25, 3, by_task=by_task)
    chance = np.random.default_rng([3, int(by_task)])
    shares = np.full(15, 1 / 15) if by_task else found.counts / found.counts.sum()
    drawn = chance.multinomial(15 if by_task else int(found.counts.sum()), shares, size=25)
    for at, times in enumerate(drawn):
        counts = (times[found.clusters] * found.counts).astype(int) if by_task else times
        for column in (0, 1):
            x, y = np.repeat(found.values[:, column], counts), np.repeat(found.labels, counts)
            assert r[at, column] == pytest.approx(stats.pearsonr(x, y)[0])
            assert rho[at, column] == pytest.approx(stats.spearmanr(x, y)[0])


def test_intervals_are_those_of_plain_resampling():
    """The paper's way: draw the outputs of the long sample with replacement."""
    found = sample(rows=300)
    (one, _) = correlations(found, Resampling(4000, seed=5))
    x, y = written_out(found)
    chance = np.random.default_rng(8)
    plain = [stats.pearsonr(x[i], y[i])[0] for i in chance.integers(0, len(x), (4000, len(x)))]
    assert one.ci == pytest.approx(np.quantile(plain, (0.025, 0.975)), abs=0.004)


def test_outputs_of_one_task_that_agree_make_the_interval_by_task_wider():
    chance = np.random.default_rng(2)
    x, y = chance.random(20), chance.random(20)
    rows = np.repeat(np.arange(20), 10)
    found = Sample(x[rows][:, np.newaxis], y[rows], np.ones(200), rows.astype(np.int64))
    (one,) = correlations(found, Resampling(1000))
    assert one.ci is not None
    assert one.ci_task is not None
    assert one.ci_task[1] - one.ci_task[0] > 2 * (one.ci[1] - one.ci[0])


def test_the_same_seed_gives_the_same_intervals_and_columns_do_not_matter():
    found = sample()
    alone = Sample(found.values[:, :1], found.labels, found.counts, found.clusters)
    assert correlations(found, Resampling(200))[0] == correlations(alone, Resampling(200))[0]
    assert (
        correlations(found, Resampling(200, seed=1))[0].ci
        != correlations(alone, Resampling(200))[0].ci
    )


def test_differences_are_paired():
    """Two equal columns differ by exactly nothing, however wide their intervals are."""
    found = sample(rows=80)
    twice = np.column_stack([found.values[:, 0], found.values[:, 0], found.values[:, 1]])
    both = correlations(
        Sample(twice, found.labels, found.counts, found.clusters), Resampling(300, against=0)
    )
    assert both[0].difference is None
    same, other = both[1].difference, both[2].difference
    assert same is not None
    assert other is not None
    assert (same.value, same.ci, same.p) == (0.0, (0.0, 0.0), 1.0)
    assert other.value == pytest.approx(both[2].pearson - both[0].pearson)
    assert other.p == pytest.approx(2 / 301)
    assert other.ci[1] < 0


def test_a_distance_is_compared_by_how_well_it_falls():
    found = sample(rows=80)
    both = np.column_stack([found.values[:, 0], -found.values[:, 0]])
    plan = Resampling(100, against=0, distances=frozenset({1}))
    _, mirrored = correlations(Sample(both, found.labels, found.counts, found.clusters), plan)
    assert mirrored.pearson < 0
    assert mirrored.difference.value == pytest.approx(0.0)
    assert mirrored.difference.ci == pytest.approx((0.0, 0.0))


def test_a_p_value_is_never_zero_and_undefined_resamples_are_left_out():
    values = np.array([0.5, 0.6, np.nan, 0.7])
    assert difference(values, np.zeros(4)) == ((pytest.approx(0.505), pytest.approx(0.695)), 0.5)
    assert interval(np.array([np.nan, np.nan, 0.1])) is None


def test_gaps_resample_like_the_sample_without_them():
    found = sample(rows=50)
    found.values[::5, 0] = np.nan
    r, _ = resample(found, 20, 0, by_task=False)
    total = found.counts.sum()
    drawn = np.random.default_rng([0, 0]).multinomial(int(total), found.counts / total, size=20)
    kept = ~np.isnan(found.values[:, 0])
    for at, counts in enumerate(drawn[:, kept]):
        x, y = found.values[kept, 0], found.labels[kept]
        assert r[at, 0] == pytest.approx(pearson(x, y, counts.astype(float)))


def test_rows_without_a_label_count_for_the_mean_alone():
    found = sample(rows=40)
    labels = found.labels.copy()
    labels[:10] = np.nan
    (one, _) = correlations(
        Sample(found.values, labels, found.counts, found.clusters), Resampling(0)
    )
    rest = Sample(found.values[10:], labels[10:], found.counts[10:], found.clusters[10:])
    assert one.pearson == correlations(rest, Resampling(0))[0].pearson
    assert one.n == found.counts[10:].sum()
    assert one.mean == pytest.approx(np.average(found.values[:, 0], weights=found.counts))


def test_without_labels_the_means_have_intervals():
    """The interval of a mean of n coins is about 1.96 / 2 / sqrt(n); of tasks, n is theirs."""
    values = np.array([[0.0, np.nan], [1.0, np.nan]] * 200)
    unlabelled = np.full(400, np.nan)
    clusters = np.repeat(np.arange(100), 4)
    clusters = np.where(values[:, 0] == 1, clusters, clusters + 100)  # tasks of equal values
    sample = Sample(values, unlabelled, np.ones(400), clusters)
    coin, nothing = correlations(sample, Resampling(2000))
    assert coin.mean == 0.5
    assert coin.pearson is None
    for bounds, n in ((coin.mean_ci, 400), (coin.mean_ci_task, 200)):
        assert (bounds[1] - bounds[0]) / 2 == pytest.approx(1.96 / 2 / n**0.5, rel=0.15)
    assert nothing.mean is nothing.mean_ci is nothing.mean_ci_task is None
    assert correlations(sample, Resampling(0))[0].mean_ci is None
