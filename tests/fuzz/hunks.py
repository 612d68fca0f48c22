"""Texts of few different lines, and patches whose hunks are displaced, unsorted or bare."""

import random


def drawn(choice: random.Random) -> tuple[bytes, bytes]:
    """Return a text and a patch of it."""
    symbols, n = choice.choice((1, 2, 3, 6, 30, 1000)), choice.randrange(1, 60)
    lines = [b"%d" % choice.randrange(symbols) for _ in range(n)]
    hunks, grown = [], 0
    for _ in range(choice.randrange(1, 6)):
        at = choice.randrange(n + 1)
        body = edited(lines[at : at + choice.randrange(6)], symbols, choice)
        old = sum(line[:1] != b"+" for line in body)
        new = sum(line[:1] != b"-" for line in body)
        start = max(0, at + 1 - (old == 0) + choice.choice((0, 0, 1, -1, 3, -5, 20)))
        said = max(0, start + choice.choice((0, 0, 0, grown, grown, 2, -3)))
        grown += new - old
        head = b"@@ -%d,%d +%d,%d @@\n" % (start, old, said, new)
        hunks.append((start, head + b"".join(line + b"\n" for line in body)))
    if choice.random() < 0.8:
        hunks.sort(key=lambda hunk: hunk[0])
    text = b"".join(line + b"\n" for line in lines)
    return text, b"--- a/x\n+++ b/x\n" + b"".join(hunk for _, hunk in hunks)


def edited(lines: list[bytes], symbols: int, choice: random.Random) -> list[bytes]:
    """Return the lines of a hunk that changes some of these."""
    body = []
    for line in lines:
        kind = choice.random()
        body.append((b"-" if kind < 0.35 else b" ") + line)
        if 0.25 < kind < 0.5:
            body.append(b"+%d" % choice.randrange(symbols))
    if all(line[:1] == b" " for line in body):
        body.append(b"+y")
    return body


def displaced(n: int, by: int) -> tuple[bytes, bytes]:
    """Return a text of ten lines a hunk, and a patch of n hunks that stand further down in it."""
    lines = [b"line %d\n" % at for at in range(10 * n)]
    hunks = (
        b"@@ -%d,3 +%d,3 @@\n line %d\n-line %d\n+new\n line %d\n"
        % (at + 3, at + 3, at + 2, at + 3, at + 4)
        for at in range(0, 10 * n, 10)
    )
    return b"x\n" * by + b"".join(lines), b"--- a/x\n+++ b/x\n" + b"".join(hunks)
