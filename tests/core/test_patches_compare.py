"""Comparing patches by their edits: the oracle, the guards, the hard cases."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import archive
from tests.core.patch_texts import bodies, hunk, pool_of
from tests.reference.budget import examples
from tests.reference.implementations import PLACED_PATCHES

from excise import signature
from excise.patches import Pool, differences, group, parse, patch_id, read

CASES = sorted((Path(__file__).parents[1] / "cases" / "patches").glob("*.txt"))


def compare(a, b, **options):
    return pool_of(a, b, **options).compare(0, 1)


def described(data):
    found = compare(*(data[name].encode() for name in ("a.patch", "b.patch")))
    shares = found.shares
    lines = [
        f"value {found.exact}",
        f"anchored {shares.anchored}",
        f"anywhere {shares.anywhere}",
        f"a in b {shares.a_in_b}",
        f"b in a {shares.b_in_a}",
        f"word {found.word}{', in another file' if found.in_another_file else ''}",
    ]
    lines += [f"files {a or '-'} {b or '-'}" for a, b in found.files]
    lines += [f"facts {path}: {', '.join(a)} | {', '.join(b)}" for path, a, b in found.facts]
    return "\n".join([*lines, *(f"note {note}" for note in found.notes)])


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path):
    archive.check(path, {"comparison": described(archive.read(path))})


_LINE = st.sampled_from(["foo(a);", "bar(a);", "  foo(a);", "", " ", "return 0;", "x = 1;", "}"])
_BODY = bodies(_LINE, 12)
_FILE = st.builds(
    lambda body, name, heading: hunk(*body, name=name, heading=heading),
    _BODY,
    st.sampled_from(["x.c", "d/x.c", "y.c"]),
    st.sampled_from(["", "", "f(a)", "g", " g "]),
)
_PATCH = st.lists(_FILE, min_size=1, max_size=3).map(b"".join)


@given(_PATCH, _PATCH, st.sampled_from(["name", "none"]))
def test_the_library_is_the_oracle(a, b, key):
    expected, found = (PLACED_PATCHES[name](a, b, key) for name in ("oracle", "core"))
    if not any(map(sum, expected.counts.values())):
        # Nothing changes on either side: header facts are no n-grams to the oracle.
        assert (found.exact, found.word) == (expected.exact, expected.word)
    elif expected.word == "different" and expected.exact == expected.anywhere == 0:
        assert (found.exact, found.anywhere, found.word) == (0, 0, "different")
    else:
        assert found == expected
    pool = pool_of(a, b, key=key)
    assert pool.score(0, 1) == float(expected.exact)
    assert {(i, j): v for i, j, v in pool.near(0.0)}.get((0, 1), 0.0) == float(expected.exact)
    parts = differences(*pool.patches, ignored=(), renamed=pool.rescued(0, 1) or key == "none")
    assert parts.exact in (expected.exact, None)


@given(_PATCH)
def test_a_patch_is_itself_and_line_numbers_do_not_count(a):
    moved = a.replace(b"@@ -1,", b"@@ -71,").replace(b" +1,", b" +75,")
    assert compare(a, moved).exact == 1
    assert patch_id(parse(a)) == patch_id(parse(moved))


def test_white_space_counts_in_a_patch_id_where_nothing_else_changes():
    """Also beside context lines that look like edits: a list item, a sign."""
    texts = [
        hunk(" - item", " +1", f"-{old}", f"+{new}")
        for old, new in (("a b", "a  b"), ("a b", "a\tb"), ("a b", "a c"), ("a  b", "a c"))
    ]
    ids = [patch_id(parse(text)) for text in texts]
    assert len(set(ids[:3])) == 3
    assert ids[2] == ids[3]


@pytest.mark.parametrize("others", [0, 1, 146])
@given(_PATCH, _PATCH)
@examples(30)
def test_the_score_depends_on_no_other_patch(others, a, b):
    alone = pool_of(a, b)
    among = pool_of(*(hunk(f"-x = {n};", "+x = 2;", name="x.c") for n in range(others)), a, b)
    assert among.compare(others, others + 1) == alone.compare(0, 1)
    assert among.signature == alone.signature
    near = [{(i, j): value for i, j, value in pool.near(0.0)} for pool in (among, alone)]
    assert near[0].get((others, others + 1)) == near[1].get((0, 1))


def test_signature():
    assert pool_of().signature == (
        "pes|n:4|comments:keep|tok:lexical|basis:edits|key:name|place:anchored|heads:3"
        f"|v:{signature.DEFINITION}"
    )
    assert "key:none|place:anchored" in pool_of(key="none").signature


def test_one_guard_in_two_functions_is_not_one_cluster():
    case = archive.read(CASES[0].with_name("guard-in-two-functions.txt"))
    pool = pool_of(*(case[name].encode() for name in ("a.patch", "b.patch")))
    assert [found.members for found in group(pool)] == [(0,), (1,)]
    assert pool.compare(0, 1).word == "overlaps"


def test_key_none_joins_siblings():
    a, b = hunk("-x = 1;", "+x = 2;"), hunk("-x = 1;", "+x = 2;", name="y.c")
    assert compare(a, b).exact == 0
    assert compare(a, b, key="none").exact == 1


def test_ignored_paths():
    lock, edit = hunk("-1", "+2", name="Cargo.lock"), hunk("-a", "+b")
    pool = Pool()
    for patch in (lock + edit, edit, lock):
        pool.add(parse(patch))
    assert pool.compare(0, 1).exact == 1
    assert "only ignored paths: compared all the same: b" in pool.compare(0, 2).notes


def test_groups_are_those_of_the_whole_matrix():
    from itertools import product

    edits = product(("1", "2", "f(3)"), ("a", "b", "g(a, b)"), ("x.c", "y.c"))
    pool = pool_of(*(hunk(f"-x = {n} + {m};", f"+x = {m};", name=p) for n, m, p in edits))
    import numpy as np
    from sklearn.cluster import AgglomerativeClustering

    k = len(pool)
    values = np.array([[pool.compare(i, j).value for j in range(k)] for i in range(k)])
    for linkage, threshold in product(("complete", "average", "single"), (0.0, 0.3, 0.55, 0.8, 1)):
        model = AgglomerativeClustering(
            n_clusters=None, metric="precomputed", linkage=linkage, distance_threshold=threshold
        )
        labels = model.fit_predict(1 - values) if threshold else np.arange(k)
        dense = {frozenset(np.flatnonzero(labels == at).tolist()) for at in labels}
        ours = group(pool, threshold=threshold, linkage=linkage)
        assert {frozenset(found.members) for found in ours} == dense
        for found in ours:
            inside = values[found.representative, list(found.members)]
            assert found.min_similarity == pytest.approx(inside.min())


def test_a_real_mailbox_groups_versions(excise_data):
    found = read((excise_data / "mail" / "series" / "bugs-nocover.mbox").read_bytes())
    pool = Pool()
    for message in found:
        pool.add(message.patch)
    assert [cluster.members for cluster in group(pool)] == [(0, 2), (1, 3)]


@pytest.mark.parametrize("linkage", ["complete", "average", "single"])
def test_copies_are_in_the_groups_of_what_they_copy(linkage):
    edits = [hunk(f"-x = {n};", f"+x = f({n}, {m});") for n, m in ((1, 2), (1, 3), (4, 5), (6, 1))]
    pool, alone = pool_of(*edits, edits[2], edits[0], edits[2]), pool_of(*edits)
    assert pool.compare(0, 5).exact == pool.compare(4, 6).exact == 1
    for threshold in (0.2, 0.5, 0.7):
        found = {frozenset(c.members) for c in group(pool, threshold=threshold, linkage=linkage)}
        assert sum(map(len, found)) == 7
        assert all(({0, 5} <= own or not {0, 5} & own) for own in found)
        assert all(({2, 4, 6} <= own or not {2, 4, 6} & own) for own in found)
        if linkage != "average":
            bare = {
                frozenset(c.members) for c in group(alone, threshold=threshold, linkage=linkage)
            }
            assert {own & {0, 1, 2, 3} for own in found} == bare


def test_the_medoid_counts_every_copy():
    near, far, other = (hunk("-x = a;", f"+x = f({b});") for b in ("b, c, d", "b, c, e", "b, e, e"))
    [only] = group(pool_of(near, far, other, other), threshold=0.9)
    assert only.representative == 2
    [only] = group(pool_of(other, far, near, near, near), threshold=0.9)
    assert only.representative == 2


def test_many_copies_are_not_refused(monkeypatch):
    monkeypatch.setattr("excise.patches.pool.MOST", 3)
    pool = pool_of(*[hunk("-a", "+f(b);")] * 9, *(hunk("-a", f"+f(b{n});") for n in range(2)))
    assert group(pool, threshold=0.9)[0].members == tuple(range(11))
