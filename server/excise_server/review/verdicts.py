"""Verdicts: the results of checks on candidates, and what they mean for the order. Pure.

A verdict is the result of somebody's test run. A missing verdict is not a bad one: a check that
timed out, or could not be run, ranks between passing and failing. What a run prints is no verdict.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

import msgspec

from excise_server.foundation.escape import shortened
from excise_server.foundation.inputs import first_few
from excise_server.review.candidate import Candidate, candidates_called

Outcome = Literal["passed", "failed", "undecided"]
PASSED: Outcome = "passed"
FAILED: Outcome = "failed"
UNDECIDED: Outcome = "undecided"

TELLS_NOBODY = "tells nobody apart"
"""How a note ends of a check that all pass, or all fail, the target too."""

_SHOWN = 100
"""Most characters shown of a name that no candidate has."""

_LEVELS: dict[Outcome | None, int] = {PASSED: 0, UNDECIDED: 1, None: 1, FAILED: 2}


class Verdict(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one check for one candidate, also a line of a file of verdicts.

    - ``passed``: None if it ran without reaching a verdict: ``reason`` says why.
    - ``reason``: why it did not pass, or which tests differ from those of the target.
    - ``digest``: the candidate's digest when it was checked, or empty if that is not known.
    - ``base_passed``: whether the target passes the check, too; None if it has no verdict.
    """

    candidate: str
    check: str = ""
    passed: bool | None
    seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None
    reason: str = ""
    digest: str = ""
    base_passed: bool | None = None

    @property
    def outcome(self) -> Outcome:
        """The verdict in a word."""
        return UNDECIDED if self.passed is None else PASSED if self.passed else FAILED


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All verdicts of a review.

    - ``checks``: by id of a candidate, its verdicts in the order in which they were read.
    - ``unknown``: names in verdicts that no candidate of the review has, unescaped.
    """

    checks: Mapping[str, tuple[Verdict, ...]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether there is any verdict on a candidate."""
        return bool(self.checks)

    def outcome(self, candidate: str) -> Outcome | None:
        """Return the outcome of a candidate's checks, or None without checks.

        One that fails is enough to fail, and all have to pass to pass.
        """
        outcomes = {verdict.outcome for verdict in self.checks.get(candidate, ())}
        return next((o for o in (FAILED, UNDECIDED, PASSED) if o in outcomes), None)

    def level(self, candidate: str) -> int:
        """Return the first key of the order: 0 passes, 2 fails, and 1 is everything between."""
        return _LEVELS[self.outcome(candidate)]

    def counts(self, candidates: Iterable[str]) -> Counter[Outcome]:
        """Return how many of some candidates have which outcome, leaving out those without one."""
        return Counter(o for o in map(self.outcome, candidates) if o is not None)

    def of_group(self, candidates: Sequence[str]) -> str:
        """Return the result of the checks in a group: ``3 of 3 pass``, or "" if none ran.

        If the results differ within a group, the words say so, because its texts looked alike.
        """
        if len(candidates) == 1:
            return self.words(candidates[0])
        counts = self.counts(candidates)
        if not counts:
            return ""
        everyone = len(candidates)
        text = f"{counts[PASSED]} of {everyone} pass"
        failed, open_ = counts[FAILED], everyone - counts[PASSED] - counts[FAILED]
        if failed:
            text += f", {failed} fail{'s' if failed == 1 else ''}"
        if open_:
            text += f", {open_} without a verdict"
        return f"{text}: not the same to the checks" if self.differ(candidates) else text

    def differ(self, candidates: Sequence[str]) -> bool:
        """Whether some candidates of a group pass and others fail."""
        counts = self.counts(candidates)
        return bool(counts[PASSED] and counts[FAILED])

    def words(self, candidate: str) -> str:
        """Return the result of the checks for one candidate, or "" if none ran."""
        outcome = self.outcome(candidate)
        if outcome is None:
            return ""
        if outcome != UNDECIDED:
            return "passes" if outcome == PASSED else "fails"
        why = (v.reason for v in self.checks[candidate] if v.passed is None and v.reason)
        return next(why, "no verdict")


NO_VERDICTS = Verdicts()


def tests_by_name(own: Mapping[str, bool], target: Mapping[str, bool]) -> str:
    """Say which tests have another outcome than on the target, or fail there, too.

    >>> tests_by_name({"test_a": False, "test_b": True}, {"test_a": True, "test_b": False})
    'fails test_a, which passes on the target; passes test_b, which fails on the target'
    """
    parts = list[str]()
    for passed, before, verb, does in (
        (False, True, "fails", "passes on the target"),
        (True, False, "passes", "fails on the target"),
        (False, False, "fails", "fails on the target, too"),
    ):
        names = [name for name, ok in own.items() if ok is passed and target.get(name) is before]
        if names and not (parts and passed is before):
            verb_there = does if len(names) == 1 else does.replace("es ", " ").replace("ls ", "l ")
            parts.append(f"{verb} {first_few(names)}, which {verb_there}")
    return "; ".join(parts)


def match_verdicts(verdicts: Iterable[Verdict], candidates: Sequence[Candidate]) -> Verdicts:
    """Assign verdicts to their candidates.

    The last of several verdicts of one check on one candidate counts, with a note if they differ. A
    verdict on a candidate that has changed since then also counts, with a note.
    """
    checks: dict[str, dict[str, Verdict]] = defaultdict(dict)
    unknown: dict[str, None] = {}
    notes: dict[str, None] = {}
    named: dict[str, list[Candidate]] = {}
    for verdict in verdicts:
        name = verdict.candidate
        if name not in named:
            named[name] = candidates_called(name, candidates)
        if len(named[name]) != 1:
            unknown[name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"] = None
            if named[name]:
                notes[f"{len(named[name])} candidates are called {name}: use their ids"] = None
            continue
        (candidate,) = named[name]
        before = checks[candidate.id].get(verdict.check)
        if before is not None and before.passed is not verdict.passed:
            check = f" by {verdict.check}" if verdict.check else ""
            notes[f"{candidate.label}: several verdicts{check}, the last one counts"] = None
        if verdict.digest and verdict.digest != candidate.digest:
            notes[f"{candidate.label}: changed since it was checked"] = None
        checks[candidate.id][verdict.check] = verdict
    of_checks: dict[str, list[Verdict]] = defaultdict(list)
    for by_check in checks.values():
        for check, verdict in by_check.items():
            of_checks[check].append(verdict)
    for check, every in of_checks.items():
        for passed, words in ((True, ("passes", "passing")), (False, ("fails", "failing"))):
            if all(each.passed is passed and each.base_passed is passed for each in every):
                name = shortened(check, _SHOWN) or "the check"
                notes[f"{name} {words[0]} on the target, too: {words[1]} {TELLS_NOBODY}"] = None
    by_id = {identity: tuple(by_check.values()) for identity, by_check in checks.items()}
    return Verdicts(by_id, tuple(unknown), tuple(notes))
