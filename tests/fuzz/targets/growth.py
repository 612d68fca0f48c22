"""The doubling rule on readers of mails and patches: texts of which something is repeated.

An input is a recipe: what stands before and after, and pieces that are repeated n times each, in
which `%d` is a number. Its cost is taken at n and at 4 n.
"""

from collections.abc import Iterator
from random import Random

from tests.fuzz import doubling
from tests.fuzz.mails import DIFF, FROM, HEAD
from tests.fuzz.targets.base import Target, packed, unpacked

from excise.patches import PatchError, apply, ids_of, parse, postings, read

TYPE = b"Content-Type: "
ENCODED = HEAD + b"Content-Transfer-Encoding: "
NAMES = b"--- a/x\n+++ b/x\n"
FILE = NAMES + b"@@ -1,999999 +1,999999 @@\n"

BODY = b"\n\n" + DIFF
FIELD = b"From: a\nSubject: "

CONTEXTS = (
    ( b"" , b"" ), ( HEAD , BODY ), ( HEAD + b"\n" , b"" ), ( HEAD + b"\n" + FILE , b"" ),
    ( FILE , b"" ), ( FIELD , BODY ), ( FIELD + b"=?utf-8?q?" , b"?=" + BODY ),
    ( FIELD + b"=?punycode?q?" , b"?=" + BODY ), ( HEAD + b"References: " , BODY ),
    ( HEAD + b"To: " , BODY ), ( HEAD + TYPE + b"text/plain" , BODY ),
    ( HEAD + TYPE + b'text/plain; a="' , b'"' + BODY ), ( HEAD + b"X: y\r" + TYPE + b"a/b" , BODY ),
    ( HEAD + TYPE + b"multipart/mixed; boundary=x\n\n" , b"\n--x--\n" ),
    ( HEAD + TYPE + b"multipart/mixed; boundary=x\n\n--x\n" + TYPE + b"text/plain" , BODY ),
    ( HEAD + TYPE + b"text/plain; format=flowed\n\n" , b"\n" ), ( ENCODED + b"base64\n\n" , b"\n" ),
    ( ENCODED + b"quoted-printable\n\n" , b"\n" ),
    ( ENCODED + b"x-uuencode\n\nbegin 644 a\n" , b"end\n" ),
    ( b"--- a/x" , b"z\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n" ),
    ( b'--- "a/x' , b'"\n+++ b/x\n@@ -1 +1 @@\n' ), ( b"diff --git " , b"\n" ),
    ( b'diff --git "a' , b'" b/x\n' ), ( b"diff --git a/x b/x\n" , NAMES ),
    ( b"Binary files x" , b"\n" ), ( b"Binary files x" , b" differ\n" ),
    ( NAMES , b"@@ -1 +1 @@\n-a\n+b\n" ), ( NAMES + b"@@ -1" , b" +1 @@\n-a\n+b\n" ),
    ( b"diff --git a/x b/x\nGIT binary patch\n" , b"\n" ),
)  # fmt: skip
"""What may stand before and after something that is repeated."""

PIECES = (
    b" ", b"\t", b"\r", b"\n", b"a", b'"', b"\\", b"\\a", b"\\303", b"[", b"]", b"<", b"<a@b> ",
    b"(", b";", b"; a", b"; a*%d=b", b";a=b", b"=", b"=?", b"=?utf-8?q?a?= ",
    b"=?utf-8?b?YQ==?=\n ", b"?=", b"\xff", b" and y", b" b/", b' "', b" 2020-01-01",
    b" 2020-01-01 10:00", b"re: ", b"[PATCH %d/9999] ", b"\n ", b"A: b\n", b"From x\n", FROM,
    FROM + HEAD + b"\n", b"commit %040d\nAuthor: a\n", b"--x\n", b"--x\n\n", b"--x--\n", b"--\n",
    b"-- \n", b"-a\n", b"+a\n", b" a\n", b"@@ -1 +1 @@\n", b"@@ -%d +%d @@\n-a\n+b\n",
    b"--- a/%d\n+++ b/%d\n@@ -1 +1 @@\n-a\n+b\n", b"--- a\n+++ b\n", b"diff --git a/x b/x\n",
    b"\\ No\n", b"Content-Type:multipart/mixed; boundary=b%d\n\n--b%d\n",
    b"Content-Type: message/rfc822\n\n", b"Content-Type: multipart/mixed; boundary=x\n\n--x\n",
    b"literal 3\nx\n", b"a = \n", b"%0%", b"xn--",
    b"Message-ID: <%d>\nIn-Reply-To: <%d>\n\n" + FROM, b"#AAAA\n", b"index 1..2\n", b"old mode 1\n",
)  # fmt: skip

