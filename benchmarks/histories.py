"""Reviews of real histories, beside git's own reading and one bare parse of each distinct text.

EXCISE_MIRRORS names a folder with bare clones as ``OWNER+NAME/repo``, with the heads of pull
requests (``git clone --mirror``). Seconds are those of the processor, of all processes: the median
of some runs, in turn. *Git's reading* is what no review can do without: the commit that each
candidate started from, what it changed, and one ``cat-file`` of these files. *A bare parse* is
`excise.syntax.parse` of every text that a parser gets in the review, once by each grammar, in one
process. What the review parses is heard from the auditing events of its parsers.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import measure

from excise.reading import PARSER_SECONDS
from excise.syntax import parse

ROUNDS = 3
REVIEW = "from excise_server.cli import main; main()"
# Each text that a parser gets is written to a file of its own: its grammar, a line end, its bytes.
HEARD = f"""
import os, sys
folder, audit = sys.argv.pop(1), sys.audit

def hear(event, *arguments):
    if event == "excise.parse":
        heard.append(0)
        with open(f"{{folder}}/{{os.getpid()}}-{{len(heard)}}", "wb") as file:
            file.write(arguments[0].encode() + b"\\n" + arguments[1])
    audit(event, *arguments)

heard, sys.audit = [], hear
{REVIEW}
"""
OWN_PARSERS = ("python_ast", "pyflakes")
"""Python's own parser and what reads its trees: not counted as bare parses."""


class History(NamedTuple):
    """Candidates of a real repository: their commits by name, and the commit they are made for."""

    name: str
    clone: Path
    target: str
    heads: dict[str, str]


def git(clone: Path, *arguments: str, given: str = "") -> str:
    """Return what a command of git prints."""
    command = ["git", "-C", str(clone), *arguments]
    done = subprocess.run(command, input=given.encode(), check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def pull_requests(clone: Path, target: str, count: int) -> dict[str, str]:
    """Return the newest pull requests that the target lacks and have a start in common with it."""
    refs = git(clone, "for-each-ref", "--format=%(refname) %(objectname)", "refs/pull/*/head")
    numbered = sorted(
        ((int(ref.split("/")[2]), head) for ref, _, head in (x.partition(" ") for x in refs.split("\n") if x)),
        reverse=True,
    )
    heads: dict[str, str] = {}
    for number, head in numbered:
        base = subprocess.run(
            ["git", "-C", str(clone), "merge-base", target, head], capture_output=True, text=True
        ).stdout.strip()
        if base and base != head and len(heads) < count:
            heads[f"pr-{number}"] = head
    return heads
