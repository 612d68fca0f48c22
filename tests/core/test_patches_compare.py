"""Comparing patches by their edits: the oracle, the guards, the hard cases."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import archive
from tests.reference import patches as oracle

from excise.patches import Pool, group, parse, patch_id, read

CASES = sorted((Path(__file__).parents[1] / "cases" / "patches").glob("*.txt"))


def hunk(*lines, name="x.c", start=1):
    old = sum(line[:1] in " -" for line in lines)
    new = sum(line[:1] in " +" for line in lines)
    text = [f"--- a/{name}", f"+++ b/{name}", f"@@ -{start},{old} +{start},{new} @@", *lines, ""]
    return "\n".join(text).encode()


def pool_of(*patches, **options):
    pool = Pool(ignored=(), **options)
    for patch in patches:
        pool.add(parse(patch))
    return pool


def compare(a, b, **options):
    return pool_of(a, b, **options).compare(0, 1)


def described(data):
    found = compare(*(data[name].encode() for name in ("a.patch", "b.patch")))
    lines = [f"value {found.exact}", f"a in b {found.contained_in_b}"]
    lines += [f"files {a or '-'} {b or '-'}" for a, b in found.files]
    lines += [f"facts {path}: {', '.join(a)} | {', '.join(b)}" for path, a, b in found.facts]
    return "\n".join([*lines, *(f"note {note}" for note in found.notes)])


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path):
    archive.check(path, {"comparison": described(archive.read(path))})


_LINE = st.sampled_from(["foo(a);", "bar(a);", "  foo(a);", "", " ", "return 0;", "x = 1;", "}"])
_BODY = st.lists(st.tuples(st.sampled_from(" +-"), _LINE).map("".join), min_size=1, max_size=12)
_FILE = st.tuples(_BODY, st.sampled_from(["x.c", "d/x.c", "y.c"])).map(
    lambda drawn: hunk(*drawn[0], name=drawn[1])
)
_PATCH = st.lists(_FILE, min_size=1, max_size=3).map(b"".join)


@given(_PATCH, _PATCH)
def test_the_library_is_the_oracle(a, b):
    pool = pool_of(a, b)
    expected = oracle.score(parse(a), parse(b))
    found = pool.compare(0, 1)
    assert found.exact == expected
    assert pool_of(b, a).compare(0, 1).exact == expected
    assert {(i, j): v for i, j, v in pool.near(0.0)}.get((0, 1), 0.0) == float(expected)


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


def test_the_score_depends_on_no_other_patch():
    a, b = hunk("-x = 1;", "+x = 2;"), hunk("-x = 1;", "+x = 3;")
    many = pool_of(a, hunk("-q", "+r"), b, hunk("+x = 2;", name="z"))
    assert many.compare(0, 2) == compare(a, b)


def test_signature():
    assert pool_of().signature == "es|n:4|comments:keep|tok:lexical|basis:edits|key:name|v:2"
    assert "key:none" in pool_of(key="none").signature


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
