"""Hashes of results, by which two commits can be compared: what is faster must not be different.

    .venv/bin/python benchmarks/same.py [--texts CHECKOUT] [numbers] [words] [facts] [pages]

prints one line for each part, so that a commit can say which it moves:

* numbers: values alone, of 11,322 pairs of revisions (and which lines their hunks have), of 5,000
  patches (with their clusters), and the tokens of 20,000 random edits of texts in seven grammars,
  each read from an edited tree and from scratch, which must not differ;
* words: what is said of those pairs and patches (identical, the same code, likely the same issue);
* facts: what is said of one revision or one patch (unread, broken, what got lost, notes);
* pages: what `compare` and `cluster` print for people, of some of them, in every format.

To compare with another commit, run this file with the Python of its checkout, twice with the same
texts, and compare the lines:

    git worktree add ../other COMMIT && make -C ../other .venv/.ready
    ../other/.venv/bin/python benchmarks/same.py --texts ../other >../other.txt
    .venv/bin/python benchmarks/same.py --texts ../other | diff ../other.txt -

Texts are those of Python, of its headers and of a checkout: --texts, or the one in which this file
is. Ten minutes of one core, of which `numbers` takes most.
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
from functools import cache
from hashlib import sha256
from itertools import combinations
from pathlib import Path

import numpy as np
import workloads

from excise import ScoreMatrix
from excise.reparse import parsed, reparse
from excise.text import normalise
from excise.tokens import Vocabulary, lines_of, stream

CHECKOUT = Path(__file__).resolve().parents[1]
EDITS = 20_000
PATCHES = 5_000
NOISE = ("", "(", ")", '"', "'", "/*", "*/", "#", "{", "}", "\\", "  ", ";", "é", "x = y")


@cache
def matrices() -> list[ScoreMatrix]:
    """Return the matrices of some revisions of four texts."""
    return [
        ScoreMatrix.from_texts(contents[0], contents[1:], language=language)
        for contents, language in (
            ([workloads.text_b(), *workloads.revisions_of_b(150)], "python"),
            (workloads.broken_c(12), "c"),
            (workloads.broken_python(10), "python"),
            (workloads.broken_c(9), None),
        )
    ]


def pairs_of(matrix: ScoreMatrix) -> list[tuple[int, int]]:
    """Return the pairs of a matrix."""
    return list(combinations(range(len(matrix.values)), 2))


def mailbox(count: int) -> str:
    """Return a mailbox of patches, of which some are made again with one edit more."""
    rng = random.Random(workloads.SEED)
    sources = [
        Path(module.__file__).read_text().split("\n")
        for module in (argparse, difflib, heapq, json, random, subprocess, tempfile, textwrap)
    ]
    mails = []
    for number in range(count):
        seed = rng.randrange(PATCHES // 3)
        lines = sources[seed % len(sources)]
        edited = workloads.edited(lines, 1 + seed % 5, seed)
        if rng.random() < 0.5:
            edited = workloads.edited(edited, 1, number)
        path = f"f{seed % len(sources)}.py"
        diff = difflib.unified_diff(lines, edited, f"a/{path}", f"b/{path}", lineterm="")
        mails.append(f"From: a@b.c\nSubject: [PATCH] edit {number}\n\n---\n" + "\n".join(diff))
    return "".join(f"From x Thu Jan  1 00:00:00 1970\n{mail}\n\n" for mail in mails)


def printed(files: dict[str, str], *arguments: str) -> bytes:
    """Return what the command prints in a folder with these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            Path(folder, name).write_text(text)
        program = "from excise_server.cli import main; main()"
        command = [sys.executable, "-c", program, *arguments]
        return subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout


@cache
def patches() -> dict[str, list[dict[str, object]]]:
    """Return what `excise cluster` says of patches that it reads from a mailbox."""
    answer = printed({"box.mbox": mailbox(PATCHES)}, "cluster", "box.mbox", "--format", "json")
    return json.loads(answer)  # type: ignore[no-any-return]


