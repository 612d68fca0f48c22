"""Headings and context that tools cut, encode otherwise or leave out."""

import pytest
from tests.core.patch_texts import pool_of

from excise.patches import differences, read
from excise.patches.blocks import text_of

BODY = [" static int read(void)", " {", "+\tguard(state);", " \treturn pull(buffer);", " }"]


def patch(heading=b"", body=BODY, start=10, name="x.c"):
    old = sum(line[:1] in " -" for line in body)
    new = sum(line[:1] in " +" for line in body)
    head = f"--- a/{name}\n+++ b/{name}\n@@ -{start},{old} +{start},{new} @@".encode()
    return head + (b" " + heading if heading else b"") + b"\n" + "\n".join([*body, ""]).encode()


def compare(a, b):
    pool = pool_of(a, b)
    found = pool.compare(0, 1)
    assert differences(*pool.patches, ignored=()).exact == found.exact
    return found


LONG = "static int réader_of_everything(struct état *état, " + "x" * 40


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (b"int f(void)", b""),
        (b"", b""),
        (LONG.encode()[:80], LONG.encode()[:80]),
        (LONG.encode()[:80], LONG.encode()[:79]),
        (LONG.encode()[:18], LONG.encode()[:18]),
        (LONG.encode(), LONG.encode("latin-1")),
        (b"\xff\xfe\x80", b"\xff\xfe\x80"),
        (b"int f(void)\t \r", b"  int f(void)"),
        (b"x" * 4_000, b"x" * 4_000),
        (b"x" * 4_000, b"y" * 4_000),
        (b"@@ @@ -1 +1 @@", b"@@ @@ -1 +1 @@"),
        (b"\x00\x1b[31m", b"\x00\x1b[31m"),
    ],
)
def test_whatever_the_heading_is_the_lines_around_tell_the_place(a, b):
    found = compare(patch(a), patch(b))
    assert (found.exact, found.shares.anchored) == (1, 1)
    is_one = text_of([a.strip()]) == text_of([b.strip()])
    assert found.word == ("identical" if is_one else "overlaps")


@pytest.mark.parametrize(
    ("a", "b", "place"),
    [
        (b"", b"", True),
        (b"int f(void)", b"int f(void)", True),
        (b"int f(void)", b"", True),
        (b"int f(void)", b"int g(void)", False),
        (LONG.encode()[:80], LONG.encode()[:60], False),
        (LONG.encode(), LONG.encode("latin-1"), True),
        (b"x" * 4_000, b"x" * 3_999, False),
    ],
)
def test_without_context_the_heading_alone_tells_it(a, b, place):
    """`git diff -U0`: where both say nothing, the file is the place."""
    found = compare(patch(a, ["+guard(state);"]), patch(b, ["+guard(state);"], start=90))
    assert found.shares.anchored == (1 if place else 0)
    assert found.word == "overlaps"  # the numbers of the lines differ


def test_line_ends_are_no_difference():
    text = patch(b"int f(void)")
    found = compare(text, text.replace(b"\n", b"\r\n"))
    assert (found.exact, found.word) == (1, "identical")
    moved = patch(b"int f(void)", start=90).replace(b"\n", b"\r\n")
    assert (compare(text, moved).exact, compare(text, moved).word) == (1, "identical")


def test_one_line_of_another_encoding_changes_no_other_line():
    """The new image alone holds a byte that is not UTF-8; the context is decoded alike in both."""
    utf8 = patch(body=[" naïve();", "-a;", "+b;"])
    mixed = utf8.replace(b"+b;", b"+b\xe9;")
    found = compare(utf8, mixed)
    assert [count.a for count in found.operations] == [
        count.a for count in compare(utf8, utf8).operations
    ]
    assert (found.operations[0].b, found.operations[2].b) == (1, 2)


def test_a_long_heading_in_a_mail_is_kept_and_never_a_header():
    mail = b"From: A <a@b>\nSubject: [PATCH] x\n\n" + patch(b"y" * 4_000)
    [message] = read(mail)
    [hunk] = message.patch.files[0].hunks
    assert (len(hunk.heading), hunk.added, message.patch.warnings) == (4_000, 1, ())


@pytest.mark.slow
def test_thousands_of_blocks_without_context_or_heading():
    """All of them stand at one place, which takes no longer than a place each."""
    body = "".join(f"@@ -{n},0 +{n},1 @@\n+x = {n};\n" for n in range(1, 3_001)).encode()
    text = b"--- a/x.c\n+++ b/x.c\n" + body
    found = compare(text, text.replace(b"x = 7;", b"x = 8;"))
    assert 0.99 < found.exact < 1
