"""The hunks of a review: every candidate can be made of them again, and its digest knows them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excise.text import raw_lines
from excise_server.foundation.changes import Side
from excise_server.review.candidate import Candidate, review_digest
from excise_server.review.hunks import hunk_name, lines_named, review_files

FILE = "100644"
ORIGIN = "def f(a):\n    return g(a)\n\n\ndef g(a):\n    return a\n"


def side(text, mode=FILE):
    return Side(mode, text if isinstance(text, bytes) else text.encode())


def candidate(name, old=None, new=None, **more):
    old = {path: side(text) for path, text in (old or {}).items()}
    new = {path: side(text) for path, text in (new or {}).items()}
    return Candidate(name, "", "", "", old=old, new=new, **more)


def edits(**texts):
    """Return candidates that edit one file of the origin."""
    return [candidate(name, {"a.py": ORIGIN}, {"a.py": text}) for name, text in texts.items()]


def rebuilt(file, name):
    """Return what a candidate makes of a file, from hunks alone."""
    chosen = [
        (hunk.lo, hunk.hi, text)
        for hunk in file.hunks
        for ids, text in file.variants(hunk)
        if name in ids
    ]
    return applied(file.text, chosen)


def applied(origin, chosen):
    """Return a text with other ones in place of lines (from, to), in whatever order."""
    lines = raw_lines(origin)
    for lo, hi, text in sorted(chosen, reverse=True):
        lines[lo:hi] = [text]
    return "".join(lines)


def test_variants_are_grouped_by_equal_text_and_the_most_frequent_comes_first():
    guard = ORIGIN.replace("    return a\n", "    return a or 0\n")
    other = ORIGIN.replace("return g(a)", "return h(a)")
    (file,) = review_files(edits(ada=other, bo=guard, chen=guard, dana=ORIGIN + "x = 1\n"))
    assert [(hunk_name(hunk.lo, hunk.hi), len(file.variants(hunk))) for hunk in file.hunks] == [
        ("2", 1), ("6", 2),
    ]  # fmt: skip
    hunk = file.hunks[1]
    assert hunk.text == "    return a\n"
    _, (last, text) = file.variants(hunk)
    assert [ids for ids, _ in file.variants(hunk)] == [("bo", "chen"), ("dana",)]
    assert file.unchanged(hunk) == ("ada",)
    assert (last, text) == (("dana",), "    return a\nx = 1\n")


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "  d\n", "e"]), max_size=8)
TEXTS = LINES.map(lambda lines: "".join(line if line != "e" else "e\n" for line in lines[:-1])
                  + "".join(lines[-1:]))  # fmt: skip


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=4))
def test_every_text_is_made_again_of_its_variants(origin, texts):
    files = {f"c{n}": text for n, text in enumerate(texts)}
    members = [candidate(n, {"x.txt": origin}, {"x.txt": text}) for n, text in files.items()]
    for file in review_files(members):
        touching = {change.id for change in file.changes}
        for name, text in files.items():
            assert rebuilt(file, name) == text
            assert name in touching or text == origin
        for hunk in file.hunks:
            who = [*file.unchanged(hunk), *(i for ids, _ in file.variants(hunk) for i in ids)]
            assert sorted(who) == sorted(files)
            for name, (lo, hi) in zip(file.ids, hunk.spans, strict=True):
                own = "".join(raw_lines(files[name])[lo:hi])
                assert own == next((t for ids, t in file.variants(hunk) if name in ids), hunk.text)


def test_what_is_not_an_edit_of_text_is_a_fact():
    moved = candidate("moved", {"a.py": ORIGIN}, {"b.py": ORIGIN.replace("g(a)", "h(a)", 1)})
    gone = candidate("gone", {"a.py": ORIGIN}, {})
    fresh = candidate("fresh", {}, {"new.py": "x = 1\n"})
    data = candidate("data", {"a.py": ORIGIN}, {"a.py": b"\0\1"})
    mode = candidate("mode", {"a.py": ORIGIN})
    mode = replace(mode, new={"a.py": side(ORIGIN, "100755")})
    edited, created = review_files([moved, gone, fresh, data, mode])
    changes = {change.id: change for change in edited.changes}
    assert {name: change.status for name, change in changes.items()} == {
        "moved": "renamed", "gone": "deleted", "data": "modified", "mode": "modified",
    }  # fmt: skip
    assert changes["moved"].path == "b.py"
    assert changes["moved"].pair.facts == ("rename from a.py",)
    assert changes["mode"].pair.facts == ("mode 100644 to 100755",)
    assert changes["data"].pair.facts == ("binary",)
    (hunk,) = edited.hunks
    assert [ids for ids, _ in edited.variants(hunk)] == [("moved",)]
    assert edited.unchanged(hunk) == ("fresh", "mode"), "who has no text there is in no hunk"
    assert (created.path, created.origin, created.changes[0].status) == ("new.py", None, "created")
    assert rebuilt(created, "fresh") == "x = 1\n"


def test_a_binary_origin_has_no_hunks():
    made = candidate("text", {"a.bin": b"\0"}, {"a.bin": "now text\n"})
    (file,) = review_files([made])
    assert (file.text, file.hunks, file.changes[0].text) == (None, (), "now text\n")


def test_no_candidate_and_64_equal_ones():
    assert review_files([]) == ()
    text = ORIGIN.replace("return a\n", "return a or 0\n")
    (file,) = review_files(edits(**{f"c{n}": text for n in range(64)}))
    (hunk,) = file.hunks
    assert [len(ids) for ids, _ in file.variants(hunk)] == [64]


@pytest.mark.parametrize(
    ("name", "lines"),
    [("1", (0, 1)), ("12-14", (11, 14)), ("0+", (0, 0)), ("7+", (7, 7)), ("3-3", (2, 3))],
)
def test_lines_are_named_from_1(name, lines):
    assert lines_named(name) == lines
    assert lines_named(hunk_name(*lines)) == lines


@pytest.mark.parametrize("name", ["", "0", "0-2", "4-3", "-1", "1-", "+", "1-2-3", "a", "²", "1 "])
def test_what_names_no_lines(name):
    assert lines_named(name) is None


def test_the_digest_is_of_the_origin_and_the_candidates():
    ada, bo = edits(ada=ORIGIN + "x = 1\n", bo=ORIGIN + "y = 1\n")
    digest = review_digest("c0ffee", [ada, bo])
    assert digest == review_digest("c0ffee", [bo, ada])
    assert digest == review_digest("c0ffee", [replace(ada, label="x", notes=("y",)), bo])
    other = replace(bo, new={"a.py": side(ORIGIN + "y = 2\n")})
    moved = replace(bo, new={"a.py": side(ORIGIN + "y = 1\n", "100755")})
    for changed in ([ada], [ada, other], [ada, moved], [ada, replace(bo, id="b")], []):
        assert review_digest("c0ffee", changed) != digest
    assert review_digest("decaf", [ada, bo]) != digest
