"""Labelling outputs by running the tests of their items (`sandbox`)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


_Program = tuple[str | None, tuple[str, ...]]
"""The command that runs a program (None: Python itself), and its parts in order."""


def label(
    records: Sequence[Record],
    jobs: int,
    seconds: float,
    advance: Callable[[float], None],
    commands: Mapping[str, str],
) -> list[Labelled]:
    """Run the tests of every record, equal programs once. The labels are 1 (all passed) and 0.

    ``commands`` run what is in a language other than Python, by its grammar.
    """
    programs = [_program(record, commands) for record in records]
    verdicts: dict[_Program, TestOutcome] = {}
    to_run = {program for program in programs if not isinstance(program, str)}
    for command in (None, *dict.fromkeys(commands.values())):
        distinct = sorted(parts for by, parts in to_run if by == command)
        with closing(run_all(distinct, jobs, seconds=seconds, command=command)) as ran:
            for parts, verdict in zip(distinct, ran, strict=True):
                verdicts[command, parts] = verdict
                advance(len(verdicts))
    labelled = []
    for record, program in zip(records, programs, strict=True):
        if isinstance(program, str):
            labelled.append(Labelled(record, None, program))
        else:
            verdict = verdicts[program]
            passed = replace(record, label=float(verdict.passed))
            labelled.append(Labelled(passed, verdict))
    return labelled


def _program(record: Record, commands: Mapping[str, str]) -> _Program | str:
    """Return what to run, or why nothing can be run."""
    grammar = languages.resolve(record.language, record.path)
    command = commands.get(grammar or "")
    if grammar != "python" and command is None:
        return (
            f"no --execute LANGUAGE=COMMAND runs {record.language or record.path or 'no language'}"
        )
    parts = [record.value.get(key) or "" for key in ("import_", "test_setup", "tests")]
    if not all(isinstance(part, str) for part in parts):
        return "'tests', 'test_setup' and 'import_' are not all strings"
    first, setup, tests = parts
    if not tests.strip():
        return "'tests' is missing"
    if command is None:
        return None, (first, setup, record.hypothesis, tests)
    # A Go file begins with its package.
    texts = setup, first, record.hypothesis, tests
    return command, ("\n".join(text for text in texts if text),)


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
