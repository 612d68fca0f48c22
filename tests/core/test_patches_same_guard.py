"""The same guard in two functions of real files, and on a newer tree: made by git, from seeds."""

from __future__ import annotations

import shutil
from collections import Counter

import pytest
from tests.same_guard import pairs

from excise.patches import Pool, group, parse

pytestmark = pytest.mark.slow

COUNT = 100


@pytest.fixture(scope="module")
def pools(tmp_path_factory):
    """Pools of three patches: the guard in one function, in another one, on a newer tree."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    made = []
    for pair in pairs(COUNT, tmp_path_factory.mktemp("diffs")):
        pool = Pool()
        for text in (pair.one, pair.other, pair.newer):
            pool.add(parse(text))
        assert all(patch.files for patch in pool.patches)
        made.append(pool)
    return made


def test_a_guard_on_a_newer_tree_is_the_same_edit(pools):
    for pool in pools:
        found = pool.compare(0, 2)
        assert (found.exact, found.shares.anchored, found.contained_in_b) == (1, 1, 1)
        assert found.word == "identical"


def test_a_guard_in_another_function_is_another_edit(pools):
    """Where a function is tiny, or repeats its neighbour, the lines around are the same ones."""
    found = [pool.compare(0, 1) for pool in pools]
    assert sum(pair.value >= 0.7 for pair in found) <= 0.05 * COUNT
    words = Counter(pair.word for pair in found)
    assert words["overlaps"] == COUNT
    apart = [pool for pool, pair in zip(pools, found, strict=True) if pair.value < 0.45]
    assert all(len({0, 1} & set(cluster.members)) < 2 for pool in apart for cluster in group(pool))
