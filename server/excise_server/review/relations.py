"""What two candidates are to each other, and which of them are attempts at one task. Pure.

The relation of two candidates depends on these two alone, and a task is a component of rivals. So
candidates that change the same file need not be of one task: they may collide in a line of it, both
add to it, or the one may remove what the other one begins to use.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Literal, NamedTuple, get_args

from excise import CancelFlag, ScoreMatrix, languages
from excise.breaks import EditedFile, NamedEdit, NameReader
from excise.components import components
from excise.families import NEAR, grams, near
from excise.order_free import Addition, added
from excise.patches import FilePair
from excise.preparation import Readings
from excise.python_facts import Module
from excise.reading import ParsedTexts
from excise.text import raw_lines
from excise_server.foundation.changes import LINK, SUBMODULE, Side, differing_lines, patch_files
from excise_server.foundation.escape import printable, shown_name
from excise_server.review.candidate import Candidate
from excise_server.review.imports import PythonFiles
from excise_server.review.kinds import Kind, is_changelog

RelationWord = Literal[
    "identical", "same code", "same up to names", "rivals", "breaks", "collides", "both add"
]
"""What two candidates are to each other: the first of these that holds. Others are independent."""

_WORDS: tuple[RelationWord, ...] = get_args(RelationWord)

_WORD = re.compile(r"\w+")

_RIVALS: frozenset[RelationWord] = frozenset(_WORDS[:4])

MOST_EVIDENCE = 3
"""Most places of one kind that are named for a pair."""

MOST_NEAR = 300
"""Most candidates of which all pairs are looked at for likeness."""


@dataclass(frozen=True, slots=True)
class RelationReason:
    """Why two candidates are not independent: a place, and what is there, as a phrase.

    - ``path``, ``line``: the place, if there is one: in the target from line 1, or in the text of
      who uses a name.
    - ``by``: the id of the candidate that breaks the other one, or empty.
    - ``issue``: the issue that both name, or empty.
    """

    word: RelationWord
    message: str
    path: str = ""
    line: int = 0
    by: str = ""
    issue: str = ""


@dataclass(frozen=True, slots=True)
class CandidateRelation:
    """Two candidates that are not independent.

    - ``first``, ``second``: their ids.
    - ``evidence``: why, in the order of the words.
    """

    first: str
    second: str
    reasons: tuple[RelationReason, ...]

    @property
    def word(self) -> RelationWord:
        """The first word that holds."""
        return self.reasons[0].word

    @property
    def issue(self) -> str:
        """The issue that both name, if nothing else makes them rivals."""
        issues = [each.issue for each in self.reasons if each.word in _RIVALS]
        return issues[0] if all(issues) else ""


class _Change(NamedTuple):
    """A file that a candidate changes, in hunks of the target's lines; None if only as a whole."""

    pair: FilePair
    old: Side | None
    new: Side | None
    kind: Kind
    hunks: tuple[tuple[int, int, str], ...] | None

    @property
    def does(self) -> str:
        """What it does to the file, as a verb."""
        if self.old is None or self.new is None:
            return "creates" if self.old is None else "deletes"
        return "changes"