def picked(part: str, *keys: str) -> bytes:
    """Return these keys of what is said of patches, as JSON."""
    rows = [[row.get(key) for key in keys] for row in patches()[part]]
    return json.dumps(rows).encode()


def numbers() -> str:
    """Return the hash of all values, hunks and tokens."""
    found, pairs = sha256(), 0
    for matrix in matrices():
        for values in (matrix.values, matrix.anchored, matrix.anywhere, matrix.contained):
            found.update(np.ascontiguousarray(values).tobytes())
        hunks = [(hunk.lo, hunk.hi, hunk.spans) for hunk in matrix.hunks()]
        found.update(repr((matrix.signature, hunks)).encode())
        pairs += len(pairs_of(matrix))
    found.update(picked("clusters", "members", "representative", "min_similarity"))
    found.update(picked("issues", "members", "clusters", "representative", "probability"))
    keys = ("similarity", "contains", "contained", "anchored", "anywhere")
    found.update(picked("patches", "id", "cluster", "patch_id", *keys))
    found.update(picked("pairs", "new", "other", "probability", "mean", "what", "where", "why"))
    tokens, used = edits()
    found.update(tokens)
    return (
        f"{found.hexdigest()} ({pairs:,} pairs, {len(patches()['patches']):,} patches, "
        f"{used:,} edits)"
    )


def words() -> str:
    """Return the hash of what is said of pairs."""
    found = sha256()
    for matrix in matrices():
        said = [(matrix.word(i, j), matrix.level(i, j)) for i, j in pairs_of(matrix)]
        found.update(repr(said).encode())
    found.update(picked("patches", "id", "word", "in_another_file"))
    found.update(picked("issues", "members", "word", "otherwise", "reasons"))
    keys = ("word", "level", "same_edit", "otherwise", "reasons")
    found.update(picked("pairs", "new", "other", *keys))
    return found.hexdigest()


def facts() -> str:
    """Return the hash of what is said of one revision or patch."""
    found = sha256()
    for matrix in matrices():
        said = [(own.same_program, own.unread, own.errors) for own in matrix.facts]
        found.update(repr(said).encode())
    known = ("subject", "title", "author", "version", "version_of", "replaced_by", "files")
    found.update(picked("patches", "id", *known, "facts"))
    found.update(json.dumps([patches()[key] for key in ("covers", "notes", "rejected")]).encode())
    return found.hexdigest()


def pages() -> str:
    """Return the hash of what people read of a tenth of the patches and of three files."""
    found = sha256()
    box = {"box.mbox": mailbox(PATCHES // 10)}
    for form in ("text", "markdown", "json", "html"):
        found.update(printed(box, "cluster", "box.mbox", "--format", form))
        for ending, (origin, *revisions) in (
            ("py", [workloads.text_b(), *workloads.revisions_of_b(12)]),
            ("py", workloads.broken_python(6)),
            ("c", workloads.broken_c(4)),
        ):
            files = {f"r{number}.{ending}": text for number, text in enumerate(revisions)}
            files[f"origin.{ending}"] = origin
            names = (f"origin.{ending}", *sorted(set(files) - {f"origin.{ending}"}))
            found.update(printed(files, "compare", *names, "--format", form))
    return found.hexdigest()


def edits() -> tuple[bytes, int]:
    """Return a hash of the tokens of texts that were edited at random, and how many were."""
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
    return found.digest(), used


def texts() -> dict[str, str]:
    """Return a text for each of some grammars."""
    node = CHECKOUT / "vscode-client"
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
    global CHECKOUT
    every = {"numbers": numbers, "words": words, "facts": facts, "pages": pages}
    parser = argparse.ArgumentParser(description="Hashes of results, to compare two commits.")
    parser.add_argument("--texts", type=Path, default=CHECKOUT, metavar="CHECKOUT")
    parser.add_argument("parts", nargs="*", metavar="|".join(every))
    given = parser.parse_args()
    CHECKOUT = given.texts
    for name in given.parts or every:
        print(f"{name}: {every[name]()}", flush=True)


if __name__ == "__main__":
    main()
