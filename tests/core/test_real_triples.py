"""The laws on real triples: two versions of one commit of git, on the same file (section 7)."""

import gzip
import json

import pytest
from tests.reference.implementations import IMPLEMENTATIONS
from tests.reference.replay import merged_by_git

import excise
from excise.languages import resolve

pytestmark = pytest.mark.slow

GRANULARITY = pytest.mark.parametrize("granularity", ["token", "line", "nested"])
LCS = pytest.mark.parametrize("lcs", ["star", "paper"])
CHOICES = pytest.mark.parametrize(
    ("granularity", "lcs"),
    [("token", "star"), ("line", "star"), ("nested", "star"), ("nested", "paper")],
)
MIDDLE, SMALL = 40_000, 8_000
"""Code points of an origin: at most, here; and at most for the oracle's quadratic table."""


@pytest.fixture(scope="module")
def rows(excise_data):
    packed = (excise_data / "git_same_origin_dev.jsonl.gz").read_bytes()
    found = [json.loads(line) for line in gzip.decompress(packed).decode().split("\n") if line]
    assert len(found) == 40
    return found


def triple_of(row):
    first, second = row["candidates"][:2]
    return row["origin"], first["text"], second["text"]


@CHOICES
def test_range_symmetry_identity_and_doing_nothing(rows, granularity, lcs):
    middle = [row for row in rows if len(row["origin"]) <= MIDDLE]
    assert len(middle) == 33
    for row in middle:
        origin, a, b = triple_of(row)
        options = {"granularity": granularity, "lcs": lcs, "path": row["path"]}

        def similarity(x, y, origin=origin, options=options):
            return excise.similarity(origin=origin, a=x, b=y, **options)

        one, other = similarity(a, b), similarity(b, a)
        assert one.exact == other.exact, row["id"]
        assert one.value.hex() == other.value.hex(), row["id"]
        assert 0 <= one.exact <= 1, row["id"]
        assert similarity(a, a).exact == 1, row["id"]
        assert similarity(a, origin).exact == similarity(origin, b).exact == 0, row["id"]


@GRANULARITY
@LCS
def test_the_oracle_judges(rows, granularity, lcs):
    small = [row for row in rows if len(row["origin"]) <= SMALL]
    assert len(small) == 12
    for row in small:
        triple = triple_of(row)
        grammar = resolve(None, row["path"], row["origin"])
        options = {"granularity": granularity, "lcs": lcs, "language": grammar}
        for form in ("directed", "symmetric"):
            found, expected = (
                getattr(IMPLEMENTATIONS[name], form)(*triple, **options)
                for name in ("core", "oracle")
            )
            assert found == expected, row["id"]


@GRANULARITY
def test_places(placed_implementation, rows, granularity):
    """The laws of places hold; a commit's two versions are called the same iff they are equal."""
    small = [row for row in rows if len(row["origin"]) <= SMALL]
    for row in small:
        origin, a, b = triple_of(row)
        options = {
            "granularity": granularity,
            "language": resolve(None, row["path"], row["origin"]),
            "place": "anchored",
        }
        one = placed_implementation.symmetric(origin, a, b, **options)
        other = placed_implementation.symmetric(origin, b, a, **options)
        assert 0 <= one.anchored <= one.exact <= one.anywhere <= 1, row["id"]
        assert one.exact == (3 * one.anchored + one.anywhere) / 4, row["id"]
        for name in ("exact", "anchored", "anywhere", "word", "places", "notes"):
            assert getattr(one, name) == getattr(other, name), row["id"]
        assert one.contained == other.contained[::-1], row["id"]


def test_what_git_merges_cleanly_replays_to_the_same_text(rows):
    """Both versions of a patch on one file, each replayed onto the other: git merges 16 of 80."""
    clean = 0
    for row in rows:
        base, *versions = triple_of(row)
        for origin, revision in (versions, versions[::-1]):
            replayed = excise.replay(base, origin, revision)
            conflicts, merged = merged_by_git(base, origin, revision)
            clean += not conflicts
            assert bool(replayed.conflicts) == conflicts, row["id"]
            assert conflicts or merged == replayed.text, row["id"]
    assert clean == 16
