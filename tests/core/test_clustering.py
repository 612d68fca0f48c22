"""Clusters and ranks: who says the same, in which order, and with which numbers."""

import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from excise import OptionError, ScoreMatrix, cluster, rank
from excise.clustering import LINKAGES, cluster_values, labels, linked_labels
from excise.patches import Pool, group, parse

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


LINES = [f"def f{at}():\n    return {at}\n" for at in range(8)]
_EDITS = st.lists(st.sets(st.integers(0, 7), min_size=1, max_size=3), min_size=2, max_size=7)


def edited(chosen):
    return "".join(line.replace("return", "yield") if at in chosen else line
                   for at, line in enumerate(LINES))  # fmt: skip


@given(_EDITS, st.randoms(use_true_random=False), st.sampled_from(LINKAGES))
@example([{1, 3}, {3, 5}, {5, 7}, {7, 1}], random.Random(1), "complete")  # a ring: each near to two
def test_of_tied_pairs_the_order_decides_nothing(edits, choice, linkage):
    """Scikit-learn takes the first ones. The threshold is one at which these are often tied."""
    found = set()
    for _ in range(3):
        choice.shuffle(edits)
        texts = {str(at): edited(chosen) for at, chosen in enumerate(edits)}
        matrix = ScoreMatrix.from_texts("".join(LINES), texts, language="python")
        found.add(
            frozenset(
                tuple(sorted(map(texts.get, group.ids)))
                for group in cluster(matrix, threshold=0.7, linkage=linkage)
            )
        )
    assert len(found) == 1


@given(_EDITS, st.randoms(use_true_random=False), st.booleans())
@example([{1, 3}, {3, 5}, {5, 7}, {7, 1}], random.Random(1), False)
def test_of_tied_patches_the_order_decides_nothing(edits, choice, idf):
    found = set()
    for _ in range(3):
        choice.shuffle(edits)
        patches = [
            b"--- a/x\n+++ b/x\n" + b"".join(
                b"@@ -%d,2 +%d,2 @@\n def f%d():\n-    return %d\n+    yield %d\n"
                % (2 * at + 1, 2 * at + 1, at, at, at) for at in sorted(chosen))
            for chosen in edits
        ]  # fmt: skip
        pool = Pool(idf=idf)
        for patch in patches:
            pool.add(parse(patch))
        found.add(
            frozenset(
                tuple(sorted(patches[at] for at in own.members))
                for own in group(pool, threshold=0.7)
            )
        )
    assert len(found) == 1
