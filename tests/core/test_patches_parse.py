"""Reading diffs: counts decide, bytes stay, what is odd is a warning with its line."""

import contextlib
import gzip
import json
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference import hunk_lines

from excise.kernels._diff import body
from excise.patches import PatchError, parse, read

EDIT = b"@@ -1,2 +1,2 @@\n same\n-a\n+b\n"


def counts(data):
    return [(pair.path, pair.added, pair.deleted) for pair in parse(data).files]


@pytest.mark.parametrize(
    ("header", "path"),
    [
        (b"--- a/x.c\n+++ b/x.c\n", "x.c"),
        (b"diff --git a/x.c b/x.c\nindex 12..34 100644\n--- a/x.c\n+++ b/x.c\n", "x.c"),
        (b"diff -u src/x.c src/x.c\n--- src/x.c\t2020-01-01 10:00:00\n+++ src/x.c\n", "src/x.c"),
        (b"--- linux.orig/x.c\n+++ linux/x.c\n", "x.c"),
        (b"--- a/my file.c\n+++ b/my file.c\n", "my file.c"),
        (b'--- "a/t\\303\\244b\\t.c"\n+++ "b/t\\303\\244b\\t.c"\n', "täb\t.c"),
        (b"diff a/x.c b/x.c\t(rejected hunks)\n", "x.c"),
        (b"--- /dev/null\n+++ b/x.c\n", "x.c"),
        (b"--- a/x.c\r\n+++ b/x.c\r\n", "x.c"),
    ],
)
def test_names(header, path):
    assert counts(header + EDIT) == [(path, 1, 1)]


@pytest.mark.parametrize(
    ("data", "facts"),
    [
        (b"diff --git a/x b/y\nrename from x\nrename to y\n", ("rename from x",)),
        (b"diff --git a/x b/y\ncopy from x\ncopy to y\n", ("copy from x",)),
        (b"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", ("mode 100644 to 100755",)),
        (b"diff --git a/x b/x\nnew file mode 100644\nindex 00..e6\n", ("created",)),
        (b"diff --git a/x b/x\ndeleted file mode 100644\nindex e6..00\n", ("deleted",)),
        (b"diff --git a/x b/x\nBinary files a/x and b/x differ\n", ("binary",)),
        (b"diff --git a/x b/x\nGIT binary patch\nliteral 1\nIcmZ\n\nliteral 0\nH\n\n", ("binary",)),
    ],
)
def test_facts_of_headers(data, facts):
    (pair,) = parse(data).files
    assert pair.facts == facts


def test_a_signature_is_no_deletion_and_a_deleted_comment_is_one():
    sql = b"--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1 @@\n keep;\n--- gone\n-- \n2.40.1\n"
    assert counts(sql) == [("x.sql", 0, 1)]


