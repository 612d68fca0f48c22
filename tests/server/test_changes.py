"""From two texts to hunks: applied, they give the second text; and nothing that is equal shows."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.git_repository import Repo, needs_git

from excise.kernels._lcs import edits
from excise.patches import Patch, Pool, parse
from excise.patches.blocks import blocks_of
from excise.text import line_key, normalise, raw_lines
from excise.tokens import Vocabulary
from excise_server.foundation.changes import (
    LINK,
    Side,
    changed_file,
    patch_files,
    renamed_files,
)

LINE = st.sampled_from(["a", "b", "c d", "  e", "a ", "", "", "\t", "é\x0c", "x\x85y"])
TEXT = st.builds(
    lambda lines, end: "\n".join(lines) + end,
    st.lists(LINE, max_size=14),
    st.sampled_from(["", "\n"]),
)


def side(text, mode="100644"):
    return Side(mode, text if isinstance(text, bytes) else text.encode())


def applied(old, pair):
    """Apply the hunks of a file as a strict reader would: every line must be where it says."""
    lines, out, at = raw_lines(old), [], 0
    for hunk in pair.hunks:
        shown = [line for line in hunk.lines if line[:1] != b"+"]
        start = hunk.old_start - 1 if shown else hunk.old_start
        out += lines[at:start]
        images = [[line[1:].decode() + "\n" for line in hunk.lines if line[:1] != skip]
                  for skip in (b"+", b"-")]  # fmt: skip
        for image, is_open in zip(images, (hunk.old_open, hunk.new_open), strict=True):
            if is_open:
                image[-1] = image[-1][:-1]
        assert lines[start : start + len(images[0])] == images[0]
        assert len(out) == hunk.new_start - bool(images[1])
        out += images[1]
        at = start + len(images[0])
    return "".join(out + lines[at:])


@pytest.mark.slow
@given(TEXT, TEXT)
def test_hunks_give_the_new_text(old, new):
    pair = changed_file("f", side(old), "f", side(new))
    if old == new:
        assert pair is None
    else:
        assert applied(old, pair) == new


@given(TEXT, TEXT, TEXT)
def test_laws_of_whole_files(old, a, b):
    patches = [Patch(patch_files({"f": side(old)}, {"f": side(text)})) for text in (a, b)]
    pool = Pool()
    for patch in patches:
        pool.add(patch)
    score = pool.compare(0, 1).exact
    assert score == pool.compare(1, 0).exact
    if a == b:
        assert score == 1
    elif old in (a, b):
        assert score == 0
    assert 0 <= score <= 1


@given(TEXT, TEXT)
def test_it_is_the_alignment_of_the_library(old, new):
    """No line that the canonical alignment of whole files keeps is deleted here."""
    pair = changed_file("f", side(old), "f", side(new))
    keys = [[line_key(line) for line in raw_lines(text)] for text in (old, new)]
    solid = [[at for at, key in enumerate(lines) if key] for lines in keys]
    names = Vocabulary()
    ints = [
        names.intern([lines[at] for at in places])
        for lines, places in zip(keys, solid, strict=True)
    ]
    flat = edits(*ints)
    gone = {solid[0][at] for n in range(0, len(flat), 4) for at in range(flat[n], flat[n + 1])}
    shown = set()
    for hunk in pair.hunks if pair else ():
        at = hunk.old_start - 1
        for line in hunk.lines:
            if line[:1] == b"-":
                shown.add(at)
            at += line[:1] != b"+"
    kept = {at for at in shown if keys[0][at] and at not in gone}
    # A kept line is shown only where its line end or the white space at its end changed.
    assert gone <= shown
    assert len(kept) <= sum(
        line != f"{line_key(line)}\n" for text in (old, new) for line in raw_lines(text)
    )


@given(TEXT, TEXT)
def test_equal_lines_are_no_change(old, new):
    pair = changed_file("f", side(old), "f", side(new))
    if pair is not None:
        for hunk in pair.hunks:
            assert any(line[:1] != b" " for line in hunk.lines)
        assert len(list(blocks_of(pair, Vocabulary()))) <= sum(len(h.lines) for h in pair.hunks)


@pytest.mark.parametrize(
    ("old", "new"),
    [("a\r\nb\r\n", "a\nb\n"), ("\ufeffa\n", "a\n"), ("a\rb\n", "a\nb\n")],
)
def test_line_ends_and_byte_order_marks_are_facts_and_no_lines(old, new):
    assert normalise(old) == normalise(new)
    (pair,) = patch_files({"f": side(old)}, {"f": side(new)})
    assert pair.hunks == ()
    assert pair.facts == pair.beside != ()
    (pair,) = patch_files({"f": side("a\nb\n".encode("utf-16"))}, {"f": side("a\nb\n")})
    assert pair.facts == ("only converts the file from utf-16 to ascii",)


def test_what_a_file_is():
    cases = {
        "created": (None, side("x\n")),
        "deleted": (side("x\n"), None),
        "mode 100644 to 100755": (side("x\n"), side("x\n", "100755")),
        "mode 100644 to 120000": (side("x\n"), side("y", LINK)),
        "binary": (side(b"\0"), side(b"\0\1")),
    }
    for fact, (old, new) in cases.items():
        pair = changed_file("f", old, "f", new)
        assert pair.facts == (fact,), fact
    assert changed_file("f", side(b"\0"), "f", side(b"\0")) is None
    assert changed_file("f", None, "f", side("")).facts == ("created",)
    (moved,) = patch_files({"a": side("x\ny\n")}, {"b": side("x\ny\n")})
    assert (moved.facts, moved.hunks) == (("rename from a",), ())
    latin = changed_file("f", side("é\n".encode("latin-1")), "f", side("ü\n".encode("latin-1")))
    assert latin.hunks[0].lines == ("-é".encode(), "+ü".encode())


def test_the_most_alike_is_the_renamed_one():
    lines = "".join(f"line {at}\n" for at in range(10))
    old = {"a": side(lines), "b": side(lines.replace("line 1\n", "").replace("line 2\n", ""))}
    new = {"c": side(lines + "more\n"), "d": side("other\n")}
    found = {(pair.old, pair.new) for pair in patch_files(old, new)}
    assert found == {("a", "c"), ("b", None), (None, "d")}


def renamed_by_every_pair(old, new):
    """The renames, by comparing every deleted file with every created one."""
    deleted = {path: side for path, side in old.items() if path not in new}
    created = {path: side for path, side in new.items() if path not in old}
    pairs = []
    for path, after in created.items():
        for before, was in deleted.items():
            lines = [set(raw_lines(side.text or "")) for side in (was, after)]
            if longer := max(map(len, lines)):
                pairs.append((len(lines[0] & lines[1]) / longer, path, before))
    renames = {}
    for share, path, before in sorted(pairs, reverse=True):
        if share >= 0.5 and path not in renames and before not in renames.values():
            renames[path] = before
    return renames


FILES = st.lists(
    st.lists(st.sampled_from("abcdefgh"), max_size=9).map(lambda lines: "\n".join(lines) + "\n"),
    max_size=5, unique=True,
)  # fmt: skip


@given(FILES, FILES, st.lists(st.sampled_from("xyz"), max_size=3))
def test_renames_are_those_of_every_pair(olds, news, shared):
    head = "".join(f"{line}\n" for line in shared)
    old = {f"o{n}": side(head + text) for n, text in enumerate(olds)}
    new = {f"n{n}": side(head + text + "end\n") for n, text in enumerate(news)}
    assert renamed_files(old, new) == renamed_by_every_pair(old, new)


@needs_git
@pytest.mark.slow
def test_a_candidate_has_the_hunks_that_git_writes(tmp_path):
    """Both doors agree: what is read from a repository, and the patch that git makes of it."""
    random, repo = Random(5), Repo(tmp_path / "repo", tmp_path / "home").init()
    for _ in range(25):
        lines = [f"def f{n}(a):" if n % 9 == 0 else f"    line {n}" for n in range(80)]
        edited = list(lines)
        for n in random.sample(range(80), random.randint(1, 8)):
            edited[n] = random.choice(["", f"    new {n}", f"{lines[n]}\n    more {n}"])
        old, new = (
            "\n".join(filter(None, text)) + random.choice(["", "\n"]) for text in (lines, edited)
        )
        repo.commit(f__py=old)
        repo.commit(f__py=new)
        (written,) = parse(repo.git("diff", "--no-color", "HEAD~1", "HEAD")).files
        (read,) = patch_files({"f.py": side(old)}, {"f.py": side(new)})
        assert tuple(replace(hunk, line=0) for hunk in written.hunks) == read.hunks
