"""What replay says of files that both sides changed, beside `git merge-file`.

    python benchmarks/merges.py triples [--number N] [--seed N]
    python benchmarks/merges.py pairs GIT_DIR .. [--heads N]

`triples` draws small texts over few lines, where alignments are most ambiguous. `pairs` takes the
newest pull-request heads of repositories (``refs/pull/*/head``) against HEAD, and writes nothing
there. Every disagreement is printed, and is exit status 1.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import excise
from excise.text import normalise

Texts = tuple[str, str, str]
_ENVIRONMENT = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def merged_by_git(folder: str, texts: Texts) -> str | None:
    """Return what git makes of base, origin and revision; None if they are in conflict."""
    for name, text in zip(("base", "origin", "revision"), texts, strict=True):
        Path(folder, name).write_bytes(text.encode("utf-8", "surrogatepass"))
    command = ["git", "merge-file", "-p", "origin", "base", "revision"]
    ran = subprocess.run(command, cwd=folder, env=_ENVIRONMENT, capture_output=True, check=False)
    return None if ran.returncode else ran.stdout.decode("utf-8", "surrogatepass")


def edited(rng: random.Random, lines: list[str], symbols: list[str]) -> list[str]:
    copy = list(lines)
    for _ in range(rng.randint(0, 3)):
        at = rng.randint(0, len(copy))
        block = [rng.choice(symbols) for _ in range(rng.randint(0, 3))]
        copy[at : at + rng.randint(0, 3)] = block
    return copy


def triples(number: int, seed: int) -> Iterator[tuple[str, Texts]]:
    rng = random.Random(seed)
    for which in range(number):
        symbols = ["\n", *(f"line {at}\n" for at in range(rng.choice((2, 3, 5, 9, 29))))]
        base = [rng.choice(symbols) for _ in range(rng.randint(0, rng.choice((6, 12, 40))))]
        origin, revision = (edited(rng, base, symbols) for _ in range(2))
        if rng.random() < 0.2:
            origin = edited(rng, revision, symbols)
        a, b, c = (
            "".join(lines).removesuffix("\n" * (rng.random() < 0.05))
            for lines in (base, origin, revision)
        )
        yield f"{seed}:{which}", (a, b, c)


def git(directory: str, *arguments: str, stdin: bytes = b"") -> bytes:
    command = ["git", "--git-dir", directory, *arguments]
    return subprocess.run(
        command, input=stdin, env=_ENVIRONMENT, capture_output=True, check=False
    ).stdout


def modified(directory: str, old: str, new: str) -> dict[bytes, tuple[bytes, bytes]]:
    fields = git(directory, "diff-tree", "-r", "-z", "--no-renames", old, new).split(b"\0")
    found = {}
    for facts, path in zip(fields[::2], fields[1::2], strict=False):
        old_mode, new_mode, old_blob, new_blob, status = facts.split()
        if status == b"M" and old_mode[1:3] == new_mode[:2] == b"10":
            found[path] = old_blob, new_blob
    return found


def pairs(directory: str, heads: int) -> Iterator[tuple[str, Texts]]:
    """Yield the files that a head and HEAD both changed since their merge base."""
    refs = git(directory, "for-each-ref", "--format=%(refname)", "refs/pull").decode().split()
    numbered = [(int(number[1]), ref) for ref in refs if (number := re.search(r"/(\d+)/head", ref))]
    seen = set[Texts]()
    for number, ref in sorted(numbered, reverse=True)[:heads]:
        base = git(directory, "merge-base", "HEAD", ref).decode().strip()
        own, now = modified(directory, base, ref), modified(directory, base, "HEAD")
        for path in sorted(own.keys() & now.keys()) if base else ():
            blobs = own[path][0], now[path][1], own[path][1]
            data = [git(directory, "cat-file", "blob", blob.decode()) for blob in blobs]
            if all(data) and not any(b"\0" in side for side in data):
                a, b, c = (normalise(side.decode("utf-8", "surrogateescape")) for side in data)
                if (a, b, c) not in seen:
                    seen.add((a, b, c))
                    yield f"#{number} {path.decode(errors='replace')}", (a, b, c)


def compared(named: Iterator[tuple[str, Texts]]) -> Counter[str]:
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        for name, texts in named:
            replayed, merged = excise.replay(*texts), merged_by_git(folder, texts)
            if replayed.conflicts:
                word = "conflict" if merged is None else "invented"
            else:
                word = "missed" if merged is None else "clean"
                word = "other bytes" if merged not in (None, replayed.text) else word
            counts[word] += 1
            if word not in ("conflict", "clean"):
                print(f"  {word}: {name}")
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    drawn = commands.add_parser("triples")
    drawn.add_argument("--number", type=int, default=100_000)
    drawn.add_argument("--seed", type=int, default=1)
    real = commands.add_parser("pairs")
    real.add_argument("git_dirs", nargs="+")
    real.add_argument("--heads", type=int, default=200)
    given = parser.parse_args()
    total = Counter[str]()
    if given.command == "triples":
        total = compared(triples(given.number, given.seed))
    else:
        for directory in given.git_dirs:
            counts = compared(pairs(directory, given.heads))
            print(f"{directory}: {dict(sorted(counts.items()))}")
            total += counts
    print(f"{total.total():,} triples: {dict(sorted(total.items()))}")
    return int(any(total[word] for word in ("missed", "invented", "other bytes")))


if __name__ == "__main__":
    sys.exit(main())