@pytest.mark.parametrize(
    ("diff", "reason"),
    [
        ("@@ -1,9 +1,9 @@\n same\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "ends 7 lines"),
        ("@@ -1,2 +1,2 @@\n-a\n+b\n", "ends a line short of its count"),
        ("@@ -1 +1 @@\n-a\n+b\n+c\n", "goes on beyond its count"),
        (
            "@@ -1,3 +1,3 @@\ndef a():\n-    x = 1\n+    x = 5\n     return x\n",
            "ends 3 lines short",
        ),
        ("@@ -1,2 +1,2 @@\n a\n [-old-]{+new+} b\n", "changes no line"),
        ("@@ -1,2 +1,2 @@\n a\n[-old-]{+new+} b\n", "ends a line short of its count"),
    ],
    ids=[
        "cut off by a file",
        "cut off",
        "long",
        "context without blank",
        "words",
        "words in a line",
    ],
)
def test_a_hunk_that_git_refuses_is_an_error_with_its_line(diff, reason):
    with pytest.raises(PatchError, match=reason) as raised:
        parse(f"--- a/x\n+++ b/x\n{diff}".encode())
    assert raised.value.line == 3


def test_utf_16_is_named():
    with pytest.raises(PatchError, match="UTF-16: save it as UTF-8"):
        parse("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n".encode("utf-16"))


def test_a_blank_at_the_end_of_a_name_is_of_the_name():
    (pair,) = parse(b"diff --git a/x  b/x \n--- a/x \t\n+++ b/x \t\n@@ -1 +1 @@\n-a\n+b\n").files
    assert (pair.old, pair.new) == ("x ", "x ")


def test_only_lf_ends_a_line_and_cr_stays():
    found = parse(b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\x0c\x85\xe2\x80\xa8b\r\n+c\r\n")
    assert found.files[0].hunks[0].lines == (b"-a\x0c\x85\xe2\x80\xa8b\r", b"+c\r")


def test_missing_line_ends():
    text = b"\\ No newline at end of file\n"
    found = parse(b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n" + text + b"+a\n")
    assert (found.files[0].hunks[0].old_open, found.files[0].hunks[0].new_open) == (True, False)


@pytest.mark.parametrize("between", [b"", b"words\n", b"\n", b"--- \n"])
def test_names_behind_other_text_are_those_of_another_file(between):
    created = b"diff --git a/x b/x\nnew file mode 100644\n"
    files = parse(created + between + b"--- a/y\n+++ b/y\n" + EDIT).files
    if not between:
        assert [(pair.old, pair.new) for pair in files] == [(None, "y")]  # as git has it
    else:
        assert [(pair.old, pair.new) for pair in files] == [(None, "x"), ("y", "y")]
        assert files[1].facts == ()
    # Its own name is not another one, and a header that says nothing is nothing.
    assert counts(created + between + b"--- a/x\n+++ b/x\n" + EDIT) == [("x", 1, 1)]
    said = b"diff --git a/x b/x\n" + between
    assert counts(said + b"--- a/y\n+++ b/y\n" + EDIT) == [("y", 1, 1)]
    assert counts(said + said + created) == [("x", 0, 0)]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (b"Binary files a/x and b/x differ", ("x", "x")),
        (b"Files a/x and b/x differ\r", ("x", "x")),
        (b"Binary files p and q and r differ", ("p and q", "r")),
        (b"Binary files p and q and  differ", ("p", "q and ")),
        (b"Binary files " + b"p" * 4001 + b" and q differ", None),
        (b"Binary files  and q differ", None),
        (b"Binary files p and q differ ", None),
        (b"Binary files x" + b" and y" * 600, None),
    ],
)
def test_binary_files_are_cut_at_the_last_and(line, names):
    assert [(pair.old, pair.new) for pair in parse(line).files] == [names] * (names is not None)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        (b"a/x" + b" " * 3000 + b"z", "a/x" + " " * 3000 + "z"),
        (b"a/x \t 2020-01-01 10:00:00.123456789 +0200 \t", "a/x"),
        (b"a/x 2020-01-01 2020-01-01 10:00", "a/x 2020-01-01"),
        (b"a/x Wed Jan  1 10:00:00 2020", "a/x"),
        (b"a/x2020-01-01 10:00", "a/x2020-01-01 10:00"),
    ],
)
def test_dates_behind_blanks_are_no_part_of_a_name(name, path):
    (pair,) = parse(b"--- " + name + b"\n+++ y\n" + EDIT).files
    assert pair.old == path


@pytest.mark.parametrize("line", [b"diff --cc x", b"diff --combined x", b"@@@ -1 -1 +1 @@@"])
def test_combined_diffs_are_errors(line):
    with pytest.raises(PatchError, match="line 2: a combined diff"):
        parse(b"x\n" + line + b"\n")


