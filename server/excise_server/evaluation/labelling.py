"""Labelling outputs by running the tests of their items (`sandbox`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from excise import languages
from excise_server.evaluation.sandbox import Verdict
from excise_server.evaluation.sandboxes import Sandboxes
from excise_server.records.evaluated import Line

__all__ = ["Labelled", "Labelling", "label", "labelled_lines"]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A line with the result of its tests (``reason``: why nothing could be run)."""

    line: Line
    verdict: Verdict | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Labelling:
    """All lines with their verdicts.

    Attributes
    ----------
    passed, failed, timed_out
        Outputs, each as often as it occurred. One that timed out has failed, too.
    agree, disagree
        Of those that had a label of 0 or 1 before.
    """

    lines: tuple[Labelled, ...]
    passed: int
    failed: int
    timed_out: int
    agree: int
    disagree: int


def label(
    lines: Iterable[Line], jobs: int, seconds: float, advance: Callable[[float], None]
) -> Labelling:
    """Run the tests of every line, equal programs once. The labels are 1 (all passed) and 0."""
    originals = list(lines)
    programs = {index: _program(line.value, line) for index, line in enumerate(originals)}
    distinct = {parts for parts in programs.values() if not isinstance(parts, str)}
    verdicts = _verdicts(sorted(distinct), jobs, seconds, advance)
    labelled = []
    for index, line in enumerate(originals):
        parts = programs[index]
        if isinstance(parts, str):
            labelled.append(Labelled(line, None, parts))
            continue
        verdict = verdicts[parts]
        record = replace(line.record, label=float(verdict.passed))
        labelled.append(Labelled(Line(line.number, record, line.value), verdict))
    return _summary(originals, labelled)


def _verdicts(
    programs: Sequence[tuple[str, ...]],
    jobs: int,
    seconds: float,
    advance: Callable[[float], None],
) -> dict[tuple[str, ...], Verdict]:
    verdicts = {}
    with closing(Sandboxes()) as sandboxes, ThreadPoolExecutor(jobs) as threads:
        running = {
            threads.submit(sandboxes.run, program, seconds=seconds): program for program in programs
        }
        try:
            for done, future in enumerate(as_completed(running), start=1):
                verdicts[running[future]] = future.result()
                advance(done)
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            sandboxes.close()  # ends the runs, because the threads are joined
            raise
    return verdicts


def _program(value: Mapping[str, Any], line: Line) -> tuple[str, ...] | str:
    """Return the parts to run, in order, or why nothing can be run."""
    record = line.record
    if languages.resolve(record.language, record.path) != "python":
        return "only Python can be executed"
    parts = [value.get(key) or "" for key in ("import_", "test_setup", "tests")]
    if not all(isinstance(part, str) for part in parts):
        return "'tests', 'test_setup' and 'import_' are not all strings"
    first, setup, tests = parts
    if not tests.strip():
        return "'tests' is missing"
    return (first, setup, record.hypothesis, tests)


def _summary(originals: Sequence[Line], labelled: Sequence[Labelled]) -> Labelling:
    passed = failed = timed_out = agree = disagree = 0
    for line, outcome in zip(originals, labelled, strict=True):
        if outcome.verdict is None:
            continue
        count = line.record.count
        passed, failed = (
            passed + outcome.verdict.passed * count,
            failed + (not outcome.verdict.passed) * count,
        )
        timed_out += (outcome.verdict.reason == "timeout") * count
        if line.record.label in (0.0, 1.0):
            same = bool(line.record.label) == outcome.verdict.passed
            agree, disagree = agree + same * count, disagree + (not same) * count
    return Labelling(tuple(labelled), passed, failed, timed_out, agree, disagree)


def labelled_lines(labelling: Labelling) -> Iterable[str]:
    """Yield the original records with ``label`` and ``verdict`` (why the output did not pass)."""
    for labelled in labelling.lines:
        value = dict(labelled.line.value)
        if labelled.verdict is not None:
            value["label"] = int(labelled.verdict.passed)
            value["verdict"] = labelled.verdict.reason or "passed"
        yield json.dumps(value)
