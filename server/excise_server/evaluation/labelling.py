"""Labelling outputs by running the tests of their items (`sandbox`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

from excise import languages
from excise_server.processes.sandbox import TestOutcome, run_all
from excise_server.records.outputs import Record, read_label


class Labelled(NamedTuple):
    """A record with the result of its tests as label (``reason``: why nothing could be run)."""

    record: Record
    verdict: TestOutcome | None
    reason: str = ""


def label(
    records: Sequence[Record], jobs: int, seconds: float, advance: Callable[[float], None]
) -> list[Labelled]:
    """Run the tests of every record, equal programs once. The labels are 1 (all passed) and 0."""
    programs = [_program(record) for record in records]
    distinct = sorted({parts for parts in programs if not isinstance(parts, str)})
    verdicts = {}
    with closing(run_all(distinct, jobs, seconds=seconds)) as ran:
        for done, (program, verdict) in enumerate(zip(distinct, ran, strict=True), start=1):
            verdicts[program] = verdict
            advance(done)
    labelled = []
    for record, parts in zip(records, programs, strict=True):
        if isinstance(parts, str):
            labelled.append(Labelled(record, None, parts))
        else:
            verdict = verdicts[parts]
            passed = replace(record, label=float(verdict.passed))
            labelled.append(Labelled(passed, verdict))
    return labelled


def _program(record: Record) -> tuple[str, ...] | str:
    """Return the parts to run, in order, or why nothing can be run."""
    if languages.resolve(record.language, record.path) != "python":
        return "only Python can be executed"
    parts = [record.value.get(key) or "" for key in ("import_", "test_setup", "tests")]
    if not all(isinstance(part, str) for part in parts):
        return "'tests', 'test_setup' and 'import_' are not all strings"
    first, setup, tests = parts
    if not tests.strip():
        return "'tests' is missing"
    return (first, setup, record.hypothesis, tests)


def counts(labelled: Iterable[Labelled]) -> dict[str, int]:
    """Count outputs, each as often as it occurred: what the document calls ``executed``.

    One that timed out has failed, too; ``agree`` and ``disagree`` are of those that had a label of
    0 or 1 before.
    """
    keys = ("passed", "failed", "timed_out", "agree", "disagree")
    total = dict.fromkeys(keys, 0)
    for record, verdict, _ in labelled:
        if verdict is None:
            continue
        total["passed" if verdict.passed else "failed"] += record.count
        if verdict.reason == "timeout":
            total["timed_out"] += record.count
        before = read_label(record.value.get("label"))
        if before in (0.0, 1.0):
            total["agree" if bool(before) == verdict.passed else "disagree"] += record.count
    return total


def labelled_lines(labelled: Iterable[Labelled]) -> Iterator[str]:
    """Yield the original records with ``label`` and ``verdict`` (why the output did not pass)."""
    for record, verdict, _ in labelled:
        value = dict(record.value)
        if verdict is not None:
            value["label"] = int(verdict.passed)
            value["verdict"] = verdict.reason or "passed"
        yield json.dumps(value) + "\n"