_LINES = st.sampled_from(
    [
        b"diff --git a/x b/y", b"--- a/x", b"+++ b/x", b"--- /dev/null", b"@@ -1,3 +1,2 @@", b" x",
        b"@@ -1 +1 @@", b"+a", b"-b", b"-- ", b"2.40", b"", b"\r", b"\\ No newline", b"From: a",
        b"GIT binary patch", b"literal 3", b"zcmV", b"rename from x", b"rename to \"\\777\\",
        b"Subject: =?x?q?=ff?=", b"From a@b Mon Sep 17 00:00:00 2001", b"diff --cc x",
        b"Content-Type: multipart/mixed; boundary=x", b"--x", b"commit " + b"0" * 40,
        b"Content-Transfer-Encoding: base64", b"Content-Type: text/plain; format=flowed",
        b"@@ -99999999999999999999 +1 @@", b'--- "a/\\', b"Binary files a and b differ",
    ]
)  # fmt: skip


@given(st.lists(_LINES | st.binary(max_size=12)).map(b"\n".join))
def test_nothing_but_the_documented_error(data):
    with contextlib.suppress(PatchError):
        parse(data)
    for message in read(data):
        assert message.error or message.patch is not None


_TEXT = st.lists(st.sampled_from(["a", "b", "-- ", "++ x", "--- y", "@@ -1 +1 @@", " ", ""]))


@given(_TEXT, _TEXT)
def test_our_counts_are_those_of_the_diff(old, new):
    import difflib

    lines = list(difflib.unified_diff(old, new, "a/x", "b/x", lineterm=""))
    found = parse("\n".join([*lines, "-- ", "2.40"]).encode()).files
    body = [line[:1] for line in lines[2:]]
    if old == new:
        assert not found
    else:
        assert not parse("\n".join(lines).encode()).warnings
        assert sum(pair.added for pair in found) == body.count("+")
        assert sum(pair.deleted for pair in found) == body.count("-")


def corpus(folder):
    with gzip.open(folder / "kernel_versions_dev.jsonl.gz") as lines:
        for row in map(json.loads, lines):
            for candidate in row["candidates"]:
                yield candidate["patch"].encode("latin-1")
    with gzip.open(folder / "swebench_lite_agents_dev.jsonl.gz") as lines:
        for row in map(json.loads, lines):
            for candidate in row["candidates"]:
                yield candidate["patch"].encode()


def test_counts_are_those_of_git(excise_data, tmp_path):
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed: it counts the lines that ours are compared with")
    for patch in list(corpus(excise_data))[::20]:
        ran = subprocess.run(
            [git, "apply", "--numstat", "-"], input=patch, capture_output=True, cwd=tmp_path
        )
        if ran.returncode == 0:
            theirs = sorted(line.split(b"\t")[:2] for line in ran.stdout.split(b"\n") if line)
            ours = sorted(
                [b"-", b"-"] if pair.binary else [b"%d" % pair.added, b"%d" % pair.deleted]
                for pair in parse(patch).files
            )
            assert ours == theirs


# --- the lines of a hunk by the reference ---------------------------------------------------------


LINE = st.sampled_from(
    [b"", b"\r", b" ", b" a", b"+", b"+b", b"-", b"-c", b"--", b"-- ", b"--\r", b"--- a/x", b"---",
     b"-- 2.40", b"+++ b/x", b"@@ -1 +1 @@", b"\\", b"\\ No newline at end of file", b"\x00",
     b"+\x00", b"\xff", b"\t", b"x", b"\r\r", b"-\r", b"-\x00-"]
)  # fmt: skip
COUNT = st.integers(0, 6) | st.just(10**18 - 1)


@given(st.lists(LINE | st.binary(max_size=3), min_size=1, max_size=12), st.data())
def test_lines_are_counted_as_by_the_reference(lines, data):
    start = data.draw(st.integers(0, len(lines) - 1))
    old, new = data.draw(COUNT), data.draw(COUNT)
    asked: list[list[tuple[int, int, int]]] = [[], []]
    answers = [data.draw(st.booleans()) for _ in lines]

    def ends_early(side, *place):
        asked[side].append(place)
        return answers[place[0]]

    found = body(lines, start, old, new, lambda *place: ends_early(0, *place))
    expected = hunk_lines.body(lines, start, old, new, lambda *place: ends_early(1, *place))
    assert (found, asked[0]) == (expected, asked[1])
