"""Operations on words, divergences and splits: against rapidfuzz, scipy and exhaustive search."""

import json
from itertools import combinations
from math import inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy
from tests.server.command import excise

from excise_server.evaluation.simplification import (
    WordOperations,
    divergence,
    edit_operations,
    most_even_split,
    without_poor,
)
from excise_server.foundation.inputs import SourceError

pytestmark = pytest.mark.slow

WORDS = st.lists(st.sampled_from("abcd"), max_size=12)


def distance(a: list[str], b: list[str]) -> int:
    """Return Levenshtein's distance, by its recursion."""
    row = list(range(len(b) + 1))
    for i, word in enumerate(a, start=1):
        before, row = row, [i]
        for j, other in enumerate(b, start=1):
            row.append(min(before[j - 1] + (word != other), before[j] + 1, row[-1] + 1))
    return row[-1]


@given(WORDS, WORDS)
def test_the_operations_are_as_many_as_the_distance(a, b):
    found = edit_operations(" ".join(a), " ".join(b))
    steps = found.insert + found.delete + found.replace + 2 * found.move
    assert steps == distance(a, b)
    assert len(b) - len(a) == found.insert - found.delete
    longer = max(len(a), len(b))
    assert found.change == pytest.approx(100 * steps / longer if longer else 0)
    assert 0 <= found.change <= 100


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", WordOperations(0, 0, 0, 0, 0.0)),
        ("a b", "A B", WordOperations(0, 0, 0, 0, 0.0)),
        ("", "a b", WordOperations(2, 0, 0, 0, 100.0)),
        ("a b c d", "a c d", WordOperations(0, 1, 0, 0, 25.0)),
        ("a b c d e", "b c d e a", WordOperations(0, 0, 0, 1, 40.0)),
        ("a b", "c d", WordOperations(0, 0, 2, 0, 100.0)),
    ],
)
def test_operations_by_hand(before, after, expected):
    assert edit_operations(before, after) == expected


def test_texts_that_are_too_long_are_refused():
    with pytest.raises(SourceError, match="6,000 and 6,000 words"):
        edit_operations("a " * 6_000, "b " * 6_000)


SAMPLE = st.lists(st.floats(0, 100), min_size=1, max_size=30)


@given(SAMPLE, SAMPLE, st.integers(2, 20))
def test_divergences_are_scipys_over_common_bins(p, q, bins):
    found = divergence(p, q, bins=bins)
    edges = np.histogram_bin_edges(p + q, bins=bins)
    a, b = (np.histogram(side, edges)[0] for side in (p, q))
    assert found.kl == pytest.approx(entropy(a, b), abs=1e-9)
    assert found.distance == pytest.approx(jensenshannon(a, b), abs=1e-7)
    assert found.js == pytest.approx(found.distance**2)
    assert 0 <= found.js <= log(2) + 1e-12


def test_bins_of_ones_own_would_call_different_samples_equal():
    """Two samples of one shape in different places: bins of their own see no difference."""
    p, q = [0.0, 1.0, 2.0], [50.0, 51.0, 52.0]
    own = [np.histogram(side, 20)[0] for side in (p, q)]
    assert entropy(*own) == 0
    assert divergence(p, q).js == pytest.approx(log(2))
    assert divergence(p, q).kl == inf
    assert divergence(p, p) == divergence(q, q)
    assert divergence(p, q).distance == pytest.approx(sqrt(log(2)))


def test_what_changes_most_is_left_out():
    assert without_poor([5, 90, 100, 1, 100], 20) == (0, 1, 2, 3)
    assert without_poor([5, 90, 100, 1, 100], 40) == (0, 1, 3)
    assert without_poor([5, 90], 0) == (0, 1)
    assert without_poor([5, 90], 100) == ()
    assert without_poor([], 50) == ()
    with pytest.raises(SourceError, match="from 0 to 100"):
        without_poor([1], 101)


def test_a_random_split_deals_every_pair_once():
    sizes = {"train": 7, "dev": 0, "test": 3}
    table = np.arange(20).reshape(10, 2)
    split, _ = most_even_split(table, sizes, 324, attempts=1)
    assert {name: split.count(name) for name in sizes} == sizes
    assert most_even_split(table, sizes, 324, attempts=1)[0] == split
    assert most_even_split(table, sizes, 155, attempts=1)[0] != split


def spread(table, members) -> float:
    scaled = table / table.mean(axis=0)
    rest = [at for at in range(len(table)) if at not in members]
    means = [scaled[list(part)].mean(axis=0) for part in (members, rest)]
    return float(np.std(means, axis=0).sum())


def test_enough_attempts_find_the_most_even_split_there_is():
    table = np.random.default_rng(1).integers(0, 9, (8, 3)).astype(float)
    best = min(spread(table, members) for members in combinations(range(8), 5))
    split, found = most_even_split(table, {"train": 5, "test": 3}, 0, attempts=3_000)
    assert found == pytest.approx(best)
    trained = [at for at, name in enumerate(split) if name == "train"]
    assert spread(table, trained) == pytest.approx(best)
    assert most_even_split(table, {"train": 5, "test": 3}, 0, attempts=3_000)[0] == split
    few = most_even_split(table, {"train": 5, "test": 3}, 0, attempts=1)[1]
    assert few >= found


def test_an_operation_may_never_occur():
    assert most_even_split(np.zeros((4, 2)), {"a": 2, "b": 2}, 0, attempts=2)[1] == 0.0


def test_the_command_drops_what_is_poorly_aligned_and_deals_anew(tmp_path):
    pairs = [
        {"before": "a b c d", "after": "a c d", "split": "train"},
        {"before": "a b c d", "after": "a x c d e", "split": "train"},
        {"before": "a b c d e", "after": "b c d e a", "split": "test"},
        {"before": "p q", "after": "r s t", "split": "test"},
    ]
    lines = "".join(json.dumps(pair) + "\n" for pair in pairs)
    out = tmp_path / "out.jsonl"
    command = ("eval", "--protocol", "simplification", "-", "--drop-poor", "25", "--format", "json")
    command += ("--splits", "stratified")
    ran = excise(*command, "--records", str(out), stdin=lines)
    assert ran.json["dropped"] == 1
    assert ran.json["spread"] >= 0
    written = [json.loads(line) for line in out.read_text().split("\n")[:-1]]
    assert [one["before"] for one in written] == [one["before"] for one in pairs[:3]]
    assert sorted(one["split"] for one in written) == ["test", "train", "train"]
    assert excise(*command, stdin=lines).json == ran.json


@pytest.mark.parametrize(("rule", "equal"), [("even-train", "train"), ("even-rest", "test")])
def test_the_two_candidates_make_operations_equal_in_their_split(rule, equal):
    """One insertion, one deletion and one replacement are equal; the other pairs are not."""
    counts = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (5, 0, 0), (5, 0, 0), (5, 0, 0), (5, 0, 0)]
    sizes = {"train": 4, "test": 3} if equal == "test" else {"train": 3, "test": 2, "dev": 2}
    names, spread = most_even_split(counts, sizes, seed=1, attempts=3000, rule=rule)
    assert spread == 0
    assert names[:3] == [equal] * 3
