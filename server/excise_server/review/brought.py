"""What candidates brought along to be run: new scripts in the top folder, changed tests. Pure.

Whoever changes code often leaves the script that reproduced the bug. Run on all others, it may show
an edit without an effect. It is evidence, never a check: it asks for what its author believes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from excise_server.foundation.changes import LINK, SUBMODULE, Side
from excise_server.foundation.escape import printable, shortened
from excise_server.review.candidate import Candidate
from excise_server.review.kinds import script_stem

MOST = 20
"""Scripts and tests that are run, those of the first candidates."""

_PROGRAMS = {"py": "python3", "sh": "sh", "bash": "bash"} | dict.fromkeys(
    ("js", "mjs", "cjs"), "node"
)
"""What runs a script, by its extension."""

_PYTEST = "python3 -m pytest -q --tb=native --disable-warnings -p no:cacheprovider"
_HAS_TESTS = re.compile(rb"^\s*(?:async\s+)?def test|^\s*class \w+\(.*TestCase\)", re.M)


@dataclass(frozen=True, slots=True)
class Brought:
    """A script or test file, and how it is run.

    - ``name``: what it is called, with who brought it.
    - ``program``, ``command``: what runs it, and the whole line for the shell.
    - ``files``: all that its author brought along with it, by path: they may need each other.
    """

    name: str
    program: str
    command: str
    files: Mapping[str, Side]


def brought_along(candidates: Sequence[Candidate]) -> tuple[list[Brought], list[str]]:
    """Return what can be run of what candidates brought, equal ones once, and the names of others.

    - ``candidates``: one after another, as often as they are called.
    """
    found: list[Brought] = []
    others: list[str] = []
    seen = set()
    for candidate in candidates:
        # The tests and scripts of a candidate, as it leaves them.
        files = {
            path: side
            for path, side in candidate.new.items()
            if side.mode not in (LINK, SUBMODULE)
            and (
                candidate.kind_of(path) in ("tests", "scratch")
                or ("/" not in path and path not in candidate.old and script_stem(path))
            )
        }
        for path in sorted(files):
            if candidate.old.get(path) == files[path]:
                continue
            name = f"{path} of {candidate.label}"
            one = runnable(name, path, files)
            key = path, tuple((each, files[each].data) for each in sorted(files))
            if one is None and (script_stem(path) or candidate.kind_of(path) == "tests"):
                others.append(name)
            if one is None or key in seen:
                continue
            seen.add(key)
            found.append(one)
    return found[:MOST], [*others, *(one.name for one in found[MOST:])]


def runnable(name: str, path: str, files: Mapping[str, Side]) -> Brought | None:
    """Return a file as what is run, or None if nothing here runs such a file."""
    extension = path.rpartition(".")[2]
    program = _PROGRAMS.get(extension)
    is_test = extension == "py" and _HAS_TESTS.search(files[path].data) is not None
    if program is None or ("/" in path and not is_test):
        return None
    words = _PYTEST if is_test else program
    return Brought(
        shortened(printable(name), 100), program, f"{words} {shlex.quote(f'./{path}')}", files
    )