class _Edit(NamedTuple):
    """A candidate as relations see it: its changes by path in the target, and its names.

    - ``files``: its files of code, and of tests.
    - ``taken``, ``used``: names of Python's modules that it takes away, and newly uses.
    """

    candidate: Candidate
    changes: Mapping[str, _Change]
    files: tuple[EditedFile, ...]
    names: NamedEdit
    taken: set[str]
    used: set[str]

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of files by which it is compared: code, or else what it has."""
        kinds = {change.kind for change in self.changes.values()}
        return frozenset(("code",)) if "code" in kinds else frozenset(kinds - {"scratch"})

    def size(self, kinds: frozenset[Kind]) -> int:
        """Return how many hunks it has in files of some kinds."""
        return sum(
            max(1, len(change.hunks or ()))
            for change in self.changes.values()
            if change.kind in kinds
        )


_AdditionsOf = Callable[[str, str, int, str], tuple[Addition, ...] | None]


class _Meeting(NamedTuple):
    """What two candidates do in one file: how many hunks of each overlap, and why they do."""

    kind: Kind
    overlapping: tuple[int, int]
    evidence: list[RelationReason]


def relations(
    candidates: Sequence[Candidate],
    matrix: ScoreMatrix,
    reader: CandidateReader,
    cancel: CancelFlag | None = None,
) -> tuple[CandidateRelation, ...]:
    """Return all pairs of candidates that are not independent, in the order of the candidates.

    Only those are looked at that share a file, a task or an issue, or of which one newly uses a
    name that the other one takes away.

    Raises excise.errors.Cancelled if the flag is raised meanwhile.

    - ``candidates``: changes of one target.
    - ``matrix``: their comparison, in the same order.
    """
    edits = [reader.edit(candidate) for candidate in candidates]
    meeting, users = defaultdict[object, list[int]](list), defaultdict[str, set[int]](set)
    for index, edit in enumerate(edits):
        paths = {change.pair.path for change in edit.changes.values()}
        for key in {*edit.changes, *paths, *_tasks_named(edit.candidate)}:
            meeting[key].append(index)
        for name in edit.names.used.keys() | edit.used:
            users[name].add(index)
    related: list[set[int]] = [set() for _ in edits]  # of each those after it
    for members in meeting.values():
        for number, index in enumerate(members):
            related[index].update(members[number + 1 :])
    for index, edit in enumerate(edits):
        names = edit.names.taken_names | edit.taken
        for other in set[int]().union(*(users[name] for name in names)) - {index}:
            related[min(index, other)].add(max(index, other))
    additions_of = cache(partial(additions, texts=reader.texts))
    near_by = cache(lambda index: grams(matrix.statements(index)))
    every, known = [], dict[object, tuple[RelationReason, ...]]()
    for i, j in ((i, j) for i, others in enumerate(related) for j in sorted(others)):
        if cancel is not None:
            cancel.check()
        a, b = edits[i], edits[j]
        meetings = list(_meetings(a, b, additions_of))
        evidence = [
            *_rivalry(a, b, meetings, partial(_level, matrix, i, j, near_by)),
            *reader.broken(a, b),
            *(why for each in meetings for why in each.evidence),
        ]
        if evidence:
            ordered = [[why for why in evidence if why.word == word] for word in _WORDS]
            reasons = tuple(why for own in ordered for why in own[:MOST_EVIDENCE])
            reasons = known.setdefault(reasons, reasons)  # of many pairs they are the same
            every.append(CandidateRelation(a.candidate.id, b.candidate.id, reasons))
    return tuple(every)


def broken_in_target(
    candidates: Sequence[Candidate],
    reader: CandidateReader,
    files_with: Callable[[frozenset[str]], Mapping[str, str]],
) -> dict[str, tuple[RelationReason, ...]]:
    """Return by id what candidates take away and files use that they do not change.

    - ``files_with``: returns the files of the target that have one of some words, as normalised
      texts by path.
    """
    words = {
        candidate.id: frozenset(
            word
            for word in (*edit.names.taken_names, *edit.taken)
            if word.isidentifier() and len(word) > 1
        )
        for candidate in candidates
        for edit in (reader.edit(candidate),)
    }
    files = files_with(frozenset().union(*words.values()))
    words_of = {path: set(_WORD.findall(text)) for path, text in files.items()}
    broken = {}
    for candidate in candidates:
        own = candidate.old.keys() | candidate.new.keys()
        using = [
            p for p in files if p not in own and not words[candidate.id].isdisjoint(words_of[p])
        ]
        if not using:
            continue
        sides = {
            path: Side("100644", files[path].encode("utf-8", "surrogatepass")) for path in using
        }
        target = Candidate("", "", "", "", label="the target", new=sides)
        with_target = reader.beside(candidate, target)
        reasons = [
            why
            for why in with_target.broken(*map(with_target.edit, (candidate, target)))
            if why.by == candidate.id
        ]
        if reasons:
            broken[candidate.id] = tuple(reasons)[:MOST_EVIDENCE]
    return broken


def _tasks_named(candidate: Candidate) -> list[tuple[str, ...]]:
    """Return the issues that a candidate names, and the task that its tool knows."""
    known = [(candidate.tool, candidate.task)] if candidate.task else []
    return [*known, *((issue,) for issue in candidate.issues)]


class CandidateReader:
    """Reads the names of candidates, each text once.

    - ``pairs``: by id, the `patch_files` of each.
    """

    def __init__(self, pairs: Mapping[str, Sequence[FilePair]], readings: Readings) -> None:
        every = [pair for own in pairs.values() for pair in own]
        paths = {path for pair in every for path in (pair.old, pair.new) if path is not None}
        self.pairs, self.texts, self._readings = pairs, readings.texts, readings
        self._names = NameReader(readings)
        self._origins: dict[str, str] = {}
        self._edits: dict[str, _Edit] = {}
        self._python = PythonFiles(paths, self._module)

    def beside(self, candidate: Candidate, target: Candidate) -> CandidateReader:
        """Return a reader of one of the candidates and of other files."""
        pairs = {
            candidate.id: self.pairs[candidate.id],
            target.id: patch_files(target.old, target.new),
        }
        reader = CandidateReader(pairs, self._readings)
        reader._edits[candidate.id] = self.edit(candidate)
        return reader

    def edit(self, candidate: Candidate) -> _Edit:
        """Read a candidate."""
        if candidate.id not in self._edits:
            changes, files = {}, []
            taken, used = set[str](), set[str]()
            for pair in self.pairs[candidate.id]:
                old = None if pair.old is None else candidate.old[pair.old]
                new = None if pair.new is None else candidate.new[pair.new]
                path, hunks = pair.old or pair.path, None
                before, after = (
                    None if side is None or side.mode in (LINK, SUBMODULE) else side.text
                    for side in (old, new)
                )
                if before is not None and after is not None:
                    lines = raw_lines(before), raw_lines(after)
                    hunks = tuple(
                        (lo, hi, "".join(lines[1][start:stop]))
                        for lo, hi, start, stop in differing_lines(*lines)
                    )
                changes[path] = _Change(pair, old, new, candidate.kind_of(path), hunks)
                if changes[path].kind not in ("code", "tests"):
                    continue
                new_path = "" if pair.path == path else pair.path
                files.append(EditedFile(path, before or "", after or "", new_path))
                if path.endswith(".py"):
                    for text in filter(None, (before, after)):
                        self._origins.setdefault(text, before or "")
                    taken |= self._python.taken(before, None if new_path else after)
                    used |= self._python.newly_used(before, after)
            self._edits[candidate.id] = _Edit(
                candidate, changes, tuple(files), self._names.edit(files), taken, used
            )
        return self._edits[candidate.id]

    def broken(self, a: _Edit, b: _Edit) -> Iterator[RelationReason]:
        """Yield the uses of each candidate that the other one breaks."""
        for taker, user in ((a, b), (b, a)):
            for path, line, name in taker.names.breaks(user.names):
                yield _broken(taker, path, line, f"uses {printable(name)}", "removes")
        if a.taken.isdisjoint(b.used) and b.taken.isdisjoint(a.used):
            return
        origin = {f.path: f.before for edit in (a, b) for f in edit.files if f.before}
        alone = _with(origin, a), _with(origin, b)
        known = {w.key for files in (origin, *alone) for w in self._python.wrong_uses(files)}
        # Files with both edits; of hunks that overlap, with those of the first.
        changed = _with(_with(origin, b), a)
        for path in a.changes.keys() & b.changes.keys() & origin.keys():
            x, y = a.changes[path], b.changes[path]
            if x.hunks is None or y.hunks is None:
                continue
            apart = [
                (lo, hi, text)
                for lo, hi, text in y.hunks
                if all(
                    hi < start or stop < lo or lo == hi == start == stop
                    for start, stop, _ in x.hunks
                )
            ]
            lines = raw_lines(origin[path])
            for lo, hi, text in sorted({*x.hunks, *apart}, reverse=True):
                lines[lo:hi] = [text]
            changed[x.pair.path if x.pair.path != path else y.pair.path] = "".join(lines)
        for wrong in self._python.wrong_uses(changed):
            if wrong.key in known:
                continue
            own = wrong.target == wrong.path or a.changes.get(wrong.path) is None
            taker = a if wrong.target in a.changes and (own or wrong.target not in b.changes) else b
            if wrong.name not in taker.taken:  # as a new file that only looks like the module
                continue
            module = wrong.target.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]
            name = printable(f"{module}.{wrong.name}" if wrong.name else module)
            verb, does = ("calls", "narrows") if wrong.is_call else ("uses", "removes")
            yield _broken(taker, wrong.path, wrong.line, f"{verb} {name}", does)

    def _module(self, text: str) -> Module:
        return self._readings.module(self._origins.get(text, text), text)


def _with(files: Mapping[str, str], edit: _Edit) -> dict[str, str]:
    """Return files by path with those of an edit."""
    changed = dict(files)
    for file in edit.files:
        changed.pop(file.path, None)
        if file.after:
            changed[file.new_path or file.path] = file.after
    return changed


def _broken(taker: _Edit, path: str, line: int, uses: str, does: str) -> RelationReason:
    message = f"{shown_name(path)}:{line} {uses}, which {shown_name(taker.candidate.label)} {does}"
    return RelationReason("breaks", message, path, line, taker.candidate.id)


# --- two candidates -------------------------------------------------------------------------------


def _meetings(a: _Edit, b: _Edit, additions_of: _AdditionsOf) -> Iterator[_Meeting]:
    """Yield what two candidates do in the files that both change, or give one name."""
    for path in sorted(a.changes.keys() & b.changes.keys()):
        yield _in_file(a, b, path, additions_of)
    places = [{c.pair.path: p for p, c in edit.changes.items() if c.new} for edit in (a, b)]
    for path in sorted(places[0].keys() & places[1].keys()):
        if places[0][path] != places[1][path]:
            why = RelationReason("collides", f"both make {shown_name(path)}, of two files", path)
            yield _Meeting(a.changes[places[0][path]].kind, (1, 1), [why])


def _in_file(a: _Edit, b: _Edit, path: str, additions_of: _AdditionsOf) -> _Meeting:
    x, y = a.changes[path], b.changes[path]
    if x.hunks is None or y.hunks is None:
        sizes = max(1, len(x.hunks or ())), max(1, len(y.hunks or ()))
        if (x.new, x.pair.path) == (y.new, y.pair.path):
            return _Meeting(x.kind, sizes, [])
        does = [f"{shown_name(e.candidate.label)} {c.does} it" for e, c in ((a, x), (b, y))]
        message = f"{shown_name(path)}: {' and '.join(does)}"
        if x.does == y.does:
            message = f"both {x.does[:-1]} {shown_name(path)}"
        return _Meeting(x.kind, sizes, [RelationReason("collides", message, path)])
    evidence, overlapping = [], (set[int](), set[int]())
    target = "" if x.old is None else x.old.text or ""
    for own, other in _stretches(x.hunks, y.hunks):
        mine, theirs = [x.hunks[n] for n in own], [y.hunks[n] for n in other]
        added = None if mine == theirs else _added(path, target, mine, theirs, additions_of)
        if added is not None:
            evidence.append(added)
            continue
        overlapping[0].update(own)
        overlapping[1].update(other)
        if mine != theirs:
            line = min(mine[0][0], theirs[0][0]) + 1
            last = max(mine[-1][1], theirs[-1][1])
            lines = f"line {line}" if last <= line else f"lines {line} to {last}"
            message = f"both change {lines} of {shown_name(path)}"
            evidence.append(RelationReason("collides", message, path, line))
    names = a.names.added.get(path, frozenset()) & b.names.added.get(path, frozenset())
    for name in sorted(names):
        word = re.compile(rf"\b{re.escape(name.rpartition('.')[2])}\b")
        places = [
            [n for n, (_, _, text) in enumerate(hunks) if word.search(text)]
            for hunks in (x.hunks, y.hunks)
        ]
        if not {x.hunks[n] for n in places[0]} & {y.hunks[n] for n in places[1]}:
            for mine_or_theirs, own in zip(overlapping, places, strict=True):
                mine_or_theirs.update(own[:1])
            message = f"both define {printable(name)} in {shown_name(path)}"
            line = x.hunks[places[0][0]][0] + 1 if places[0] else 0
            evidence.append(RelationReason("collides", message, path, line))
    if len({path, x.pair.path, y.pair.path}) == 3 or (
        x.new and y.new and x.old and len({side.mode for side in (x.old, x.new, y.new)}) == 3
    ):
        message = f"both change the name or mode of {shown_name(path)}"
        evidence.append(RelationReason("collides", message, path))
        overlapping = overlapping[0] or {0}, overlapping[1] or {0}
    return _Meeting(x.kind, (len(overlapping[0]), len(overlapping[1])), evidence)


def _stretches(
    mine: Sequence[tuple[int, int, str]], theirs: Sequence[tuple[int, int, str]]
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the hunks of both, by index, between two lines that both keep, where both have some."""
    if not (mine and theirs) or mine[-1][1] < theirs[0][0] or theirs[-1][1] < mine[0][0]:
        return
    both = sorted(
        (lo, hi, owner, index)
        for owner, hunks in enumerate((mine, theirs))
        for index, (lo, hi, _) in enumerate(hunks)
    )
    ends, run = -1, (list[int](), list[int]())
    for lo, hi, owner, index in [*both, (1 << 60, 0, 0, 0)]:
        if lo > ends:
            if run[0] and run[1]:
                yield run
            run = list[int](), list[int]()
        run[owner].append(index)
        ends = max(ends, hi)


