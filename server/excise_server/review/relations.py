"""What two candidates are to each other, and which of them are attempts at one task. Pure.

The relation of two candidates depends on these two alone, and a task is a component of rivals. So
candidates that change the same file need not be of one task: they may collide in a line of it, both
add to it, or the one may remove what the other one begins to use.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise, product
from typing import Literal, NamedTuple, Protocol, get_args

from excise import CancelFlag, ScoreMatrix, languages
from excise.components import components
from excise.errors import Unparsable
from excise.levels import Level
from excise.order_free import Addition, added, names_given
from excise.order_free import Level as Place
from excise.patches import FilePair
from excise.preparation import Readings
from excise.python_facts import Module
from excise.reading import PARSER_SECONDS, ParsedTexts, Reading, is_large
from excise.text import raw_lines
from excise_server.foundation.changes import (
    LINK,
    SUBMODULE,
    Side,
    differing_lines,
    renamed_files,
)
from excise_server.foundation.escape import printable, shown_name
from excise_server.review.candidate import Candidate
from excise_server.review.claims import is_one_thing
from excise_server.review.imports import PythonFiles, WrongUse
from excise_server.review.kinds import Kind, is_changelog

RelationWord = Literal[
    "identical", "same code", "same up to names", "rivals", "breaks", "collides", "both add"
]
"""What two candidates are to each other: the first of these that holds. Others are independent."""

_WORDS: tuple[RelationWord, ...] = get_args(RelationWord)

_WORD = re.compile(r"\w+")

_RIVALS: frozenset[RelationWord] = frozenset(_WORDS[:4])

FEWEST_LINES = 20
"""A file of fewer lines has nobody who rewrites it: in it everybody changes most."""

MOST_EVIDENCE = 3
"""Most places of one kind that are named for a pair."""


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
    """A file that a candidate changes, in hunks of the target's lines; None if only as a whole.

    - ``does``: what its own diff does to the file, as a verb.
    - ``rewrites``: whether it leaves less than half of the lines of a file of more than a few.
    """

    pair: FilePair
    old: Side | None
    new: Side | None
    kind: Kind
    hunks: tuple[tuple[int, int, str], ...] | None
    does: str
    rewrites: bool


class _Edit(NamedTuple):
    """A candidate as relations see it: its changes by path in the target, and its names.

    - ``old``, ``new``: the texts of the target's files of Python that it changes, by path.
    - ``taken``, ``used``: names of Python's modules that its own diff takes away, and newly uses.
    """

    candidate: Candidate
    changes: Mapping[str, _Change]
    old: dict[str, str]
    new: dict[str, str]
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


class _NamesOf(Protocol):
    """The names that a text gives (`CandidateReader.names`)."""

    def __call__(
        self, path: str, text: str, origin: str | None = None
    ) -> Mapping[tuple[Place, str], list[str]]: ...


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
        for name in edit.used:
            users[name].add(index)
    related: list[set[int]] = [set() for _ in edits]  # of each those after it
    for members in meeting.values():
        for number, index in enumerate(members):
            related[index].update(members[number + 1 :])
    for index, edit in enumerate(edits):
        for other in set[int]().union(*(users[name] for name in edit.taken)) - {index}:
            related[min(index, other)].add(max(index, other))
    additions_of = cache(partial(additions, texts=reader.texts))
    every, known = [], dict[object, tuple[RelationReason, ...]]()
    for i, j in ((i, j) for i, others in enumerate(related) for j in sorted(others)):
        if cancel is not None:
            cancel.check()
        a, b = edits[i], edits[j]
        meetings = list(_meetings(a, b, additions_of, reader.names))
        evidence = [
            *_rivalry(a, b, meetings, partial(matrix.level, i, j)),
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
    clean = [reader.edit(candidate) for candidate in candidates if not candidate.conflicts]
    words = {
        edit.candidate.id: {name for name in edit.taken if name.isidentifier() and len(name) > 1}
        for edit in clean
    }
    files = {
        path: text
        for path, text in files_with(frozenset().union(*words.values())).items()
        if path.endswith(".py")
    }
    words_of = {path: set(_WORD.findall(text)) for path, text in files.items()}
    broken = {}
    for edit in clean:
        own = edit.candidate.old.keys() | edit.candidate.new.keys()
        using = {
            path: files[path]
            for path in files
            if path not in own and not words[edit.candidate.id].isdisjoint(words_of[path])
        }
        if using and (reasons := list(reader.broken_in(edit, using))):
            broken[edit.candidate.id] = tuple(reasons)[:MOST_EVIDENCE]
    return broken


def _tasks_named(candidate: Candidate) -> list[tuple[str, ...]]:
    """Return the issues that a candidate names, and the task that its tool knows."""
    known = [(candidate.tool, candidate.task)] if candidate.task else []
    return [*known, *((issue,) for issue in candidate.issues)]


class CandidateReader:
    """Reads the names of candidates, each text once.

    - ``pairs``, ``said``: by id, the `patch_files` of each, and what is said of them.
    """

    def __init__(
        self,
        pairs: Mapping[str, Sequence[FilePair]],
        said: Mapping[str, Sequence[FilePair]],
        readings: Readings,
    ) -> None:
        every = [pair for own in pairs.values() for pair in own]
        self._paths = {path for pair in every for path in (pair.old, pair.new) if path is not None}
        self.pairs, self.said = pairs, said
        self.texts, self._readings = readings.texts, readings
        self._origins: dict[str, str] = {}
        self._edits: dict[str, _Edit] = {}
        self._names: dict[tuple[str, str], dict[tuple[Place, str], list[str]]] = {}
        self._python = PythonFiles(self._paths, self._module)

    def edit(self, candidate: Candidate) -> _Edit:
        """Read a candidate."""
        if candidate.id not in self._edits:
            changes = dict[str, _Change]()
            texts = dict[str, str](), dict[str, str]()
            for pair, own in zip(self.pairs[candidate.id], self.said[candidate.id], strict=True):
                old = None if pair.old is None else candidate.old[pair.old]
                new = None if pair.new is None else candidate.new[pair.new]
                path, hunks = pair.old or pair.path, None
                before, after = map(_text, (old, new))
                if before is not None and after is not None:
                    lines = raw_lines(before), raw_lines(after)
                    hunks = tuple(
                        (lo, hi, "".join(lines[1][start:stop]))
                        for lo, hi, start, stop in differing_lines(*lines)
                    )
                kind = candidate.kind_of(path)
                does = "deletes" if own.new is None else "changes" if own.old else "creates"
                count = len(raw_lines(before or ""))
                changed = count if hunks is None else sum(hi - lo for lo, hi, _ in hunks)
                rewrites = count >= FEWEST_LINES and 2 * changed > count
                changes[path] = _Change(pair, old, new, kind, hunks, does, rewrites)
                if kind in ("code", "tests"):
                    for side, name, text in zip(
                        texts, (path, pair.path), (before, after), strict=True
                    ):
                        if text is not None and name.endswith(".py"):
                            side[name] = text
                            self._origins.setdefault(text, before or "")
            taken, used = self._own_names(candidate)
            self._edits[candidate.id] = _Edit(candidate, changes, *texts, taken, used)
        return self._edits[candidate.id]

    def _own_names(self, candidate: Candidate) -> tuple[set[str], set[str]]:
        """Return what a candidate's own diff takes away of modules, and the words that it adds.

        What it takes away was on a line that the diff removes, but for the parameters of functions.
        """
        taken, used = set[str](), set[str]()
        old, new = candidate.own
        renames = renamed_files(old, new)
        moved = {before: path for path, before in renames.items()}
        for path in old.keys() | (new.keys() - renames.keys()):
            now = moved.get(path, path)
            if not path.endswith(".py") or candidate.kind_of(path) not in ("code", "tests"):
                continue
            before, after = _text(old.get(path)), _text(new.get(now))
            for text in filter(None, (before, after)):
                self._origins.setdefault(text, before or "")
            lines = Counter((after or "").split("\n"))
            lines.subtract((before or "").split("\n"))
            removed, added = (
                {word for line, n in lines.items() if n * sign > 0 for word in _WORD.findall(line)}
                for sign in (-1, 1)
            )
            gone, narrowed = self._python.taken(before, after if now == path else None)
            taken |= {name for name in gone if name in removed or not name} | narrowed
            taken |= {_module_name(path)} if "" in gone else set()
            used |= added
        return taken, used

    def names(
        self, path: str, text: str, origin: str | None = None
    ) -> Mapping[tuple[Place, str], list[str]]:
        """Return the names that a text gives, by level (`excise.order_free.names_given`).

        - ``origin``: a text of which it is a revision.
        """
        if (path, text) not in self._names:
            found: dict[tuple[Place, str], list[str]] = {}
            grammar = languages.resolve(None, path, text)
            if grammar is not None and not is_large(text):
                reading = Reading(grammar, timeout=PARSER_SECONDS, path=path)
                with suppress(Unparsable, LookupError):
                    found = names_given(
                        self.texts.tree(text, reading, origin=origin), text, grammar
                    )
            self._names[path, text] = found
        return self._names[path, text]

    def broken(self, a: _Edit, b: _Edit) -> Iterator[RelationReason]:
        """Yield what one candidate takes away and the other one newly uses.

        Of two that git merges onto the target alone and together, that is.
        """
        conflicts = a.candidate.conflicts or b.candidate.conflicts
        meet = not (a.taken.isdisjoint(b.used) and b.taken.isdisjoint(a.used))
        if conflicts or not meet or (merged := _merged(a, b)) is None:
            return
        origin = a.old | b.old
        alone = _with(origin, a), _with(origin, b)
        known = {w.key for files in (origin, *alone) for w in self._python.wrong_uses(files)}
        for wrong in self._python.wrong_uses(merged):
            for taker, user in ((a, b), (b, a)):
                is_of = wrong.target in taker.changes and wrong.path in user.new
                word = wrong.name or _module_name(wrong.target)
                is_new = wrong.key not in known and wrong.name in taker.taken
                if is_new and is_of and word in user.used:
                    yield _broken(taker, wrong, _line_of(user, wrong.path, word, wrong.line))
                    break
        for path in sorted(a.new.keys() & b.new.keys() & merged.keys()):
            reading = Reading("python", timeout=PARSER_SECONDS, path=path)
            missing = [
                {each.name for each in self._readings.broken(text, merged[path], reading)[0]}
                for text in (a.new[path], b.new[path])
            ]
            for name in sorted(missing[0] & missing[1]):
                for taker, user in ((a, b), (b, a)):
                    if name in taker.taken and name in user.used:
                        line = _line_of(user, path, name, 1)
                        wrong = WrongUse(path, line, name, "", path, is_call=False)
                        yield _broken(taker, wrong, line)
                        break

    def broken_in(self, edit: _Edit, files: Mapping[str, str]) -> Iterator[RelationReason]:
        """Yield what a candidate takes away and files of the target use that it leaves alone."""
        python = PythonFiles({*self._paths, *files}, self._module)
        known = {wrong.key for wrong in python.wrong_uses({**files, **edit.old})}
        for wrong in python.wrong_uses({**files, **edit.new}):
            if wrong.key not in known and wrong.path in files and wrong.name in edit.taken:
                yield _broken(edit, wrong, wrong.line)

    def _module(self, text: str) -> Module:
        return self._readings.module(self._origins.get(text, text), text)


def _text(side: Side | None) -> str | None:
    return None if side is None or side.mode in (LINK, SUBMODULE) else side.text


def _merged(a: _Edit, b: _Edit) -> dict[str, str] | None:
    """Return the files of Python with both edits, or None where git does not merge the two."""
    files = _with(_with(a.old | b.old, b), a)
    for path in a.changes.keys() & b.changes.keys():
        x, y = a.changes[path], b.changes[path]
        if x.hunks is None or y.hunks is None:
            return None
        hunks = sorted({*x.hunks, *y.hunks})
        if any(stop >= start for (_, stop, _), (start, _, _) in pairwise(hunks)):
            return None
        if path in a.old and path in b.old and {x.pair.path, y.pair.path} == {path}:
            lines = raw_lines(a.old[path])
            for lo, hi, text in reversed(hunks):
                lines[lo:hi] = [text]
            files[path] = "".join(lines)
    return files


def _with(files: Mapping[str, str], edit: _Edit) -> dict[str, str]:
    """Return files by path with those of an edit."""
    return {path: text for path, text in files.items() if path not in edit.old} | edit.new


def _module_name(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]


def _line_of(user: _Edit, path: str, word: str, line: int) -> int:
    """Return the first line of a file that a candidate adds and that has a word, or another."""
    old, pattern = set(user.old.get(path, "").split("\n")), re.compile(rf"\b{re.escape(word)}\b")
    lines = enumerate(user.new.get(path, "").split("\n"), start=1)
    return next((n for n, text in lines if text not in old and pattern.search(text)), line)


def _broken(taker: _Edit, wrong: WrongUse, line: int) -> RelationReason:
    label, name = shown_name(taker.candidate.label), printable(wrong.name)
    if wrong.target != wrong.path:
        name = printable(f"{_module_name(wrong.target)}.{wrong.name}")
    if not wrong.name:
        what = f"imports {shown_name(wrong.target)}, which {label} takes away"
    elif wrong.is_call:
        what = f"calls {name}, which {label} gives other parameters"
    else:
        what = f"uses {name}, which {label} removes"
    place = f"{shown_name(wrong.path)}:{line}"
    return RelationReason("breaks", f"{place} {what}", wrong.path, line, taker.candidate.id)


# --- two candidates -------------------------------------------------------------------------------


def _meetings(
    a: _Edit, b: _Edit, additions_of: _AdditionsOf, names_of: _NamesOf
) -> Iterator[_Meeting]:
    """Yield what two candidates do in the files that both change, or give one name."""
    for path in sorted(a.changes.keys() & b.changes.keys()):
        yield _in_file(a, b, path, additions_of, names_of)
    places = [{c.pair.path: p for p, c in edit.changes.items() if c.new} for edit in (a, b)]
    for path in sorted(places[0].keys() & places[1].keys()):
        if places[0][path] != places[1][path]:
            why = RelationReason("collides", f"both make {shown_name(path)}, of two files", path)
            yield _Meeting(a.changes[places[0][path]].kind, (1, 1), [why])


def _in_file(
    a: _Edit, b: _Edit, path: str, additions_of: _AdditionsOf, names_of: _NamesOf
) -> _Meeting:
    x, y = a.changes[path], b.changes[path]
    # Who rewrites or deletes a file is at everybody's place in it, but not at their task.
    is_apart = x.rewrites != y.rewrites
    if x.hunks is None or y.hunks is None:
        sizes = max(1, len(x.hunks or ())), max(1, len(y.hunks or ()))
        sizes = (0, 0) if is_apart else sizes
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
        for m, n in product(own, other) if not is_apart else ():
            if _meet(x.hunks[m], y.hunks[n]):
                overlapping[0].add(m)
                overlapping[1].add(n)
        if mine != theirs:
            line = min(mine[0][0], theirs[0][0]) + 1
            last = max(mine[-1][1], theirs[-1][1])
            lines = f"line {line}" if last <= line else f"lines {line} to {last}"
            message = f"both change {lines} of {shown_name(path)}"
            evidence.append(RelationReason("collides", message, path, line))
    for both in sorted(_given_by_both(path, target, x, y, names_of)):
        own_name = both.partition("(")[0].rpartition(".")[2]
        word = re.compile(rf"(?<!\w){re.escape(own_name)}(?!\w)")
        places = [
            [n for n, (_, _, text) in enumerate(hunks) if word.search(text)]
            for hunks in (x.hunks, y.hunks)
        ]
        if not {x.hunks[n] for n in places[0]} & {y.hunks[n] for n in places[1]}:
            for mine_or_theirs, own in zip(overlapping, places, strict=True):
                mine_or_theirs.update(own[:1])
            message = f"both give {printable(both)} in {shown_name(path)}"
            line = x.hunks[places[0][0]][0] + 1 if places[0] else 0
            evidence.append(RelationReason("collides", message, path, line))
    if len({path, x.pair.path, y.pair.path}) == 3 or (
        x.new and y.new and x.old and len({side.mode for side in (x.old, x.new, y.new)}) == 3
    ):
        message = f"both change the name or mode of {shown_name(path)}"
        evidence.append(RelationReason("collides", message, path))
        overlapping = overlapping[0] or {0}, overlapping[1] or {0}
    return _Meeting(x.kind, (len(overlapping[0]), len(overlapping[1])), evidence)


def _given_by_both(
    path: str, target: str, x: _Change, y: _Change, names_of: _NamesOf
) -> Iterator[str]:
    """Yield the names that both give at one level, and the target does not; imports of one thing
    are none.
    """
    mine, theirs = (
        names_of(path, "" if change.new is None else change.new.text or "", target)
        for change in (x, y)
    )
    before = names_of(path, target)
    for key in mine.keys() & theirs.keys() - before.keys():
        if not is_one_thing(path, mine[key], theirs[key]):
            yield key[1]


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


def _meet(a: tuple[int, int, str], b: tuple[int, int, str]) -> bool:
    """Whether two hunks are at one place: they share a line, or one inserts beside the other.

    Changes of two neighbouring lines conflict, but are no two ways of one thing.
    """
    (lo, hi, _), (start, stop, _) = a, b
    if lo < hi and start < stop:
        return lo < stop and start < hi
    return lo <= stop and start <= hi


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
    a: _Edit, b: _Edit, meetings: Sequence[_Meeting], level_of: Callable[[], Level | None]
) -> Iterator[RelationReason]:
    """Yield why two candidates are attempts at one task.

    The hunks of the one who has fewer count. Of one who changes no code, and one who does, those of
    the first.
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
    if inside and has_code[0] is has_code[1] and (level := level_of()) is not None:
        word = next(word for word in _WORDS if word == level.word)
        yield RelationReason(word, word)
    counts = [
        (sum(each.overlapping[side] for each in inside), edit.size(kinds))
        for side, edit in enumerate((a, b))
        if has_code[0] is has_code[1] or not has_code[side]
    ]
    fewest = min(size for _, size in counts)
    count = max(count for count, size in counts if size == fewest)
    if 0 < fewest <= 2 * count:
        yield RelationReason("rivals", f"{count} of {fewest} hunks overlap")


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


def joined(tasks: Iterable[Task], candidates: Iterable[Candidate]) -> Task:
    """Return tasks as one, because somebody says so."""
    ids = {name for task in tasks for name in task.members}
    return _task([each for each in candidates if each.id in ids], {name: {} for name in ids})


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
