"""The choices of a user or a program, by the names that a review shows. Pure.

On a command line, a candidate is followed by the parts to take of it: ``A a.py#3-8 B b.py``. An
argument that names a candidate begins the next choice. If the candidate before it also changes a
file of that name, the argument is ambiguous and refused: write ``./NAME`` for the file, or the id
of the candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from excise_server.foundation.escape import path_spelled
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.review.candidate import Candidate, candidates_called
from excise_server.review.composing import shown_name
from excise_server.review.hunks import lines_named
from excise_server.review.taking import Choice

__all__ = ["Plan", "PlannedChoice", "choices_named", "choices_planned"]


class PlannedChoice(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A choice of a program: a candidate by its id, maybe a file, maybe a hunk as it is named."""

    candidate: str
    path: str = ""
    hunk: str = ""
    conflicts: bool = False


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The choices of a program from the review with this digest."""

    digest: str
    choices: list[PlannedChoice]
    anyway: bool = False


def choices_named(
    arguments: Sequence[str], candidates: Sequence[Candidate], *, in_conflict: bool = False
) -> list[Choice]:
    """Return the choices of a command line.

    Raises
    ------
    SourceError
        If an argument names nothing, or more than one thing.
    """
    choices: list[Choice] = []
    current: Candidate | None = None
    for argument in arguments:
        if current is None:
            current = _candidate(argument, candidates)
            choices.append(Choice(current.id, in_conflict=in_conflict))
            continue
        chosen = _part(argument, current)
        meant = candidates_called(argument, candidates)
        if chosen is not None and meant and argument != meant[0].id:
            name = shown_name(argument)
            hint = f"write ./{name} for the file, {meant[0].id} for the candidate"
            raise SourceError(f"{name} is a file and a candidate", hint=hint)
        if meant and (chosen is None or argument == meant[0].id):
            current = _candidate(argument, candidates)
            choices.append(Choice(current.id, in_conflict=in_conflict))
            continue
        if chosen is None:
            raise _nothing(argument, current, candidates)
        if choices[-1].candidate == current.id and not choices[-1].path:
            choices.pop()  # the arguments after it name its files
        choices.append(replace(chosen, in_conflict=in_conflict))
    return choices


def choices_planned(plan: Plan, candidates: Sequence[Candidate]) -> list[Choice]:
    """Return the choices of a plan, whose digest was compared.

    Raises
    ------
    SourceError
        If a choice names nothing.
    """
    choices = []
    for choice in plan.choices:
        candidate = _candidate(choice.candidate, candidates)
        lines = lines_named(choice.hunk) if choice.hunk else None
        if choice.hunk and (lines is None or not choice.path):
            name = shown_name(f"{choice.path}#{choice.hunk}")
            raise SourceError(f"{name} does not name a hunk", hint="give path, and hunk as in 3-8")
        path = choice.path and _path(choice.path, candidate)
        choices.append(Choice(candidate.id, path, lines, choice.conflicts))
    return choices


def _path(name: str, candidate: Candidate) -> str:
    """Return the path that documents spell so, or else the name itself."""
    path = path_spelled(name)
    return path if path in candidate.old.keys() | candidate.new.keys() else name


def _candidate(name: str, candidates: Sequence[Candidate]) -> Candidate:
    meant = candidates_called(name, candidates)
    if len(meant) == 1:
        return meant[0]
    if meant:
        hint = f"name one by its id: {first_few([shown_name(c.id) for c in meant])}"
        raise SourceError(f"{shown_name(name)} names {len(meant)} candidates", hint=hint)
    labels = first_few([shown_name(c.label) for c in candidates], 8)
    hint = f"there are {labels}" if labels else "no candidate changes anything"
    raise SourceError(f"no candidate is called {shown_name(name)}", hint=hint)


def _part(argument: str, candidate: Candidate) -> Choice | None:
    """Return the file or hunk that an argument names, if any. A path may contain a #."""
    paths = candidate.old.keys() | candidate.new.keys()
    name = argument.removeprefix("./")
    path = _path(name, candidate)
    if path in paths:
        return Choice(candidate.id, path)
    name, number_sign, numbers = name.rpartition("#")
    path, lines = _path(name, candidate), lines_named(numbers)
    if number_sign and lines is not None and path in paths:
        return Choice(candidate.id, path, lines)
    return None


def _nothing(argument: str, current: Candidate, candidates: Sequence[Candidate]) -> SourceError:
    paths = sorted(current.old.keys() | current.new.keys())
    label = shown_name(current.label)
    changes = first_few([shown_name(path) for path in paths], 8)
    others = first_few([shown_name(c.label) for c in candidates if c.id != current.id], 8)
    hint = f"{label} changes {changes}" + (f"; other candidates are {others}" if others else "")
    reason = f"{shown_name(argument)} is neither a file of {label} nor a candidate"
    return SourceError(reason, hint=hint)