def _added(
    path: str,
    target: str,
    mine: Sequence[tuple[int, int, str]],
    theirs: Sequence[tuple[int, int, str]],
    additions_of: _AdditionsOf,
) -> RelationReason | None:
    """Return that both only add, to a parent whose members have no order; else None."""
    [(lo, hi, a), *more], [(start, stop, b), *others] = mine, theirs
    if more or others or not lo == hi == start == stop:
        return None
    where = f"entries to {shown_name(path)}: their order is to be checked"
    if not is_changelog(path):
        own, other = (additions_of(path, target, lo, text) for text in (a, b))
        if own is None or other is None or not own[0].goes_with(other[0]):
            return None
        where = f"to {printable(own[0].parent) or shown_name(path)}"
    return RelationReason("both add", f"both add {where}", path, lo + 1)


def additions(
    path: str, target: str, line: int, *parts: str, texts: ParsedTexts | None = None
) -> tuple[Addition, ...] | None:
    """Return what insertions at one place add, or None if their order may say something.

    - ``target``, ``parts``: normalised texts: the file, and what is inserted before a line.
    - ``line``: from 0.
    - ``texts``: what parsers found already.
    """
    if line == len(raw_lines(target)):  # the last line of the file may have no line end
        parts = tuple(part if part.endswith("\n") else f"{part}\n" for part in parts)
    return added(target, line, parts, languages.resolve(None, path, target), texts)


