"""What a run shows beside its verdict: how it ends and what it prints, against the target. Pure.

Only a difference is evidence. Equal output says nothing of two candidates, and joins nobody.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Literal

from excise_server.foundation.escape import printable, shortened
from excise_server.review.candidate import Candidate

BASE = Candidate("target", "", "", "", label="the target")
"""The target, in the place of a candidate: what all runs are compared with."""

Place = Callable[[Candidate], AbstractContextManager[str]]
"""Gives a candidate's folder for the time of its run; raises SourceError if it has none."""

Evidence = Literal[
    "as target",
    "changed",
    "raises",
    "still raises",
    "does not import",
    "times out",
    "passes",
    "fails",
]
"""What a run shows, against that of the target; `evidence_of` says when which."""

EFFECTS: frozenset[Evidence] = frozenset({"changed", "raises", "passes", "fails"})
"""Evidence that the edit has an effect on the run, good or bad."""

BROUGHT_EFFECTS: frozenset[Evidence] = frozenset({"changed", "passes"})
"""The same of what a candidate brought: whoever breaks that has no effect that others lack."""

_LONGEST_DETAIL = 100

_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - looked for in output, never written to

# What is no content of an output, in the order in which it is replaced. docs/review.md lists it.
_NO_CONTENT = (
    (re.compile(r"\b\d+\.\d+ ?(?:[num]?s|µs|secs?|seconds?)\b|\b\d+ ?(?:[num]s|µs)\b"), "<time>"),
    (re.compile(r"\b0x[0-9a-fA-F]{6,16}\b"), "<address>"),
    (re.compile(r"\b(pid|process)([ =:]{1,3})\d+\b", re.IGNORECASE), r"\1\2<pid>"),
)  # fmt: skip

_FRAME = re.compile(r'\s*File "(?:\./)?([^"]+)", line \d+(?:, in (.+))?')
_TRACEBACK = "(most recent call last):"
_EXCEPTION = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*)(?:: (.*))?")
_QUOTED = re.compile(r"'([\w.]+)'")
AT_LOAD = {"ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError", "TabError"}
"""What is raised where a file, or something in it, cannot be imported."""


@dataclass(frozen=True, slots=True)
class _Raised:
    """The exception that the last traceback of an output names.

    ``loading`` has the files in whose statements of a module, or whose syntax, it was raised.
    """

    name: str
    message: str
    loading: frozenset[str]


@dataclass(frozen=True)
class RunResult:
    """How a run ended, and what it printed.

    - ``passed``: None if it ended without a verdict, for ``reason``.
    - ``status``: the exit status, or minus the signal that ended it; None if it did not end itself.
    - ``lines``: what it printed, as `content_lines` returns it.
    - ``is_whole``: whether nothing of that was left out.
    """

    passed: bool | None
    reason: str = ""
    seconds: float | None = None
    status: int | None = None
    timed_out: bool = False
    lines: tuple[str, ...] = ()
    is_whole: bool = True

    @cached_property
    def raised(self) -> _Raised | None:
        """The exception that it ended with, if it failed and its last traceback names one."""
        return None if self.passed is not False else _raised(self.lines)


def content_lines(output: bytes, folders: Iterable[str], temporary: str) -> tuple[str, ...]:
    r"""Return the lines of an output, without what differs between two runs of one program.

    - ``folders``: the names of the folder where it ran.
    - ``temporary``: the folder of temporary files, besides ``/tmp`` and ``/var/tmp``.

    >>> content_lines(b"/x/a.py: 0.12s\npid 7 at 0x7f01ab23, \xff\0 in /tmp/ab/c", ["/x"], "/tmp")
    ('./a.py: <time>', 'pid <pid> at <address>, \\xff\x00 in <temporary>')
    """
    text = output.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
    for folder in sorted(folders, key=len, reverse=True):
        text = re.sub(re.escape(folder) + r"(?![\w.-])", ".", text)
    tops = "|".join(re.escape(top) for top in {*_TEMPORARY, temporary.rstrip("/")} if top)
    text = re.sub(rf"(?<![\w.-])(?:{tops})/[^\s'\"<>,;:()\[\]]+", "<temporary>", text)
    for pattern, replacement in _NO_CONTENT:
        text = pattern.sub(replacement, text)
    return tuple(text.removesuffix("\n").split("\n")) if text else ()


