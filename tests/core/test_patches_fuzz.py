"""Hostile and damaged input: the small corpus, mutations that git judges, work that is counted."""

import contextlib
import random
import shutil
import subprocess
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.fuzz_patches import check
from tests.fuzz.mails import DIFF, FROM, HEAD, SEEDS, mutated

from excise.patches import PatchError, Pool, parse, patch_id, postings, read

CORPUS = sorted((Path(__file__).parents[1] / "cases" / "fuzz-patches").iterdir())
NAMES = b"--- a/x\n+++ b/x\n"


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_the_corpus(path):
    data = path.read_bytes()
    check(data)
    for cut in range(0, len(data), 7):
        check(data[:cut])


def text_counts(pairs):
    """Return added and deleted lines of each file, without files that have neither."""
    return sorted(counts for counts in pairs if counts not in ((b"-", b"-"), (b"0", b"0")))


@pytest.mark.slow
def test_what_git_counts_in_damaged_patches_we_count(tmp_path):
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed: it counts the lines that ours are compared with")
    choice, accepted = random.Random(20), 0
    for _ in range(600):
        data = mutated(choice.choice(SEEDS), choice)
        ran = subprocess.run(
            [git, "apply", "--numstat", "-"], input=data, capture_output=True, cwd=tmp_path
        )
        if ran.returncode or b"error:" in ran.stderr:
            continue  # it may print counts before it stumbles
        theirs = [tuple(line.split(b"\t")[:2]) for line in ran.stdout.split(b"\n") if line]
        with contextlib.suppress(PatchError):  # only combined diffs are: git skips over those
            ours = [
                (b"-", b"-") if pair.binary else (b"%d" % pair.added, b"%d" % pair.deleted)
                for pair in parse(data).files
            ]
            assert text_counts(ours) == text_counts(theirs), data
            accepted += 1
    assert accepted > 50


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(SEEDS), st.integers(0, 2**32))
def test_mutations_raise_nothing_else(data, seed):
    check(mutated(data, random.Random(seed)))


@given(st.binary(max_size=200))
def test_bytes_raise_nothing_else(data):
    check(data)
    check(HEAD + b"Content-Transfer-Encoding: base64\n\n" + data)
    check(HEAD + b"Content-Type: text/plain; format=flowed; delsp=yes\n\n" + data)
    check(NAMES + b"@@ -1,3 +1,3 @@\n" + data)


# --- no quadratic time ---------------------------------------------------------------------------


def answer(at, n):
    head = b"Subject: [PATCH %d/%d] x\nMessage-ID: <%d>\n" % (at, n, at)
    return FROM + head + b"In-Reply-To: <%d>\n\n" % (at - 1) + DIFF


GROWING = {
    "messages": lambda n: (FROM + HEAD + b"\nw\n") * n,
    "empty messages": lambda n: (FROM + b"\n") * n,
    "envelopes in a row": lambda n: FROM * n,
    "headers without hunks": lambda n: b"--- a\n+++ b\n" * n,
    "hunks without lines": lambda n: NAMES + b"@@ -1,999999 +1,999999 @@\n" * n,
    "a hunk that never ends": lambda n: NAMES + b"@@ -1,999999 +1,999999 @@\n" + b"-- \n" * n,
    "headers in a hunk": lambda n: (
        NAMES + b"@@ -1,999999 +1,999999 @@\n" + b"--- a\n+++ b\n@@ -x\n" * n
    ),
    "files": lambda n: b"".join(
        b"--- a/f%d\n+++ b/f%d\n@@ -1 +1 @@\n-a\n+b\n" % (at, at) for at in range(n)
    ),
    "one file again and again": lambda n: DIFF * n,
    "binary blocks": lambda n: b"diff --git a/x b/x\nGIT binary patch\n" + b"literal 3\nx\n" * n,
    "commits": lambda n: (b"commit " + b"0" * 40 + b"\nAuthor: a\n" + DIFF) * n,
    "parts": lambda n: (
        HEAD + b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n\na\n" * n + b"--x--\n"
    ),
    "one thread": lambda n: b"".join(answer(at, n) for at in range(1, n)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        HEAD + b"Content-Type: text/plain; format=flowed\n\n" + b"a \n" * 1_000_000,
        HEAD + b"Content-Type: text/plain" + b"; a*0=b" * 1_000_000 + b"\n\n" + DIFF,
        HEAD + b"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Disposition: a"
        + b";\n filename*0=b" * 600_000 + b"\n\n" + DIFF + b"--x--\n",
        b"Subject: " + b"[" * 2_000_000 + b"\n\n" + DIFF,
        b"Subject: x\nReferences: " + b"<a@b> " * 1_000_000 + b"\n\n" + DIFF,
        b'diff --git "' + b"\\a" * 5_000_000 + b"\n",
        b"diff --git a" + b' "' * 5_000_000 + b"\n",
        b"Binary files " + b"a and " * 2_000_000 + b" differ\n",
        b"--- a " + b"2020-01-01 " * 1_000_000 + b"\n+++ b\n@@ -1 +1 @@\n-a\n+b\n",
        b"x\nFrom " * 500_000,
    ],
    ids=range(10),
)  # fmt: skip
def test_large_and_hostile_is_read(data):
    """Of the kind whose work no Python line shows: quadratic time would be hours here."""
    for message in read(data):
        assert message.error or message.patch is not None