def _rivalry(
    a: _Edit, b: _Edit, meetings: Sequence[_Meeting], level: Callable[[], RelationWord | None]
) -> Iterator[RelationReason]:
    """Yield why two candidates are attempts at one task.

    Of one who changes no code, and one who does, only the hunks of the first count.
    """
    named = [_tasks_named(edit.candidate) for edit in (a, b)]
    if a.candidate.task and b.candidate.task:
        if named[0][0] == named[1][0]:
            yield RelationReason("rivals", f"one task of {printable(a.candidate.tool)}")
        return
    for (issue,) in (name for name in named[0] if len(name) == 1 and name in named[1]):
        yield RelationReason("rivals", f"both name {printable(issue)}", issue=issue)
    has_code = [edit.candidate.has_code for edit in (a, b)]
    kinds = frozenset[Kind](("code",)) if all(has_code) else a.kinds | b.kinds
    inside = [each for each in meetings if each.kind in kinds]
    if inside and has_code[0] is has_code[1] and (word := level()) is not None:
        yield RelationReason(word, "near each other" if word == "rivals" else word)
    counts = [
        (sum(each.overlapping[side] for each in inside), edit.size(kinds))
        for side, edit in enumerate((a, b))
        if has_code[0] is has_code[1] or not has_code[side]
    ]
    if all(0 < size <= 2 * count for count, size in counts):
        shares = " and ".join(f"{count} of {size}" for count, size in counts)
        yield RelationReason("rivals", f"{shares} hunks overlap")


