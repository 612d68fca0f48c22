"""Damaged mails and patches: seeds that we wrote, and what a seeded generator does to them."""

import base64
import quopri
import random
import re
from pathlib import Path

SEEDS = [
    path.read_bytes()
    for path in sorted((Path(__file__).parents[1] / "cases" / "fuzz-patches").iterdir())
]

FROM = b"From 0123456789 Mon Sep 17 00:00:00 2001\n"
HEAD = b"From: A <a@b>\nSubject: [PATCH 1/2] x\nMessage-ID: <1@b>\n"
DIFF = b"--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n same\n-a\n+b\n"
TEXT = b"Content-Type: text/plain; charset=utf-8\n"

MIME_LINES = (
    b"--a", b"--a--", b"--ab", b"--a----", b"--x y", b"--x y--", b"--d", b"--", b"-- ", b"----",
    b"From x", FROM[:-1], b":", b" folded", b"\tfolded", b"", b"\r", b"begin 644 a", b"end",
    b"Content-Type: multipart/mixed; boundary=a", b"Content-Type: multipart/mixed",
    b"Content-Type: multipart/digest; boundary=ab", b'Content-Type: multipart/mixed; boundary=""',
    b"Content-Type: message/rfc822", b"Content-Type: message/delivery-status",
    b"Content-Type: message/partial; id=1", b"Content-Type: text/html",
    b'Content-Type: text/x-diff; name="a.diff"', b"Content-Type: application/x; name*0=a.patch",
    b"Content-Type: text/plain; format=flowed; delsp=yes", b"Content-Type: \xe4/x",
    b"Content-Type: text/plain; charset=iso-8859-1", b"Content-Type: text/plain; charset=klingon",
    b"Content-Type: multipart/mixed; boundary=\xe4", b"--\xe4", b" boundary*=utf-8''%C3%A4",
    b"Content-Transfer-Encoding: base64", b"Content-Transfer-Encoding: quoted-printable",
    b"Content-Transfer-Encoding: x-uuencode", b"Subject: =?utf-8?q?=C3=A4?= x",
)  # fmt: skip

PATCH_LINES = (
    b"-- ", b"--", b"--- a/x", b"+++ b/x", b"@@ -1 +1 @@", b"@@ -0,0 +1 @@", b"", b" ", b"\r",
    b"\\ No newline at end of file", b"diff --git a/x b/x", b"index 1..2", b"new file mode 100644",
    b"rename from a", b"rename to b", b"--- /dev/null", b"+++ /dev/null", b"2.40.1", b"From x",
    b"similarity index 100%", b"Binary files a/x and b/x differ", b"GIT binary patch", b"-", b"+",
    b"old mode 100644", b"new mode 100755", b"deleted file mode 100644", b"--- ", b"---", b"+++",
)  # fmt: skip

NAME_LINES = (
    b"Binary files a and b and c differ", b"Files x and  differ", b'--- "a/\\303',
    b"--- a/x 2020-01-01 10:00:00   ", b"--- a/x   1970-01-01 00:00:00.000 +0000",
    b"--- a/x\t1970-01-01 00:00", b"+++ b/x Mon Jan  1 10:00:00 2020",
)  # fmt: skip


def wrapped(patch: bytes, choice: random.Random) -> bytes:
    """Return a patch as mail programs send it: encoded, attached, nested, forwarded, bounced."""
    mixed = b"Content-Type: multipart/%b; boundary=%b\n\n"
    mail = HEAD + b"\n" + patch
    ways = (
        HEAD + b"Content-Transfer-Encoding: quoted-printable\n\n" + quopri.encodestring(patch),
        HEAD + b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(patch),
        HEAD + mixed % (b"mixed", b'"x y"') + b"--x y\n" + TEXT + b"\nhello\n--x y\n"
        b"Content-Disposition: attachment; filename=a.patch\n\n" + patch + b"\n--x y--\nafter\n",
        HEAD + mixed % (b"mixed", b"a") + b"--a\n" + mixed % (b"alternative", b"ab") + b"--ab\n"
        + TEXT + b"\n" + patch + b"\n--ab\nContent-Type: text/html\n\n<p>\n--ab--\n--a--\n",
        HEAD + mixed % (b"digest", b"d") + b"--d\n\n" + mail + b"\n--d\n\nFrom x\n" + mail,
        HEAD + mixed % (b"report", b"a") + b"--a\nContent-Type: message/delivery-status\n\nA: b\n\n"
        b"C: d\nE: f\n\n--a\nContent-Type: message/rfc822\n\n" + mail + b"\n--a--\n",
        (FROM + mail) * 2,
        HEAD + mixed % (b"mixed", b"a") + b"--a\n" + mixed % (b"mixed", b"a--") + b"--a--\n"
        + TEXT + b"\n" + patch + b"\n--a----\n--a--\n--a\n",
    )  # fmt: skip
    return choice.choice(ways)


def mutated(
    data: bytes, choice: random.Random, odd: tuple[bytes, ...] = PATCH_LINES, most: int = 3
) -> bytes:
    """Return a text with one to `most` lines lost, moved, repeated, changed, or `odd`."""
    lines = data.split(b"\n")
    for _ in range(choice.randint(1, most)):
        kind, at = choice.randrange(8), choice.randrange(len(lines))
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(at, choice.choice(lines))
        elif kind == 2:
            lines.insert(at, choice.choice(odd))
        elif kind == 3:
            lines[at] = choice.choice(odd)
        elif kind == 4:
            other = choice.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 5:
            number = b"%d" % choice.choice((0, 1, 2, 3, 7, 10**9))
            lines[at] = re.sub(rb"\d+", number, lines[at], count=choice.randint(1, 4))
        elif kind == 6:
            lines[at] += choice.choice((b"\r", b"\t", b" ", b"\x0c", b"\x00"))
        else:
            lines[at + 1 :] = choice.choice(SEEDS).split(b"\n")
        lines = lines or [b""]
    return b"\n".join(lines)


def mail(choice: random.Random) -> bytes:
    """Return a damaged mail or mailbox."""
    data = wrapped(choice.choice((DIFF, *SEEDS)), choice)
    data = mutated(data, choice, (*MIME_LINES, *NAME_LINES), 6)
    return data.replace(b"\n", b"\r\n") if choice.random() < 0.1 else data


def patch(choice: random.Random) -> bytes:
    """Return a damaged patch."""
    return mutated(choice.choice(SEEDS), choice, (*PATCH_LINES, *NAME_LINES))
