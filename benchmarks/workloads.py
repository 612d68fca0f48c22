"""The shapes of the goals table, from seeds and from files that ship with Python and numpy.

* a: a 200-line Python file, 5 % of its lines edited;
* b: a 2,000-line Python file, 11 edits;
* c: a large C file: 30,000 lines of real C (numpy's and Python's headers, repeated with renamed
  identifiers where they do not suffice), 10 edits;
* d: 5,000 tokens of two unrelated Python files;
* e: 20,000 tokens over 6 symbols, 2 % edited.

`million_lines` is a sixth, of texts: 1,000,000 lines of C, read without a grammar. `broken_c` and
`broken_python` are texts whose syntax is broken: C with macros, which no grammar expands, and b
with one broken line.
"""

from __future__ import annotations

import argparse
import inspect
import random
import re
import shutil
import sysconfig
import typing
from array import array
from itertools import count, islice
from pathlib import Path

from excise.lexical import tokenise
from excise.syntax import tokenise as by_grammar

SEED = 20261121
# Lines whose last word can be renamed, and before which a call can stand.
PYTHON = re.compile(r"^(\s+(?:return|[\w.]+ =) .*[a-z]\w+)([^\w,]*)$")
C = re.compile(r"^(.*\w)(\W*;)$")


class Pair(typing.NamedTuple):
    """Two token sequences, as strings and as ints of one vocabulary."""

    origin: list[str]
    revision: list[str]

    def ints(self) -> tuple[array[int], array[int]]:
        """Intern both."""
        names: dict[str, int] = {}
        return interned(self.origin, names), interned(self.revision, names)


def interned(tokens: list[str], names: dict[str, int]) -> array[int]:
    """Name tokens by ints in order of first sight."""
    return array("i", [names.setdefault(token, len(names)) for token in tokens])


def lines_of(module: object, count: int) -> list[str]:
    """Return the first lines of a module's source."""
    source = inspect.getsource(module)  # type: ignore[arg-type]
    lines = source.split("\n")
    if len(lines) < count:
        raise SystemExit(f"{module} has only {len(lines)} lines; {count} are needed")
    return lines[:count]


def edited(
    lines: list[str], edits: int, seed: int = SEED, code: re.Pattern[str] = PYTHON
) -> list[str]:
    """Return a copy with that many lines edited, spread over the file; its syntax stays whole.

    An edit renames the last word of a line of code, or puts a line before one.
    """
    rng = random.Random(seed)
    places = [at for at, line in enumerate(lines) if code.search(line)]
    result = list(lines)
    for at in sorted(rng.sample(places, edits), reverse=True):
        if rng.random() < 0.5:
            result[at] = code.sub(rf"\1_{seed % 97}_{at}\2", result[at])
        else:
            indent = result[at][: len(result[at]) - len(result[at].lstrip())]
            result.insert(at, f"{indent}inserted_{at}();")
    return result


def text_b() -> str:
    """Return the origin of b: 2,000 lines of the standard library."""
    import typing as module

    return "\n".join(lines_of(module, 2000)) + "\n"


def revisions_of_b(k: int) -> list[str]:
    """Return k revisions of b, 11 edits each, whose syntax is whole."""
    lines = text_b().split("\n")
    texts = ("\n".join(edited(lines, 11, seed)) for seed in count())
    return list(islice((text for text in texts if not by_grammar(text, "python").has_errors), k))


def c_lines(count: int = 30_000) -> list[str]:
    """Return lines of real C headers, and renamed copies until there are enough."""
    headers = sorted(Path(sysconfig.get_path("include")).rglob("*.h"))
    real = [line for path in headers for line in path.read_text("latin-1").split("\n")]
    lines: list[str] = []
    copy = 0
    while len(lines) < count:
        suffix = f"_{copy}" if copy else ""
        lines += [line.replace("Py", f"Py{suffix}_", 1) if copy else line for line in real]
        copy += 1
    return lines[:count]


def tokens(lines: list[str]) -> list[str]:
    """Return the lexical tokens of lines."""
    return tokenise("\n".join(lines)).tokens


def shape_a() -> Pair:
    """A small file, 5 % edited."""
    lines = lines_of(shutil, 400)[200:]
    return Pair(tokens(lines), tokens(edited(lines, 10)))


def shape_b() -> Pair:
    """A 2,000-line file, 11 edits."""
    lines = text_b().split("\n")
    return Pair(tokens(lines), tokens(edited(lines, 11)))


def shape_c() -> Pair:
    """A very large C file, 10 edits."""
    lines = c_lines()
    return Pair(tokens(lines), tokens(edited(lines, 10, code=C)))


def shape_c_lines() -> Pair:
    """The same, by lines."""
    lines = c_lines()
    return Pair(lines, edited(lines, 10, code=C))


def shape_d() -> Pair:
    """Two files with little in common."""
    return Pair(tokens(lines_of(argparse, 2000))[:5000], tokens(lines_of(typing, 2000))[:5000])


def shape_e() -> Pair:
    """A long text over few symbols, 2 % edited."""
    rng = random.Random(SEED)
    origin = [str(rng.randrange(6)) for _ in range(20_000)]
    revision = [
        token if rng.random() >= 0.02 else str(rng.randrange(6))
        for token in origin
        if rng.random() >= 0.005
    ]
    return Pair(origin, revision)


def million_lines() -> list[str]:
    """An origin of 1,000,000 lines and two revisions, two edits in each."""
    lines = c_lines(1_000_000)
    texts = [lines, edited(lines, 2, SEED, C), edited(lines, 2, SEED + 1, C)]
    return ["\n".join(text) + "\n" for text in texts]


def broken_c(k: int) -> list[str]:
    """Return 3,000 lines of C headers, broken to the grammar, and k revisions, 10 edits each."""
    lines = c_lines(3_000)
    texts = [lines, *(edited(lines, 10, SEED + n, C) for n in range(k))]
    return ["\n".join(text) + "\n" for text in texts]


def broken_python(k: int) -> list[str]:
    """Return b and k revisions of it with 11 edits each and one broken line."""
    lines = text_b().split("\n")
    texts = [edited(lines, 11, SEED + n) for n in range(k)]
    for text in texts:
        text.insert(next(at for at in range(1000, 2000) if text[at].startswith("def ")), "def (")
    return ["\n".join(text) for text in (lines, *texts)]


SHAPES = {
    "a": shape_a,
    "b": shape_b,
    "c": shape_c,
    "c lines": shape_c_lines,
    "d": shape_d,
    "e": shape_e,
}
