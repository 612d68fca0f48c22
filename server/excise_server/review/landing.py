"""Candidates of different tasks put together: which of each task, in which order, and which not.

Pure. What lands is taken as `excise_server.review.taking` takes it. A candidate that collides with
another one, or that breaks it, is left out with its reasons, so that as many land as a greedy order
finds: always the one that is in the fewest others' way, and of equal ones the first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from excise_server.foundation.escape import printable, shown_name
from excise_server.foundation.inputs import first_few
from excise_server.review.candidate import Candidate
from excise_server.review.claims import Claim
from excise_server.review.composing import OverlapError
from excise_server.review.kinds import is_changelog
from excise_server.review.mixes import BrokenMixError
from excise_server.review.relations import CandidateRelation, RelationReason, Task
from excise_server.review.taking import Choice, Taken, take
from excise_server.review.verdicts import FAILED, PASSED, Outcome

LeftOutWord = Literal["broken", "collides", "breaks", "conflicts", "empty", "fails"]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a candidate does not land: a place, and what is there, as a phrase.

    - ``word``: it is broken by itself, collides with another candidate or the target, breaks it or
      is broken by it, is in conflict with the target, changes nothing that can be read, or fails
      its checks.
    - ``other``: the id of the other candidate, or empty.
    - ``path``, ``line``: as of `RelationReason`.
    """

    word: LeftOutWord
    message: str
    other: str = ""
    path: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A candidate that does not land, and why."""

    candidate: Candidate
    obstacles: tuple[Obstacle, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """One candidate of each task that is decided; the others by task, and those that fail."""

    candidates: tuple[Candidate, ...]
    undecided: tuple[tuple[Candidate, ...], ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Landing:
    """What lands together.

    - ``order``: the candidates that land, in their order.
    - ``undecided``: the tasks of which nobody knows which candidate lands.
    - ``taken``: the union.
    - ``notes``: what to look at.
    """

    order: tuple[Candidate, ...]
    left_out: tuple[LeftOut, ...]
    undecided: tuple[tuple[Candidate, ...], ...]
    taken: Taken
    notes: tuple[str, ...] = ()


def choose(
    candidates: Iterable[Candidate],
    tasks: Iterable[Task],
    outcome: Callable[[str], Outcome | None],
) -> Chosen:
    """Choose of each task the candidate that passes, or the only one that does not fail.

    Candidates that make the same of the target are one.

    - ``outcome``: that of a candidate's checks, by its id.
    """
    by_id = {candidate.id: candidate for candidate in candidates}
    decided, undecided, left_out = [], [], []
    for task in tasks:
        same = set[str]()
        members = list[Candidate]()
        for member in (by_id[name] for name in task.members):
            if member.id not in same:
                members.append(member)
                same.update(member.identical)
        passing = [member for member in members if outcome(member.id) == PASSED]
        alive = [member for member in members if outcome(member.id) != FAILED]
        if len(passing) == 1 or len(members) == len(alive) == 1:
            decided.append((passing or alive)[0])
        elif alive:
            undecided.append(tuple(members))
        else:
            fails = Obstacle("fails", "fails its checks")
            left_out += [LeftOut(member, (fails,)) for member in members]
    return Chosen(tuple(decided), tuple(undecided), tuple(left_out))


def land(
    chosen: Chosen,
    related: Iterable[CandidateRelation],
    in_target: Mapping[str, Sequence[RelationReason]],
    claims: Mapping[str, Sequence[Claim]] | None = None,
    *,
    anyway: bool = False,
) -> Landing:
    """Put the chosen candidates together, as many as fit.

    Raises SourceError if a part of one cannot be taken.

    - ``related``: the pairs of candidates that are not independent.
    - ``in_target``: by id, what files that a candidate leaves alone use and it takes away.
    - ``claims``: by id, what is said of a candidate by itself.
    - ``anyway``: whether what is broken, or breaks something, lands with a note. A conflict never
      does.
    """
    related = list(related)
    obstacles = {
        candidate.id: list(
            _alone(candidate, in_target.get(candidate.id, ()), (claims or {}).get(candidate.id, ()))
        )
        for candidate in chosen.candidates
    }
    for own, why in _with_undecided(chosen, related):
        obstacles[own].append(why)
    notes = []
    for candidate in chosen.candidates if anyway else ():
        wanted = [e for e in obstacles[candidate.id] if e.word not in ("empty", "conflicts")]
        notes += [f"{shown_name(candidate.label)}: {each.message}" for each in wanted]
        obstacles[candidate.id] = [e for e in obstacles[candidate.id] if e not in wanted]
    by_id = {candidate.id: candidate for candidate in chosen.candidates}
    meetings = _meetings(by_id, related)
    order = _order(
        [candidate for candidate in chosen.candidates if not obstacles[candidate.id]],
        [
            pair
            for pair, reasons in meetings.items()
            if not anyway or any(why.word == "collides" for why in reasons)
        ],
    )
    order, taken = _union(order, obstacles, anyway=anyway)
    landed = {candidate.id for candidate in order}
    for pair, reasons in meetings.items():
        if landed.issuperset(pair):
            notes += [f"broken: {why.message}" for why in reasons]
        for own, other in (pair, pair[::-1]):
            if own not in landed and other in landed:
                label = shown_name(by_id[other].label)
                obstacles[own] += [_obstacle(why, own, other, label) for why in reasons]
    left_out = [
        LeftOut(candidate, tuple(obstacles[candidate.id]))
        for candidate in chosen.candidates
        if candidate.id not in landed
    ]
    notes += [*_both_add(order, related), *_generated(order), *_same(order)]
    return Landing(
        tuple(order), (*left_out, *chosen.left_out), chosen.undecided, taken, tuple(notes)
    )


def _with_undecided(
    chosen: Chosen, related: Iterable[CandidateRelation]
) -> Iterator[tuple[str, Obstacle]]:
    """Yield which candidates collide with one of a task that is undecided, and where."""
    ours = {candidate.id for candidate in chosen.candidates}
    theirs = {candidate.id: candidate for task in chosen.undecided for candidate in task}
    for relation in related:
        names = relation.first, relation.second
        for own, other in (names, names[::-1]):
            for why in relation.reasons if own in ours and other in theirs else ():
                if why.word == "collides":
                    whose = f"{shown_name(theirs[other].label)}, whose task is undecided"
                    message = f"collides with {whose}: {why.message}"
                    yield own, Obstacle("collides", message, other, why.path, why.line)


def _alone(
    candidate: Candidate, in_target: Iterable[RelationReason], claims: Iterable[Claim]
) -> Iterator[Obstacle]:
    """Yield why a candidate does not land, whatever the others are."""
    if not (candidate.old or candidate.new):
        why = printable("; ".join(["changes nothing that can be read", *candidate.notes]))
        yield Obstacle("empty", why)
    for path, conflict in candidate.conflicts.items():
        yield Obstacle("conflicts", f"{shown_name(path)}: {printable(conflict)}", "", path)
    for use in in_target:
        what = f"breaks {shown_name(use.path)}: {use.message}"
        yield Obstacle("breaks", what, "", use.path, use.line)
    for claim in claims:
        if claim.word != "not read":
            yield Obstacle(claim.word, claim.message, "", claim.path, claim.line)


def _union(
    order: list[Candidate], obstacles: Mapping[str, list[Obstacle]], *, anyway: bool
) -> tuple[list[Candidate], Taken]:
    """Take candidates together, without those that turn out not to fit, whose obstacles it adds.

    Raises BrokenMixError if the union cannot work, and nobody is known to bring that.
    """
    while True:
        choices = [Choice(candidate.id) for candidate in order]
        try:
            return order, take([order], choices, anyway=anyway, by_steps=True)
        except OverlapError as error:
            *_, last = (c for c in order if c.id in error.owners)
            obstacles[last.id].append(Obstacle("collides", error.reason))
        except BrokenMixError as error:
            labels = {shown_name(candidate.label): candidate.id for candidate in order}
            brought = [each for each in error.findings if each.candidate in labels]
            if not brought:
                raise
            for each in brought:
                obstacle = Obstacle("breaks", str(each), "", each.path, each.line)
                obstacles[labels[each.candidate]].append(obstacle)
        order = [candidate for candidate in order if not obstacles[candidate.id]]


def _both_add(order: Sequence[Candidate], related: Iterable[CandidateRelation]) -> Iterator[str]:
    """Yield where several candidates only add, each place once."""
    landed = {candidate.id for candidate in order}
    adding: dict[tuple[str, str], set[str]] = defaultdict(set)
    for relation in related:
        names = relation.first, relation.second
        for why in relation.reasons if landed.issuperset(names) else ():
            if why.word == "both add" and not is_changelog(why.path):  # take says it
                adding[why.path, why.message].update(names)
    for (_, message), names_there in adding.items():
        labels = [shown_name(c.label) for c in order if c.id in names_there]
        yield f"{first_few(labels, 8)}: {message}"


_Meetings = dict[tuple[str, str], list[RelationReason]]
"""By the ids of two candidates, why they cannot both land."""


def _meetings(by_id: Mapping[str, Candidate], related: Iterable[CandidateRelation]) -> _Meetings:
    meetings = {}
    for relation in related:
        reasons = [why for why in relation.reasons if why.word in ("collides", "breaks")]
        if reasons and {relation.first, relation.second} <= by_id.keys():
            meetings[relation.first, relation.second] = reasons
    return meetings


def _order(candidates: Sequence[Candidate], meetings: Iterable[tuple[str, str]]) -> list[Candidate]:
    """Return those that land: always the one in the way of the fewest others, which then go."""
    waiting = {candidate.id: candidate for candidate in candidates}
    others: dict[str, set[str]] = {name: set() for name in waiting}
    for first, second in meetings:
        if first in waiting and second in waiting:
            others[first].add(second)
            others[second].add(first)
    order = []
    while waiting:
        name = min(waiting, key=lambda name: len(others[name]))  # the first of them
        order.append(waiting[name])
        for gone in (name, *others[name]):
            del waiting[gone]
            for other in others[gone]:
                others[other].discard(gone)
    return order


def _obstacle(why: RelationReason, own: str, other: str, label: str) -> Obstacle:
    if why.word == "collides":
        return Obstacle(
            "collides", f"collides with {label}: {why.message}", other, why.path, why.line
        )
    does = "breaks" if why.by == own else "is broken by"
    return Obstacle("breaks", f"{does} {label}: {why.message}", other, why.path, why.line)


def _same(order: Iterable[Candidate]) -> Iterator[str]:
    """Yield which candidates stand for others that make the same of the target."""
    for candidate in order:
        if candidate.identical:
            others = first_few([*map(shown_name, candidate.identical)])
            yield f"{shown_name(candidate.label)}: the same as {others}"


def _generated(order: Iterable[Candidate]) -> list[str]:
    """Return what to say of generated files that several candidates change."""
    times = Counter(
        path
        for candidate in order
        for path in candidate.old.keys() | candidate.new.keys()
        if candidate.kind_of(path) == "generated"
    )
    paths = [shown_name(path) for path in sorted(times) if times[path] > 1]
    return [f"{first_few(paths)}: generated, and changed by several: generate it again"] * bool(
        paths
    )