def _level(
    matrix: ScoreMatrix, i: int, j: int, grams_of: Callable[[int], Counter[object]]
) -> RelationWord | None:
    """Return in which sense two are the same program, or that they are near as in a family."""
    if (level := matrix.level(i, j)) is not None:
        return next(word for word in _WORDS if word == level.word)
    if len(matrix.ids) > MOST_NEAR:
        return None
    return "rivals" if near(grams_of(i), grams_of(j)) >= NEAR else None


# --- tasks ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Task:
    """The candidates of one task.

    - ``members``: their ids, sorted.
    - ``name``: the name by which a tool knows it, or empty.
    - ``shared``: paths that several of them change, those that most members change first.
    - ``named``: by the id of a candidate that only an issue ties to the others, that issue.
    """

    members: tuple[str, ...]
    name: str = ""
    shared: tuple[str, ...] = ()
    named: dict[str, str] = field(default_factory=dict)


def tasks_of(
    candidates: Iterable[Candidate], related: Iterable[CandidateRelation] = ()
) -> tuple[Task, ...]:
    """Return the tasks of a review, the largest first, with every candidate in one.

    A task is a component of rivals. What a tool knows is kept: two of its tasks are never one, and
    others join such a task if they have rivals in just one. Who changes no code neither ties nor
    splits those who do, and joins a task in the same way.

    The result does not depend on the order of the candidates.

    Raises ValueError if two candidates have one id.
    """
    members = sorted(candidates, key=lambda member: member.id)
    if len({member.id for member in members}) < len(members):
        raise ValueError("two candidates have one id")
    rivals: dict[str, dict[str, CandidateRelation]] = {member.id: {} for member in members}
    for relation in related:
        if relation.word in _RIVALS and {relation.first, relation.second} <= rivals.keys():
            rivals[relation.first][relation.second] = relation
            rivals[relation.second][relation.first] = relation
    known = defaultdict[tuple[str, ...], list[Candidate]](list)
    for member in members:
        if member.task:
            known[member.tool, member.task].append(member)
    groups = list(known.values())
    for has_code in (True, False):
        some = [m for m in members if not m.task and m.has_code is has_code]
        place = {member.id: index for index, member in enumerate(some)}
        edges = [(place[m.id], place[n]) for m in some for n in rivals[m.id] if n in place]
        # Who changes no code ties nobody who does.
        earlier = [{m.id for m in group if m.has_code or not has_code} for group in groups]
        coded = [n for n, group in enumerate(groups) if any(m.has_code for m in group)]
        for component in components(len(some), edges):
            own = [some[index] for index in component]
            met = {name for member in own for name in rivals[member.id]}
            joined = [n for n, ids in enumerate(earlier) if not met.isdisjoint(ids)]
            if not (joined or has_code) and len(coded) == 1:
                bases = {member.base for member in groups[coded[0]]} - {""}
                joined = coded if any(member.base in bases for member in own) else []
            if len(joined) == 1:
                groups[joined[0]] += own
            else:  # one that meets several would make them one
                groups.append(own)
    found = [_task(group, rivals) for group in groups]
    return tuple(sorted(found, key=lambda task: (-len(task.members), task.members)))


def _task(
    members: Sequence[Candidate], rivals: Mapping[str, Mapping[str, CandidateRelation]]
) -> Task:
    times = Counter(
        path
        for member in members
        for path in member.old.keys() | member.new.keys()
        if member.kind_of(path) == "code" or not member.has_code
    )
    shared = [path for path, count in times.items() if count > 1]
    ids = {member.id for member in members}
    named = {}
    for member in members:
        ties = [rivals[member.id][name] for name in rivals[member.id] if name in ids]
        if ties and not member.task and all(tie.issue for tie in ties):
            named[member.id] = ties[0].issue
    return Task(
        tuple(sorted(ids)),
        next((member.task for member in members if member.task), ""),
        tuple(sorted(shared, key=lambda path: (-times[path], path))),
        named,
    )
