"""Clusters and ranks: who says the same, in which order, and with which numbers."""

from __future__ import annotations

import subprocess
import sys
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise import OptionError, ScoreMatrix, cluster, rank
from excise.clustering import LINKAGES, cluster_values, labels, linked_labels

ORIGIN = "a b c d e f g h"
REVISIONS = {
    "x1": "a b X d e f g h",
    "x2": "a b X d e f g h i",
    "y1": "a b c d e f Y h",
    "same": ORIGIN,
    "x3": "a b X d e f g h",
}


@pytest.fixture
def matrix():
    return ScoreMatrix.from_texts(ORIGIN, REVISIONS)


def members(matrix, **options):
    return [[matrix.ids[at] for at in found.members] for found in cluster(matrix, **options)]


def test_same_edits_cluster_largest_first(matrix):
    assert members(matrix) == [["x1", "x2", "x3"], ["y1"], ["same"]]


def test_the_representative_is_the_medoid_and_says_how_far_its_farthest_member_is(matrix):
    largest = cluster(matrix)[0]
    assert matrix.ids[largest.representative] == "x1"
    assert largest.min_similarity == matrix.values[0, 1] < 1


@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
def test_thresholds_at_the_ends(matrix, linkage):
    assert members(matrix, threshold=1.0, linkage=linkage)[0] == ["x1", "x2", "x3"]
    assert members(matrix, threshold=1e-9, linkage=linkage)[0] == ["x1", "x3"]


def test_a_threshold_of_zero_joins_nothing(matrix):
    assert len(cluster(matrix, threshold=0)) == len(REVISIONS)


def test_misuse_is_named(matrix):
    with pytest.raises(OptionError, match="average, complete, single"):
        cluster(matrix, linkage="ward")
    with pytest.raises(OptionError, match="between 0 and 1"):
        cluster(matrix, threshold=1.5)


def test_none_and_one():
    assert cluster(ScoreMatrix.from_texts("a", [])) == ()
    assert rank(ScoreMatrix.from_texts("a", [])) == ()
    (alone,) = cluster(ScoreMatrix.from_texts("a", ["b"]))
    assert (alone.members, alone.representative, alone.min_similarity) == ((0,), 0, 1.0)
    (ranked,) = rank(ScoreMatrix.from_texts("a", ["b"]))
    assert (ranked.rank, ranked.mean_similarity) == (1, None)


def test_no_ops_rank_last_and_ties_share_a_rank(matrix):
    ranked = rank(matrix)
    assert [(r.id, r.rank) for r in ranked[:2]] == [("x1", 1), ("x3", 1)]
    assert ranked[2].rank == 3
    assert ranked[-1].id == "same"
    assert ranked[-1].no_op


def test_white_space_ranks_with_the_no_ops():
    matrix = ScoreMatrix.from_texts("a b", {"white": "a  b", "edit": "a c"})
    assert [(r.id, r.rank, r.no_op) for r in rank(matrix)] == [
        ("edit", 1, False),
        ("white", 2, False),
    ]


SIMILARITIES = st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.45, 0.5, 0.7, 0.9, 1.0])


@st.composite
def distances(draw):
    size = draw(st.integers(2, 7))
    values = np.eye(size)
    for i in range(size):
        for j in range(i):
            values[i, j] = values[j, i] = draw(SIMILARITIES)
    return 1.0 - values


def parts(labelled):
    return {frozenset(np.flatnonzero(np.equal(labelled, at)).tolist()) for at in labelled}


@given(distances(), st.sampled_from([0.0, 0.3, 0.5, 0.55, 0.7, 1.0]), st.sampled_from(LINKAGES))
def test_clusters_are_those_of_scikit_learn(matrix, threshold, linkage):
    from sklearn.cluster import AgglomerativeClustering

    model = AgglomerativeClustering(
        n_clusters=None, metric="precomputed", linkage=linkage, distance_threshold=threshold
    )
    assert parts(labels(matrix, threshold, linkage)) == parts(model.fit(matrix).labels_)
    assert parts(linked_labels(1.0 - matrix, threshold, linkage)) == parts(model.labels_)


@given(
    distances(),
    st.lists(st.sampled_from("abc"), min_size=7, max_size=7),
    st.sampled_from([1e-9, 0.3, 0.5, 0.7, 1.0]),
    st.sampled_from(LINKAGES),
)
def test_the_same_code_is_in_one_cluster_and_has_distance_0(matrix, codes, threshold, linkage):
    from sklearn.cluster import AgglomerativeClustering

    codes, values = codes[: len(matrix)], 1.0 - matrix
    before = values.copy()
    clusters = cluster_values(values, threshold, linkage, codes)
    assert np.array_equal(values, before)
    for found in clusters:
        inside = {codes[at] for at in found.members}
        assert {at for at, code in enumerate(codes) if code in inside} == set(found.members)
        row = before[found.representative][list(found.members)]
        assert found.min_similarity == row.min()
    is_same = np.equal.outer(codes, codes)
    joined = np.where(is_same, 0, np.maximum(matrix, 1e-12))
    model = AgglomerativeClustering(
        n_clusters=None, metric="precomputed", linkage=linkage, distance_threshold=threshold
    )
    assert {frozenset(found.members) for found in clusters} == parts(model.fit(joined).labels_)


def test_revisions_of_one_code_are_one_cluster_however_unlike_their_texts():
    origin = "def f():\n    pass\n"
    texts = {
        "plain": "def f():\n    return 'a'\n",
        "other": 'def f():\n    """Do what nobody else does."""\n    return ("a")\n',
        "else": "def f():\n    return 'b', 2, 3, 4\n",
    }
    matrix = ScoreMatrix.from_texts(origin, texts, path="f.py")
    assert matrix.values[0, 1] < 0.65
    assert members(matrix, threshold=1e-9) == [["plain", "other"], ["else"]]
    assert members(matrix, threshold=0) == [["plain"], ["other"], ["else"]]


@pytest.mark.slow
def test_scikit_learn_is_imported_where_the_linkage_decides():
    code = """
import sys
from itertools import permutations
from excise.clustering import cluster_values
import numpy as np
def clusters(a, b, c):
    values = np.array([[1, a, b], [a, 1, c], [b, c, 1]])
    found = [c.members for c in cluster_values(values, 0.5, "average")]
    print(found, "scipy" in sys.modules, "sklearn" in sys.modules)
clusters(0.9, 0.8, 0.7), clusters(0.9, 0.1, 0.2), clusters(0.9, 0.1, 0.8)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert ran.stdout.splitlines() == [
        "[(0, 1, 2)] False False",
        "[(0, 1), (2,)] False False",
        "[(0, 1), (2,)] True True",
    ]


def test_of_tied_pairs_the_order_decides_nothing():
    """A ring of four, each as near to two others: scikit-learn takes the first ones."""
    lines = [f"def f{at}():\n    return {at}\n" for at in range(8)]

    def edited(*chosen):
        return "".join(lines[at].replace("return", "yield") if at in chosen else lines[at]
                       for at in range(8))  # fmt: skip

    ring = {"A": edited(1, 3), "B": edited(3, 5), "C": edited(5, 7), "D": edited(7, 1)}
    found = {
        frozenset(
            frozenset(group.ids)
            for group in cluster(
                ScoreMatrix.from_texts(
                    "".join(lines), {at: ring[at] for at in ids}, language="python"
                )
            )
        )
        for ids in permutations(ring)
    }
    assert len(found) == 1
