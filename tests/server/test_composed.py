"""A patch gives the tree that `git apply` gives, whatever it renames and copies."""

import pytest
from tests.server.git_repository import make, needs_git

from excise.patches import joined, parse
from excise_server.foundation.changes import Side
from excise_server.sources.composed import composed

A, B = ("".join(f"{name} {n}\n" for n in range(20)) for name in "ab")
TREES = {
    "a copy of what the patch edits": {
        "f": A.replace("a 15", "A"),
        "g": A.replace("a 3\n", "C\n"),
        "h": B,
    },
    "both edit one line": {"f": A.replace("a 3\n", "x\n"), "g": A.replace("a 3\n", "x\n"), "h": B},
    "two names swapped": {"f": B + "more\n", "h": A + "more\n"},
    "a chain": {"h": A + "end\n", "i": B + "end\n"},
    "another file in its place": {"f": B + "more\n", "g": A + "end\n", "h": B},
    "names with blanks": {"f ": A + "end\n", "h": B, "x y ": B + "1\n", 'q"\tü': A + "2\n"},
}


@needs_git
@pytest.mark.parametrize("case", TREES)
def test_a_patch_gives_the_tree_that_git_has(tmp_path, monkeypatch, case):
    repo = make(tmp_path, monkeypatch)
    before = {"f": A, "h": B}
    for path, text in before.items():
        repo.write(path, text)
    repo.git("add", "--all")
    repo.git("commit", "--message", "before")
    for path in before.keys() - TREES[case].keys():
        (repo.path / path).unlink()
    for path, text in TREES[case].items():
        repo.write(path, text)
    repo.git("add", "--all")
    diff = repo.git("diff", "--cached", "--find-renames", "--find-copies-harder", "-B")
    sides = composed(parse(diff), {}, lambda path: _side(before.get(path)))
    after = before | {path: side.data.decode() for path, side in sides.new.items()}
    assert {
        path: after[path] for path in after.keys() - (sides.old.keys() - sides.new.keys())
    } == TREES[case]


def test_ten_thousand_renames_in_one_cycle():
    """Each file takes the name of the next, and edits one of them."""
    n = 10_000
    rename = "diff --git a/f{0} b/f{1}\nsimilarity index 100%\nrename from f{0}\nrename to f{1}\n"
    edit = "--- a/f0\n+++ b/f1\n@@ -1 +1 @@\n-0\n+zero\n"
    parts = [rename.format(at, (at + 1) % n) for at in range(n)]
    patch = parse("".join([parts[0], edit, *parts[1:]]).encode())
    sides = composed(patch, {}, lambda path: _side(f"{path[1:]}\n"))
    assert sides.old.keys() == sides.new.keys() == {f"f{at}" for at in range(n)}
    texts = {path: side.data for path, side in sides.new.items()}
    assert texts == {f"f{(at + 1) % n}": b"%d\n" % at if at else b"zero\n" for at in range(n)}


def test_a_copy_in_a_series_starts_from_the_patch_before_it():
    one = b"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"
    two = b"diff --git a/f b/g\nsimilarity index 100%\ncopy from f\ncopy to g\n"
    alone = composed(parse(one + two), {}, lambda _: _side("a\n"))
    series = composed(joined([parse(one), parse(two)]), {}, lambda _: _side("a\n"))
    assert (alone.new["g"].data, series.new["g"].data) == (b"a\n", b"b\n")


def _side(text: str | None) -> Side | None:
    return None if text is None else Side("100644", text.encode())
