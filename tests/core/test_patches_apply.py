"""Applying patches: what differs and is put together again, beside ``git apply``, and bad input."""

import contextlib
import difflib
import gzip
import json
import os
import random
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.fuzz import hunks
from tests.reference.budget import examples, scaled

from excise.patches import Applied, PatchError, apply, parse
from excise.patches.apply import Image

GIT = shutil.which("git")
needs_git = pytest.mark.skipif(GIT is None, reason="git is not installed: it makes the patches")
BASE = b"".join(b"line %d\n" % number for number in range(1, 21))
AFTER = BASE.replace(b"line 10\n", b"ten\n")

LINES = st.sampled_from(
    [
        b"a", b"b", b"c", b"", b"-- x", b"++ y", b"\\ No newline", b"@@ -1 +1 @@", b" ", b"\r",
        b"diff --git a/x b/x", b"a\r", b"\x0c", b"\xe2\x80\xa8", b"\xff\xfe", b"From x",
    ]
)  # fmt: skip
TEXTS = st.builds(
    lambda lines, last: b"".join(line + b"\n" for line in lines) + last,
    st.lists(LINES, max_size=12),
    LINES | st.just(b""),
)


def only(data: bytes):
    (pair,) = parse(data).files
    return pair


def by_git(folder: Path, before: bytes, after: bytes, *options: str) -> bytes:
    """Return what git says of two texts under one name."""
    for side, text in (("old", before), ("new", after)):
        (folder / side).mkdir(exist_ok=True)
        (folder / side / "f").write_bytes(text)
    config = "-c", "core.autocrlf=false"
    command = ["git", *config, "diff", "--no-index", "--text", "--full-index", *options]
    ran = subprocess.run(
        [*command, "old/f", "new/f"], cwd=folder, capture_output=True, timeout=60, check=False
    )
    assert ran.returncode in (0, 1), ran.stderr
    return ran.stdout.replace(b"a/old/f", b"a/f").replace(b"b/new/f", b"b/f")


