"""Hashes of results, by which two commits can be compared: what is faster must not be different.

    .venv/bin/python benchmarks/same.py [scores] [patches] [edits]

prints one line for each: 11,322 pairs of revisions with their facts and hunks, all that
`excise cluster --format json` says of 5,000 patches, and 20,000 random edits of texts in seven
grammars, each read from an edited tree and from scratch, which must not differ. To try another
commit, run this file with the Python of its checkout: texts are those of Python, of its headers
and of the checkout in which this file is.
"""

from __future__ import annotations

import argparse
import difflib
import heapq
import json
import random
import subprocess
import sys
import tempfile
import textwrap
from hashlib import sha256
from pathlib import Path

import numpy as np
import workloads

from excise import ScoreMatrix
from excise.reparse import parsed, reparse
from excise.text import normalise
from excise.tokens import Vocabulary, lines_of, stream

EDITS = 20_000
PATCHES = 5_000
NOISE = ("", "(", ")", '"', "'", "/*", "*/", "#", "{", "}", "\\", "  ", ";", "é", "x = y")


def scores() -> str:
    """Return the hash of all numbers, words, facts and hunks of some matrices."""
    found, pairs = sha256(), 0
    for contents, language in (
        ([workloads.text_b(), *workloads.revisions_of_b(150)], "python"),
        (workloads.broken_c(12), "c"),
        (workloads.broken_python(10), "python"),
        (workloads.broken_c(9), None),
    ):
        matrix = ScoreMatrix.from_texts(contents[0], contents[1:], language=language)
        for numbers in (matrix.values, matrix.anchored, matrix.anywhere, matrix.contained):
            found.update(np.ascontiguousarray(numbers).tobytes())
        every = range(len(contents) - 1)
        words = [(matrix.word(i, j), matrix.level(i, j)) for i in every for j in every if i < j]
        facts = [(own.same_program, own.unread, own.errors, own.lost) for own in matrix.facts]
        hunks = [(hunk.lo, hunk.hi, hunk.spans) for hunk in matrix.hunks()]
        pairs += len(words)
        found.update(repr((matrix.signature, words, facts, hunks)).encode())
    return f"{found.hexdigest()} ({pairs:,} pairs)"


def patches() -> str:
    """Return the hash of what the command says of patches that it reads from a mailbox."""
    rng = random.Random(workloads.SEED)
    sources = [
        Path(module.__file__).read_text().split("\n")
        for module in (argparse, difflib, heapq, json, random, subprocess, tempfile, textwrap)
    ]
    mails = []
    for number in range(PATCHES):
        seed = rng.randrange(PATCHES // 3)  # some are made again, and differ in one place
        lines = sources[seed % len(sources)]
        edited = workloads.edited(lines, 1 + seed % 5, seed)
        if rng.random() < 0.5:
            edited = workloads.edited(edited, 1, number)
        path = f"f{seed % len(sources)}.py"
        diff = difflib.unified_diff(lines, edited, f"a/{path}", f"b/{path}", lineterm="")
        mails.append(f"From: a@b.c\nSubject: [PATCH] edit {number}\n\n---\n" + "\n".join(diff))
    with tempfile.TemporaryDirectory() as folder:
        box = Path(folder, "box.mbox")
        box.write_text("".join(f"From x Thu Jan  1 00:00:00 1970\n{mail}\n\n" for mail in mails))
        program = "from excise_server.cli import main; main()"
        command = [sys.executable, "-c", program, "cluster", box.name, "--format", "json"]
        done = subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return sha256(done.stdout).hexdigest()


def edits() -> str:
    """Return the hash of the tokens of texts that were edited at random, read in both ways."""
    found, used, rng = sha256(), 0, random.Random(workloads.SEED)
    for grammar, text in sorted(texts().items()):
        lines = text.split("\n")[:250]
        vocabulary = Vocabulary()
        for number in range(EDITS // 7 + 1):
            if number % 20 == 0:  # the origin may be broken as well
                origin = lines if number % 40 else mutated(lines, rng)
                known = parsed("\n".join(origin), grammar, vocabulary)
            revision = normalise("\n".join(mutated(origin, rng)))
            read = reparse(known, revision, vocabulary)
            if read is None:
                continue
            used += 1
            alone = stream(revision, grammar)
            own, scratch = read[0], lines_of(alone, vocabulary)
            same = all(
                list(a) == list(b)
                for a, b in (
                    (own.tokens, scratch.tokens), (own.first, scratch.first),
                    (own.keys, scratch.keys), (own.ids, scratch.ids),
                    (own.comments, scratch.comments),
                )
            )  # fmt: skip
            if not same or read[1].root_node.has_error != alone.has_errors:
                raise SystemExit(f"{grammar}: an edited tree has other tokens: {revision!r}")
            found.update(repr((grammar, alone.tokens, alone.lines, alone.has_errors)).encode())
    return f"{found.hexdigest()} ({used:,} by an edited tree)"


def texts() -> dict[str, str]:
    """Return a text for each of some grammars."""
    node = Path(__file__).resolve().parents[1] / "vscode-client"
    return {
        "python": workloads.text_b(),
        "c": "\n".join(workloads.c_lines(400)),
        "typescript": (node / "src" / "extension.ts").read_text(),
        "javascript": (node / "scripts" / "run.mjs").read_text(),
        "markdown": (node.parent / "ARCHITECTURE.md").read_text(),
        "json": (node / "package.json").read_text(),
        "make": (node.parent / "Makefile").read_text(),
    }


def mutated(lines: list[str], rng: random.Random) -> list[str]:
    """Return lines with one to three edits that may break their syntax."""
    lines = list(lines)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(lines))
        match rng.randrange(6):
            case 0:
                del lines[at : at + rng.choice((1, 2, 5))]
            case 1:
                lines.insert(at, rng.choice(lines))
            case 2:
                lines[at] = " " * rng.randrange(9) + lines[at].strip()
            case 3:
                lines[at] += rng.choice(NOISE)
            case 4:
                lines.insert(at, rng.choice(NOISE))
            case _:
                words = lines[at].split(" ")
                rng.shuffle(words)
                lines[at] = " ".join(words)
        lines = lines or [""]
    return lines


def main() -> None:
    """Print the hashes that the arguments name, or all."""
    every = {"scores": scores, "patches": patches, "edits": edits}
    for name in sys.argv[1:] or every:
        print(f"{name}: {every[name]()}", flush=True)


if __name__ == "__main__":
    main()