LINES = b"".join(b" line %d\n-old %d\n+new %d\n" % (at, at, at) for at in range(70))
PLAIN = (FROM + HEAD + b"\n" + NAMES + b"@@ -1,140 +1,140 @@\n" + LINES) * 40

LARGEST = 100_000
"""Bytes, of the larger of two inputs."""


# What was quadratic once: a date behind blanks, names of binary files, nested multiparts, quoted
# parameters, host names as charsets, long series, hunks far from where they say.
KNOWN = (
    (b"--- a/x", b" ", b"z\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"),
    (b"Binary files x", b" and y", b"\n"),
    (HEAD, b"Content-Type:multipart/mixed; boundary=b%d\n\n--b%d\n", b"-a\n", b"\n" + DIFF),
    (HEAD + TYPE + b'text/plain; a="', b";", b'"\n\n' + DIFF),
    (HEAD + b"X: y\r" + TYPE + b'text/plain; a="', b";", b'"\n\n' + DIFF),
    (b"From: a\nSubject: =?punycode?q?", b"a", b"?=\n\nx\n"),
    (b"", FROM + b"From: a\nMessage-ID: <%d>\nSubject: [PATCH 1/9999] x\n\n", b""),
)


def known() -> Iterator[bytes]:
    """Yield recipes of the texts that were quadratic once."""
    for parts in KNOWN:
        yield packed([part.decode("latin-1") for part in parts])


def recipe(choice: Random) -> bytes:
    start, end = choice.choice(CONTEXTS)
    parts = [start, *choice.choices(PIECES, k=1 if choice.random() < 0.7 else 2), end]
    if choice.random() < 0.2:
        parts[-1] = choice.choice(CONTEXTS)[1]
    if choice.random() < 0.3:
        parts = list(choice.choice(KNOWN))
        parts[choice.randrange(1, len(parts) - 1)] = choice.choice(PIECES)
    return packed([part.decode("latin-1") for part in parts])


def made(parts: list[str], n: int) -> bytes:
    start, *pieces, end = (part.encode("latin-1") for part in parts)
    return b"".join((start, *(repeated(piece, n) for piece in pieces), end))


def repeated(piece: bytes, n: int) -> bytes:
    if b"%d" not in piece:
        return piece * n
    return b"".join(piece.replace(b"%d", b"%d" % at) for at in range(n))


def everything(data: bytes) -> None:
    """Read a file in every way, and apply what it holds."""
    postings(read(data))
    try:
        patch = parse(data)
    except PatchError:
        return
    ids_of(patch)
    for pair in patch.files[:3]:
        try:
            apply(pair, data if pair.old is not None else None)
        except PatchError:
            continue


def check(data: bytes) -> None:
    parts = unpacked(data)
    a_piece = max(1, len(made(parts, 8)) // 8)
    last = LARGEST // a_piece // doubling.FACTOR
    doubling.assert_grows(lambda n: made(parts, n), everything, last=last)
    doubling.assert_light(lambda n: made(parts, n), everything, PLAIN, last=last)


TARGETS = {"growth": Target(recipe, check, known, seconds=120.0)}