def evidence_of(
    own: RunResult, base: RunResult, changed: Collection[str]
) -> tuple[Evidence | None, str]:
    """Return what the run of a candidate shows, and the detail; None where no command ended.

    - ``base``: the result of the same command on the target. If it has no verdict, nothing is
      compared with it.
    - ``changed``: the files that the candidate changes.
    """
    if own.timed_out:
        return "times out", ""
    if own.passed is None:
        return None, ""
    if (raised := own.raised) is not None:
        before = base.raised
        is_new = before is None or (before.name, before.message) != (raised.name, raised.message)
        if is_new and _is_at_load(raised, changed):
            return "does not import", _detail(f"{raised.name}: {raised.message}")
        is_same = before is not None and before.name == raised.name
        return "still raises" if is_same else "raises", _detail(raised.name)
    if base.passed is not own.passed or not (own.is_whole and base.is_whole):
        return "passes" if own.passed else "fails", ""
    if own.status != base.status:
        return "changed", f"{own.reason}, not {base.reason}"
    if own.lines != base.lines:
        return "changed", _difference(own.lines, base.lines)
    return "as target", ""


def evidence_words(evidence: Evidence | None, detail: str) -> str:
    """Return evidence as a short line, or "" without any.

    >>> evidence_words("still raises", "KeyError"), evidence_words("changed", "b")
    ('still raises KeyError', 'changed: b')
    """
    if evidence is None or not detail:
        return evidence or ""
    return f"{evidence}{' ' if evidence.endswith('raises') else ': '}{_detail(detail)}"


def _detail(text: str) -> str:
    return shortened(printable(text.strip()), _LONGEST_DETAIL)


def _difference(own: Sequence[str], base: Sequence[str]) -> str:
    """Return the first line that differs from that of the target, in words where there is none."""
    if Counter(own) == Counter(base):
        return "only the order of lines"
    line, before = next((a, b) for a, b in zip_longest(own, base) if a != b)
    if line is None:
        return _detail(f"no longer prints {before}") if before.strip() else "prints less"
    return _detail(line) or "an empty line"


def _raised(lines: Sequence[str]) -> _Raised | None:
    """Return the exception of the last traceback: what follows its last frame, not indented."""
    frames = [(at, match) for at, line in enumerate(lines) if (match := _FRAME.fullmatch(line))]
    if not frames:
        return None
    last, _ = frames[-1]
    line = next((line for line in lines[last + 1 :] if line and not line[0].isspace()), "")
    named = _EXCEPTION.fullmatch(line)
    if named is None:
        return None
    begun = [at for at, line in enumerate(lines[:last]) if line.endswith(_TRACEBACK)]
    loading = frozenset(
        match[1] for at, match in frames
        if at >= (begun[-1] if begun else last) and match[2] in (None, "<module>")
    )  # fmt: skip
    return _Raised(named[1], named[2] or "", loading)


def _is_at_load(raised: _Raised, changed: Collection[str]) -> bool:
    """Whether a file that the candidate changes, or a module made of one, could not be loaded."""
    if raised.name not in AT_LOAD:
        return False
    if not raised.loading.isdisjoint(changed):
        return True
    modules = [f"/{name.replace('.', '/')}" for name in _QUOTED.findall(raised.message)]
    stems = [f"/{path.removesuffix('.py').removesuffix('/__init__')}" for path in changed]
    return any(stem.endswith(module) for module in modules for stem in stems)