def git_apply(folder: Path, patch: bytes, text: bytes, *options: str) -> bytes | None:
    """Return what git makes of the text; None if it refuses the patch."""
    (folder / "f").write_bytes(text)
    ran = subprocess.run(
        ["git", "apply", "--whitespace=nowarn", *options, "-"],
        cwd=folder,
        input=patch,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return (folder / "f").read_bytes() if ran.returncode == 0 else None


def ours(patch: bytes, text: bytes) -> bytes | None:
    try:
        return apply(only(patch), text).text
    except PatchError:
        return None


# --- what differs is put together again ----------------------------------------------------------


@needs_git
@pytest.mark.slow
@examples(150)
@given(TEXTS, TEXTS, st.integers(0, 4), st.sampled_from(["myers", "patience", "histogram"]))
def test_what_git_differs_is_put_together(tmp_path_factory, before, after, context, how):
    assume(before != after)
    folder = tmp_path_factory.mktemp("d")
    options = f"-U{context}", f"--diff-algorithm={how}"
    pair = only(by_git(folder, before, after, *options))
    assert apply(pair, before) == Applied(after, (0,) * len(pair.hunks))
    assert apply(only(by_git(folder, before, after, *options, "-R")), after).text == before


@examples(300)
@given(st.lists(LINES, max_size=14), st.lists(LINES, max_size=14), st.integers(0, 4))
def test_what_difflib_differs_is_put_together(before, after, context):
    assume(before != after)
    ends = [[line + b"\n" for line in lines] for lines in (before, after)]
    lines = difflib.diff_bytes(difflib.unified_diff, *ends, b"a/f", b"b/f", n=context)
    assert apply(only(b"".join(lines)), b"".join(ends[0])).text == b"".join(ends[1])


# --- git apply -----------------------------------------------------------------------------------


def moved(choice: random.Random, patch: bytes, text: bytes) -> tuple[bytes, bytes]:
    """Return the patch with other numbers in its headers, or the text with other lines."""
    lines, ends = patch.split(b"\n"), text.split(b"\n")
    for _ in range(choice.randint(1, 2)):
        at = choice.randrange(len(ends))
        match choice.randrange(5):
            case 0:
                ends[at:at] = choice.choices((b"a", b"b", b"", b"new"), k=choice.randint(1, 4))
            case 1:
                del ends[at : at + choice.randint(1, 2)]
                ends = ends or [b""]
            case 2:
                ends[at] += choice.choice((b"\r", b" ", b"x"))
            case 3:
                ends = ends * 2
            case _:
                headers = [number for number, line in enumerate(lines) if line[:4] == b"@@ -"]
                header = choice.choice(headers)
                old, new = lines[header].split(b" ")[1:3]
                side = choice.choice((old, new))
                start, comma, count = side.partition(b",")
                other = b"%d" % max(int(start[1:]) + choice.randint(-3, 3), 0)
                new_side = start[:1] + other + comma + count
                lines[header] = lines[header].replace(b" " + side, b" " + new_side, 1)
    return b"\n".join(lines), b"\n".join(ends)


def agree(folder: Path, patch: bytes, text: bytes) -> bool:
    """Check that ours gives what git gives; tell whether git applies the patch."""
    hunks = only(patch).hunks
    without_context = any(not any(line[:1] == b" " for line in hunk.lines) for hunk in hunks)
    # Without this option git takes every hunk that has no context for one of the end of the file.
    options = ["--unidiff-zero"] * without_context
    theirs, result = git_apply(folder, patch, text, *options), ours(patch, text)
    # Git takes the start of a line for a last line without a line end, and joins it to the next.
    if theirs is not None and b"\n\\ " not in patch and not (without_context and result is None):
        assert result == theirs, (patch, text)
    if theirs is None and result is not None and b"\r" not in patch + text:
        # Beyond git we apply only what stands at the very line that is named.
        assert result == git_apply(folder, patch, text, "--unidiff-zero"), (patch, text)
    return theirs is not None


@needs_git
@pytest.mark.slow
def test_damaged_patches_and_other_texts_beside_git_apply(tmp_path):
    choice, applied = random.Random(13), 0
    for _ in range(scaled(200)):
        before = [choice.choice((b"a", b"b", b"c", b"d%d" % n, b"")) for n in range(20)]
        after = list(before)
        for _ in range(choice.randint(1, 3)):
            at = choice.randrange(len(after))
            after[at : at + choice.randint(0, 2)] = choice.choices((b"x", b"y", b"a"), k=2)
        texts = [b"".join(line + b"\n" for line in lines) for lines in (before, after)]
        if texts[0] == texts[1]:
            continue
        patch = by_git(tmp_path, *texts, f"-U{choice.choice((1, 2, 3))}")
        applied += agree(tmp_path, *moved(choice, patch, texts[0]))
    assert applied > scaled(200) // 5


@needs_git
@pytest.mark.slow
@examples(150)
@given(TEXTS, TEXTS, TEXTS, st.integers(0, 3))
def test_other_texts_beside_git_apply(tmp_path_factory, before, after, tail, context):
    assume(after != before and tail)
    folder = tmp_path_factory.mktemp("d")
    agree(folder, by_git(folder, before, after, f"-U{context}"), before + tail)


@needs_git
@pytest.mark.slow
@pytest.mark.skipif("EXCISE_DATA" not in os.environ, reason="EXCISE_DATA is not set")
def test_real_revisions_of_files_beside_git_apply(tmp_path):
    data = Path(os.environ["EXCISE_DATA"]) / "git_same_origin_dev.jsonl.gz"
    with gzip.open(data, "rt", encoding="utf-8") as rows:
        items = [json.loads(row) for row in rows][: scaled(40)]
    choice, applied = random.Random(5), 0
    for item in items:
        origin, first, *others = (
            text.encode("latin-1")
            for text in (item["origin"], *(c["text"] for c in item["candidates"]))
        )
        patch = by_git(tmp_path, origin, first)
        assert ours(patch, origin) == first
        for other in others[:3]:
            applied += agree(tmp_path, patch, other)
        for _ in range(3):
            applied += agree(tmp_path, *moved(choice, patch, origin))
    assert applied > len(items) // 4


# --- files that come, go and move ----------------------------------------------------------------

CREATED = b"diff --git a/f b/f\nnew file mode 100644\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"
DELETED = (
    b"diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
)
EMPTY = b"diff --git a/f b/f\nnew file mode 100644\nindex 0000000..e69de29\n"


def test_created_deleted_and_renamed():
    assert apply(only(CREATED), None).text == b"a\n"
    assert apply(only(EMPTY), None).text == b""
    assert apply(only(DELETED), b"a\n").text is None
    renamed = b"diff --git a/f b/g\nsimilarity index 90%\nrename from f\nrename to g\n"
    assert apply(only(renamed), b"a\n") == Applied(b"a\n")
    change = renamed + b"--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n"
    assert apply(only(change), b"a\n").text == b"b\n"


@pytest.mark.parametrize(
    ("patch", "text", "reason"),
    [
        (CREATED, b"", "f: the patch creates it, but it exists"),
        (DELETED, None, "f: the patch changes it, but it is missing"),
        (DELETED, b"a\nb\n", "deletes the file, but not all of its lines"),
        (DELETED[: DELETED.index(b"---")], b"a\n", "deletes the file, but not all of its lines"),
    ],
)
def test_files_that_are_not_as_the_patch_says(patch, text, reason):
    with pytest.raises(PatchError, match=reason) as caught:
        apply(only(patch), text)
    assert "f: " in caught.value.reason


def test_line_ends():
    patch = b"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    sent = patch.replace(b"\n", b"\r\n")
    unix, dos = b"one\ntwo\n", b"one\r\ntwo\r\n"
    assert apply(only(patch), dos).text == b"one\r\n2\r\n"
    assert apply(only(sent), unix).text == b"one\n2\n"
    assert apply(only(sent), dos).text == b"one\r\n2\r\n"
    with pytest.raises(PatchError, match="line 1 has another line end"):
        apply(only(patch), b"one\r\ntwo\n")  # of both kinds: exact lines only
    mixed = b"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n one\n-two\r\n+two\n"
    assert apply(only(mixed), b"one\ntwo\r\n").text == unix


def test_the_last_line_may_have_no_end():
    patch = b"--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n"
    assert apply(only(patch), b"a").text == b"a\nb\n"
    assert apply(only(patch.replace(b"\n", b"\r\n")), b"a").text == b"a\nb\n"
    with pytest.raises(PatchError, match="line 1 has another line end"):
        apply(only(patch), b"a\n")
    opened = b"--- a/f\n+++ b/f\n@@ -2,1 +2,1 @@\n-b\n+c\n\\ No newline at end of file\n"
    with pytest.raises(PatchError, match="without a line end would not be the last one"):
        apply(only(opened), b"a\nb\nc\n")


# --- bad input -----------------------------------------------------------------------------------

HUNK = b"@@ -7,7 +7,7 @@\n" + b"".join(
    (b"-line 10\n+ten\n" if n == 10 else b" line %d\n" % n) for n in range(7, 14)
)
PATCH = b"diff --git a/f b/f\n--- a/f\n+++ b/f\n" + HUNK


@pytest.mark.parametrize(
    ("patch", "reason", "line"),
    [
        (PATCH.replace(b" line 8\n", b" line 88\n"), "f: hunk 1 does not apply: line 8 has", 4),
        (PATCH.replace(b" line 8\n", b" line 8 \n"), "line 8 has another text", 4),
        (PATCH.replace(b" line 8\n", b" line 8\r\n"), "line 8 has another line end", 4),
        (PATCH + HUNK, "hunk 2 does not apply: it shows line 7, which an earlier", 13),
        (PATCH[: PATCH.index(b"---")] + b"Binary files a/f and b/f differ\n", "is binary", 0),
        (PATCH[: PATCH.index(b"---")] + b"GIT binary patch\nliteral 1\nIcmZPo\n\n", "is binary", 0),
        (b"--- a/f\n+++ b/f\n@@ -31 +31 @@\n-a\n+b\n", "it shows line 31, the file has 20", 3),
        (b"--- a/f\n+++ b/f\n@@ -40,0 +41 @@\n+b\n", "after line 40, but the file has 20", 3),
        (b"--- a/f\n+++ b/f\n@@ -4,0 +7 @@\n+b\n", "line 5 of the result, and line 7", 3),
    ],
)
def test_what_does_not_apply_names_the_file_the_hunk_and_the_line(patch, reason, line):
    with pytest.raises(PatchError) as caught:
        apply(only(patch), BASE)
    assert reason in caught.value.reason
    assert caught.value.line == line


def test_at_an_offset():
    assert apply(only(PATCH), b"0\n" * 3 + BASE) == Applied(b"0\n" * 3 + AFTER, (3,))
    assert apply(only(PATCH.replace(b"@@ -7,7 +7,7", b"@@ -70,7 +70,7")), BASE).offsets == (-63,)
    # Of two places as near the one further down, as git has it.
    lines = b"a\nx\nb\n"
    patch = b"--- a/f\n+++ b/f\n@@ -6,3 +6,3 @@\n a\n-x\n+y\n b\n"
    assert apply(only(patch), lines + b"0\n" * 4 + lines).offsets == (2,)
    assert apply(only(patch), b"0\n" * 2 + lines + b"0\n" * 3 + lines + b"0\n").offsets == (3,)


def test_without_context_only_at_the_line_that_is_named():
    patch = b"--- a/f\n+++ b/f\n@@ -3 +3 @@\n-c\n+C\n@@ -4,0 +5 @@\n+e\n"
    assert apply(only(patch), b"a\nb\nc\nd\nf\n").text == b"a\nb\nC\nd\ne\nf\n"
    with pytest.raises(PatchError, match="line 3 has another text"):
        apply(only(patch), b"0\na\nb\nc\nd\nf\n")
    one_sided = b"--- a/f\n+++ b/f\n@@ -2,1 +2,2 @@\n b\n+new\n"
    assert apply(only(one_sided), b"a\nb\nc\n").text == b"a\nb\nnew\nc\n"


def test_a_file_twice_applies_one_after_the_other():
    first, second = parse(PATCH + PATCH.replace(b"line 10", b"ten").replace(b"+ten", b"+10")).files
    assert apply(second, apply(first, BASE).text).text == BASE.replace(b"line 10", b"10")
    with pytest.raises(PatchError, match="line 10 has another text"):
        apply(second, BASE)


def test_paths_are_names_and_nothing_is_opened():
    for path in (b"../../etc/passwd", b"/etc/passwd", b".git/config"):
        pair = only(PATCH.replace(b"a/f", b"a/" + path).replace(b"b/f", b"b/" + path))
        assert pair.path == path.decode()
        assert apply(pair, BASE).text == AFTER
        with pytest.raises(PatchError, match=path.decode()):
            apply(pair, b"")


def test_work_of_many_places_that_nearly_fit():
    text = b"a\n" * 200_000
    patch = b"--- a/f\n+++ b/f\n@@ -9,401 +9,401 @@\n" + b" a\n" * 200 + b"-b\n+c\n" + b" a\n" * 200
    assert ours(patch, text) is None
    assert apply(replace(only(patch), hunks=()), text).text == text


PIECES = [
    b"diff --git a/x b/x\n", b"--- a/x\n", b"+++ b/x\n", b"@@ -1,2 +1,2 @@\n", b"@@ -0,0 +1 @@\n",
    b"@@ -999999999,999999999 +1 @@\n", b" a\n", b"-b\n", b"+c\n", b"\\ No newline\n",
    b"\n", b"--- /dev/null\n", b"+++ /dev/null\n", b"rename from x\n", b"\xff\n", b"+d", b" a\r\n",
]  # fmt: skip


@examples(300)
@given(st.lists(st.sampled_from(PIECES), max_size=14), TEXTS)
def test_no_patch_raises_anything_else(lines, text):
    with contextlib.suppress(PatchError):
        for pair in parse(b"".join(lines)).files:
            for before in (text, None):
                with contextlib.suppress(PatchError):
                    result = apply(pair, before)
                    assert result.text is None or isinstance(result.text, bytes)


# --- displaced hunks ------------------------------------------------------------------------------


def everywhere(image, old, stated):
    """Return the nearest line where lines stand, of two as near the one further down."""
    middle = min(stated, len(image.lines))
    places = [at for at in range(len(image.lines) + 1) if image.fits(old, at)]
    return min(places, key=lambda at: (abs(at - middle), -at), default=None)


@pytest.mark.parametrize("seed", range(4))
def test_a_displaced_hunk_is_found_where_a_search_of_every_line_finds_it(seed, monkeypatch):
    choice, moved = random.Random(seed), 0
    for _ in range(scaled(500)):
        text, patch = hunks.drawn(choice)
        for pair in parse(patch).files:
            found = applied(pair, text)
            with monkeypatch.context() as patched:
                patched.setattr(Image, "_nearest", everywhere)
                assert applied(pair, text) == found, (text, patch)
            moved += isinstance(found, Applied) and any(found.offsets)
    assert moved


def applied(pair, text):
    try:
        return apply(pair, text)
    except PatchError as error:
        return str(error)


@pytest.mark.slow
def test_hunks_that_fit_nearly_everywhere_are_too_costly():
    hunk = b"@@ -%d,3 +%d,3 @@\n a\n-a\n+b\n a\n"
    many = b"".join(hunk % (at, at) for at in range(2, 2002))
    (pair,) = parse(b"--- a/x\n+++ b/x\n" + many).files
    with pytest.raises(PatchError, match=r"^x: too costly to apply"):
        apply(pair, b"a\n" * 20_000)
