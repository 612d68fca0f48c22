"""Pairs of patches made from real files: one guard in two functions, and on a newer tree.

The files are those of the Python that runs, the diffs git's; which they are decides a seed.
"""

from __future__ import annotations

import ast
import os
import random
import subprocess
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

STDLIB = Path(sysconfig.get_paths()["stdlib"])
GUARDS = (
    (
        "if {x} is None:",
        '    log.error("{x} is gone")',
        "    count_failure({x})",
        "    return None",
    ),
    ("if not {x}.ready():", '    raise RuntimeError("{x} is not ready")', "{x}.claim()"),
    ("with {x}.lock:", "    if {x}.closed:", "        return -1", "    {x}.users += 1"),
    ("assert len({x}) > 0, {x}", "{x}.check(strict=True)"),
)
NAMES = ("state", "handle", "item", "conn", "buffer")
FAR = 12
"""Lines between an edit and what else changes in a newer tree, so that no hunk shows it."""


@dataclass(frozen=True)
class Pair:
    """Patches of one guard: in one function, in another one, and in the first on a newer tree."""

    path: str
    one: bytes
    other: bytes
    newer: bytes


def pairs(count: int, folder: Path) -> Iterator[Pair]:
    """Yield pairs; diffs are made in an empty folder."""
    for seed in range(count):
        choice = random.Random(seed)
        path, lines, spots = choice.choice(_files())
        (first, indent), (second, other_indent) = choice.sample(spots, 2)
        template, name = choice.choice(GUARDS), choice.choice(NAMES)
        guard = [line.format(x=name) for line in template]
        drifted, moved = _drifted(lines, first, choice)
        yield Pair(
            path,
            _diff(folder, lines, _with(lines, first, indent, guard)),
            _diff(folder, lines, _with(lines, second, other_indent, guard)),
            _diff(folder, drifted, _with(drifted, moved, indent, guard)),
        )


@cache
def _files() -> tuple[tuple[str, list[str], list[tuple[int, int]]], ...]:
    """Return files with their lines and, of several functions, a line to insert before."""
    found = []
    for path in sorted(STDLIB.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        spots = []
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and len(node.body) > 1:
                inside = node.body[len(node.body) // 2]
                spots.append((inside.lineno - 1, inside.col_offset))
        if len(spots) > 3:
            found.append((path.name, text.split("\n"), sorted(spots)))
    return tuple(found)


def _with(lines: list[str], at: int, indent: int, guard: list[str]) -> list[str]:
    return [*lines[:at], *(" " * indent + line for line in guard), *lines[at:]]


def _drifted(lines: list[str], spot: int, choice: random.Random) -> tuple[list[str], int]:
    """Return the lines of a newer tree, and where the spot is there.

    Lines that git takes for headings stay: without the first line of its function, the spot would
    be in the one before it.
    """
    far = [at for at, line in enumerate(lines) if abs(at - spot) > FAR and line[:1].isspace()]
    new, moved = list(lines), spot
    for at in sorted(choice.sample(far, min(8, len(far))), reverse=True):
        gone, n = choice.randrange(2), choice.randrange(3)
        new[at : at + gone] = ["    # Another commit was here.", f"    other = {at}"][:n]
        moved += n - gone if at < spot else 0
    return new, moved


def _diff(folder: Path, old: list[str], new: list[str]) -> bytes:
    for name, lines in (("a", old), ("b", new)):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "module.py").write_text("\n".join(lines), encoding="utf-8")
    command = ["git", "diff", "--no-index", "--no-color", "a/module.py", "b/module.py"]
    settings = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    ran = subprocess.run(command, cwd=folder, env=settings, capture_output=True, check=False)
    return ran.stdout