def test_headers_with_too_many_parameters_are_refused():
    many = b"; a*0=b" * 2000
    (found,) = read(HEAD + b"Content-Type: text/plain" + many + b"\n\n" + DIFF)
    assert found.error == "its Content-Type or Content-Disposition has over 10,000 characters"
    part = b"--x\nContent-Disposition: attachment" + many + b"\n\n" + DIFF + b"--x--\n"
    (found,) = read(HEAD + b"Content-Type: multipart/mixed; boundary=x\n\n" + part)
    assert "over 10,000 characters" in found.error
    (found,) = read(HEAD + b"\nContent-Type: text/plain" + many + b"\n\n" + DIFF)
    assert found.patch.paths == ("x.c",)  # prose that looks like one is prose


# --- the list of bad input -----------------------------------------------------------------------


def test_a_message_id_twice_is_two_messages():
    found = read((FROM + HEAD + b"\n" + DIFF) * 2)
    assert [message.message_id for message in found] == ["<1@b>"] * 2
    assert [posting.messages for posting in postings(found)] == [(0,), (1,)]


def test_a_message_over_the_limit_leaves_the_others():
    big = HEAD + b"\n" + b"+" * 25_000_001 + b"\n"
    first, second = read(FROM + big + FROM + HEAD + b"\n" + DIFF)
    assert first.error == "the message has 25.0 MB, limit 25 MB"
    assert second.patch.paths == ("x.c",)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        (b'"a/x\\ny.c"', "x\ny.c"),
        (b'"a/\\033[31m.c"', "\x1b[31m.c"),
        (b"a/x\x1b[31m.c", "x\x1b[31m.c"),
        (b"a/\xff\xfe.c", "\udcff\udcfe.c"),
        (b"a/../../etc/passwd", "../../etc/passwd"),
        (b'"a/\\777"', "\udcff"),
    ],
)
def test_odd_paths_are_data(name, path):
    other = name.replace(b"a/", b"b/", 1)
    found = parse(b"--- " + name + b"\n+++ " + other + b"\n@@ -1 +1 @@\n-a\n+b\n")
    assert found.paths == (path,)
    pool = Pool()
    pool.add(found)
    assert len(patch_id(found)) == 40
    assert pool.compare(0, 0).files == ((path, path),)


def test_a_zip_is_not_opened():
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.patch", DIFF + b"\0" * 10_000_000)
    (alone,) = read(packed.getvalue())
    assert not alone.patch.files
    import base64

    head = (
        HEAD + b"Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: application/zip\n"
    )
    head += (
        b"Content-Transfer-Encoding: base64\nContent-Disposition: attachment; filename=a.zip\n\n"
    )
    (mail,) = read(head + base64.encodebytes(packed.getvalue()) + b"--x--\n")
    assert mail.is_cover


def test_a_hostile_subject_is_text():
    subject = b"[PATCH] <script>alert(1)</script> \x1b[2J \xe2\x80\xae"
    (found,) = read(b"From: a\nSubject: " + subject + b"\n\n" + DIFF)
    assert found.title == "<script>alert(1)</script> \x1b[2J \u202e"


def test_text_said_to_be_binary_is_read_with_a_note():
    head = b"diff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n"
    found = parse(head + b"@@ -1 +1 @@\n-a\n+b\n")
    assert (found.files[0].added, found.files[0].binary) == (1, None)
    assert str(found.warnings[0]) == "line 4: text of a file that was said to be binary"


def test_no_newline_before_the_first_line_of_a_hunk():
    found = parse(NAMES + b"@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b\n")
    assert (found.files[0].added, found.warnings) == (1, ())
