"""The score matrix of k revisions: symmetric by construction, one alignment a revision.

A revision is a change set: edits of one or several files of one origin, compared as wholes. Texts
are change sets of one file. All files are read by their grammars, and what is kept, added and
deleted is counted over all of them at once.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING, Any

from excise import languages
from excise.agreement import DIFFERENT, OVERLAPS
from excise.alignment import Units
from excise.broken import errors_said
from excise.display import MAX_ROWS, matrix_html, short
from excise.errors import Cancelled, ContentError, OptionError, ParserStopped, Unparsable
from excise.excision import WHITESPACE_ONLY, Score, score_pair, syntax_notes
from excise.facts import CODE, EditFacts, code_facts
from excise.hunk_pairs import PairReading, PairsInHunks, count_pairs, count_scores
from excise.hunks import AlignedRevision, HunkFinder, Hunks
from excise.joined import JoinedOrigin, ReadFile, key_of
from excise.kernels._walk import CancelFlag
from excise.levels import CodeForms, Level, Programs
from excise.pairs import Group, Map, Standings, compare, compare_one
from excise.preparation import Preparation, Prepared, PreparedOrigin, Readings
from excise.reading import TOO_LARGE, Content, Reading, is_large, normalised, read
from excise.signature import Options, signature
from excise.text import normalise
from excise.tokens import LEXICAL

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

DEADLINE = "deadline, line granularity"
PARSER_SLOW = "lexical tokens: the parser was too slow"

Facts = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """The edits of one candidate to an origin.

    Attributes
    ----------
    texts
        The new texts, by path of the origin, or by the path of a created file. The text of a
        deleted file is empty.
    facts
        Changes other than text, by path: a mode, a new name, a digest of binary data. They are
        compared if neither of two change sets has a text that differs from the origin's.
    facets
        What a file is for, by path, where it is not code: ``tests``, ``docs``, ``scratch``. No
        score depends on it, but levels leave these files out where two both change code.
    digest
        Stands for every byte of it, where texts and facts do not: two are identical only if theirs
        are equal.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Facts] = field(default_factory=dict)
    facets: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""

    def __repr__(self) -> str:
        return f"<ChangeSet {len(self.paths)} files: {short(', '.join(sorted(self.paths)), 80)}>"

    @property
    def paths(self) -> frozenset[str]:
        """Every file that it touches."""
        return frozenset((*self.texts, *self.facts))


@dataclass(frozen=True, slots=True, eq=False)
class ScoreMatrix:
    """Pairwise similarity (F form) of the revisions of one origin: texts, or change sets.

    Attributes
    ----------
    ids
        One per revision, unique.
    values
        k x k floats in [0, 1]; values[i, j] is values[j, i], the diagonal is 1. Read-only.
    anchored, anywhere
        The parts of `values`, which are (3 anchored + anywhere) / 4: what counts if only the same
        place did, and if every place did. With ``place:pooled`` both are `values`.
    contained
        contained[i, j] is the share of revision i's edit that revision j has at the same place;
        1 on the diagonal.
    signature
        Of all scores; names all tokenisers when some pairs are lexical: those with a text that is
        too large for a grammar, or that its parser cannot read. Such a file is lexical in all pairs
        with that revision.
    notes
        Per revision. Of change sets only ``whitespace-only``, and for files that a grammar cannot
        read the reason.
    edited
        Per revision: tokens deleted plus tokens inserted against the origin, by path.
    no_ops
        Per revision: whether its normalised text is the origin's, or it touches no file.
    whitespace_only
        Per revision: whether it differs from the origin in white space only.
    unchanged
        Per revision: whether its tokens are the origin's (a no-op, or white space only).
    """

    ids: tuple[str, ...]
    values: Values
    anchored: Values
    anywhere: Values
    contained: Values
    signature: str
    notes: tuple[tuple[str, ...], ...]
    edited: tuple[Mapping[str, int], ...]
    no_ops: tuple[bool, ...]
    whitespace_only: tuple[bool, ...]
    unchanged: tuple[bool, ...]
    _standings: Standings
    _read: _Read
    _task: _Task
    _programs: Programs

    def __reduce__(self) -> tuple[object, ...]:
        """Return the texts and choices: where it is unpickled, all else is computed again."""
        task = self._task
        names = (
            "ids",
            "origin",
            "change_sets",
            "edited",
            "options",
            "language",
            "timeout",
            "basis",
        )
        return _matrix_again, ({name: getattr(task, name) for name in (*names, "notes")},)

    def __repr__(self) -> str:
        """Return how many there are of which signature."""
        kind = "change sets" if self._task.basis else "revisions"
        return f"<ScoreMatrix {len(self.ids)} {kind} {self.signature}>"

    def _repr_html_(self) -> str:
        notes = [
            f"{id}: {note}" for id, own in zip(self.ids, self.notes, strict=True) for note in own
        ]
        shown = self.values[:MAX_ROWS, :MAX_ROWS].tolist()
        return matrix_html(self.ids, shown, notes[:MAX_ROWS], self.signature)

    @classmethod
    def from_texts(
        cls,
        origin: Content,
        revisions: Mapping[str, Content] | Sequence[Content],
        *,
        ids: Sequence[str] | None = None,
        language: str | None = None,
        path: str | None = None,
        granularity: str = "nested",
        lcs: str = "star",
        comments: str = "keep",
        place: str | None = None,
        map: Map = map,
        cancel: CancelFlag | None = None,
        timeout: float | None = None,
        strict: bool = True,
        readings: Readings | None = None,
    ) -> ScoreMatrix:
        """Score every pair of revisions.

        Parameters
        ----------
        origin
            Text, or ready-made sequence of tokens; so are the revisions.
        revisions
            By id, or in order with `ids` (default "1", "2", ..).
        language, path, granularity, lcs, comments, place, strict
            As for `excise.similarity`.
        map
            Runs the row blocks; an executor's map uses its threads, as blocks hold no GIL.
        cancel
            Polled while kernels and parsers run. One that runs out of time by itself
            (`CancelFlag(seconds)`) makes the matrix fall back to ``line``, which needs little more
            than one look at every line (over lexical tokens, if a parser had to be stopped); the
            note ``deadline, line granularity`` and the signature say so.
        timeout
            CPU seconds that a parser may take for one text (default: as many as it wants). The
            pairs of a revision that takes more are lexical; so are all, if the origin does.
        readings
            Those of another matrix: what was read for it is not read again.

        Raises
        ------
        excise.errors.OptionError
            On unknown options, or ids that repeat or do not match.
        excise.errors.ContentError
            If one of the texts is neither a string nor a sequence of hashable tokens.
        excise.errors.Cancelled
            When the flag was raised by `cancel`.

        Examples
        --------
        >>> ScoreMatrix.from_texts("a b", {"x": "a c", "y": "a c", "z": "a d"}).values.tolist()
        [[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]]
        """
        names, texts = _named(revisions, ids)
        options = Options(granularity, lcs, "f1", comments, place or "")
        languages.check(language, path, strict=strict)
        source = normalised(origin, "origin")
        contents = [
            normalised(text, f"revision {name!r}") for name, text in zip(names, texts, strict=True)
        ]
        task = _Task(
            names, {path or "": source}, [ChangeSet()] * len(names),
            [{} if content == source else {path or "": content} for content in contents],
            options, language, map, cancel, timeout, readings=readings or Readings(),
        )  # fmt: skip
        try:
            return _matrix(task)
        except Cancelled as error:
            if cancel is None or not cancel.timed_out:
                raise
            notes = (DEADLINE, PARSER_SLOW) if isinstance(error, ParserStopped) else (DEADLINE,)
        options = replace(options, granularity="line")
        return _matrix(replace(task, options=options, cancel=None, notes=notes))

    @classmethod
    def from_change_sets(
        cls,
        origin: Mapping[str, str],
        change_sets: Mapping[str, ChangeSet],
        *,
        map: Map = map,
        cancel: CancelFlag | None = None,
        timeout: float | None = None,
        readings: Readings | None = None,
    ) -> ScoreMatrix:
        r"""Score every pair of change sets (``basis:origin``).

        One that edits a single file has the number that `from_texts` gives for its text.

        Parameters
        ----------
        origin
            The texts of the files that change sets touch, by path. Other files are ignored.
        change_sets
            The change sets, by id.
        map, cancel, timeout, readings
            As for `from_texts`, without the way to ``line``.

        Raises
        ------
        excise.errors.Cancelled
            If the flag `cancel` is raised meanwhile.

        Examples
        --------
        >>> origin = {"a.py": "x = 1\n", "b.py": "y = 1\n"}
        >>> both = ChangeSet({"a.py": "x = 2\n", "b.py": "y = 3\n"})
        >>> half = ChangeSet({"a.py": "x = 2\n"})
        >>> matrix = ScoreMatrix.from_change_sets(origin, {"both": both, "half": half})
        >>> matrix.word(0, 1), matrix.contained.tolist()
        ('overlaps', [[1.0, 0.5], [1.0, 1.0]])
        """
        texts = {path: normalise(text) for path, text in origin.items()}
        sets = list(change_sets.values())
        task = _Task(
            tuple(change_sets), texts, sets, [_edits_of(texts, own) for own in sets], Options(),
            None, map, cancel, timeout, basis="origin", readings=readings or Readings(),
        )  # fmt: skip
        return _matrix(task)

    def replaced(
        self, id: str, revision: Content | ChangeSet, *, cancel: CancelFlag | None = None
    ) -> ScoreMatrix:
        """Return the matrix with another revision in place of one, without reading others again.

        Raises
        ------
        excise.errors.OptionError
            On an unknown id.
        excise.errors.ContentError
            If it is a text where the others are change sets, or the reverse.
        """
        if id not in self.ids:
            raise OptionError(f"there is no revision {id!r}")
        at, task = self.ids.index(id), self._task
        change_set = ChangeSet()
        if isinstance(revision, ChangeSet) != bool(task.basis):
            kind = "a change set" if task.basis else "a text"
            raise ContentError(f"revision {id!r} is of type {type(revision).__name__}; give {kind}")
        if isinstance(revision, ChangeSet):
            change_set, edited = revision, _edits_of(task.origin, revision)
        else:
            [(path, origin)] = task.origin.items()
            content = normalised(revision, f"revision {id!r}")
            edited = {} if content == origin else {path: content}
        task = replace(
            task,
            change_sets=[*task.change_sets[:at], change_set, *task.change_sets[at + 1 :]],
            edited=[*task.edited[:at], edited, *task.edited[at + 1 :]],
            cancel=cancel,
        )
        matrix = _matrix(task, self, at)
        matrix.forget_others()
        return matrix

    def forget_others(self) -> None:
        """Forget what was read for other matrices with the same readings, and not for this one."""
        task = self._task
        texts = (text for files in task.edited for text in files.values())
        task.readings.keep({*task.origin.values(), *texts})

    def heed(self, cancel: CancelFlag | None) -> None:
        """Look at this flag from now on: facts and levels are read when they are first asked for.

        Whoever keeps a matrix may have raised the flag that it was made with, or let it run out.
        """
        self._programs.cancel = cancel

    @property
    def edit_sizes(self) -> tuple[int, ...]:
        """Per revision: tokens deleted plus tokens inserted, in all files."""
        return tuple(sum(sizes.values()) for sizes in self.edited)

    @property
    def readings(self) -> Readings:
        """What was read, for other matrices with some of the same texts."""
        return self._task.readings

    @property
    def codes(self) -> tuple[str, ...]:
        """Per revision: a key that those with the same code share, within this matrix.

        Their files of code have equal normal forms (`excise.levels`) and `ChangeSet.facts`.
        """
        return self._programs.codes

    @property
    def codes_up_to_names(self) -> tuple[str, ...]:
        """Per revision: a key that two of different code share if they are the same up to names."""
        return self._programs.codes_up_to_names

    @property
    def digests(self) -> tuple[str, ...]:
        """Per revision: a digest of all that it makes of the files, which decides between ties."""
        task = self._task
        return tuple(
            blake2b(
                repr((sorted(files.items()), sorted(own.facts.items()))).encode(
                    errors="surrogatepass"
                ),
                digest_size=16,
            ).hexdigest()
            for files, own in zip(task.edited, task.change_sets, strict=True)
        )

    @property
    def kinds(self) -> tuple[Mapping[str, str], ...]:
        """Per revision: what each file that it changes is for (``code``, unless facets say it)."""
        task = self._task
        return tuple(
            {path: own.facets.get(path, CODE) for path in (*files, *own.facts)}
            for files, own in zip(task.edited, task.change_sets, strict=True)
        )

    @property
    def facts_beside(self) -> tuple[Mapping[str, Facts], ...]:
        """Per revision: the changes other than text, by path (`ChangeSet.facts`)."""
        return tuple(own.facts for own in self._task.change_sets)

    @property
    def facts_by_path(self) -> tuple[Mapping[str, EditFacts], ...]:
        """Return the facts about each revision's edit, file by file, but for what it breaks.

        Each text is read once for this matrix and those that `replaced` makes of it. Nothing is
        known of texts without a grammar, and of those that took their parsers too long. What is not
        text is an edit, unless there is text beside it.
        """
        task, cancel = self._task, self._programs.cancel
        rows: list[dict[str, EditFacts]] = [
            {path: EditFacts(same_program=not facts) for path, facts in change_set.facts.items()}
            for change_set in task.change_sets
        ]
        for file in self._read.files:
            for at, files in enumerate(task.edited):
                if file.path in files:
                    rows[at][file.path] = EditFacts()
            origin, reading = task.origin.get(file.path, ""), file.preparation.reading
            texts = {
                at: text
                for at in file.revisions
                if isinstance(text := task.edited[at][file.path], str)
            }
            if reading.grammar is not None and isinstance(origin, str):
                found = task.readings.facts(origin, list(texts.values()), reading, cancel)
                for at, facts in zip(texts, found, strict=True):
                    rows[at][file.path] = facts
        return tuple(rows)

    @property
    def facts(self) -> tuple[EditFacts, ...]:
        """Return the facts about each revision's edit: over its files of code, or else over all."""
        task = self._task
        if not task.basis and self._read.files[0].preparation.reading.grammar is None:
            return (EditFacts(),) * len(self.ids)
        try:
            rows = [dict(row) for row in self.facts_by_path]
            for file in self._read.files:
                origin, reading = task.origin.get(file.path, ""), file.preparation.reading
                reading = replace(reading, path=file.path or reading.path)
                for at, own in file.revisions.items():
                    text, is_python = task.edited[at].get(file.path), reading.grammar == "python"
                    if (is_python or own.has_errors) and isinstance(origin, str):
                        broken, line = task.readings.broken(origin, str(text), reading)
                        facts = rows[at][file.path]
                        rows[at][file.path] = replace(
                            facts,
                            errors=errors_said(broken),
                            breaks_syntax=any(each.kind == "syntax" for each in broken),
                            not_read=line,
                        )
            return tuple(map(code_facts, rows, self.kinds))
        except Cancelled:
            cancel = self._programs.cancel
            if cancel is None or not cancel.timed_out:
                raise
        return (EditFacts(),) * len(self.ids)

    def word(self, i: int, j: int) -> str:
        """Return what may be said of two revisions: one of `excise.agreement.WORDS`."""
        if (level := self.level(i, j)) is not None:
            return level.word
        return OVERLAPS if self._standings.overlaps[i, j] else DIFFERENT

    def level(self, i: int, j: int) -> Level | None:
        """Return in which sense two revisions are the same program, or None if no rule says so."""
        return self._programs.level(i, j)

    def beside(self, i: int, j: int) -> tuple[str, ...]:
        """Return the facets other than code in which two revisions differ, sorted."""
        return self._programs.beside(i, j)

    def pair(self, i: int, j: int) -> Score:
        """Return the score of two revisions of one file with its regions and counts.

        Raises
        ------
        excise.errors.OptionError
            If several files are edited: look at them one by one.
        """
        groups, lexical = self._of_one_file()
        why = dict.fromkeys(lexical[at] for at in (i, j) if at in lexical)
        group = groups[-1 if why else 0]
        score = score_pair(
            group.preparation,
            group.revisions[i],
            group.revisions[j],
            ("origin", self.ids[i], self.ids[j]),
        )
        return replace(score, notes=(*why, *score.notes)) if why else score

    def hunks(
        self, revisions: Iterable[int] | None = None, *, cancel: CancelFlag | None = None
    ) -> Hunks:
        r"""Return where the exact texts differ from the origin's, by the alignments of the scores.

        Every divergent region of a pair lies in one hunk, and the variants of a revision in all
        hunks make its normalised text. Hunks are runs of lines at every granularity, and depend on
        it as the alignments do.

        Parameters
        ----------
        revisions
            Indices of the revisions to look at, ascending (default: all). A hunk names them by
            these.

        Raises
        ------
        excise.errors.OptionError
            For ready-made sequences, which have no lines of text, and if several files are edited.
        excise.errors.Cancelled
            When the flag was raised by `cancel`.

        Examples
        --------
        >>> matrix = ScoreMatrix.from_texts("a\nb\nc\n", ["a\nB\nc\n", "a\nb\nC\n"])
        >>> [(hunk.lo, hunk.hi, hunk.text) for hunk in matrix.hunks([0])]
        [(1, 2, 'b\n')]
        """
        chosen = list(range(len(self.ids)) if revisions is None else revisions)
        groups, unread = self._of_one_file()
        [file] = self._read.files
        origin = self._task.origin.get(file.path, "")
        contents = [origin, *(self._task.edited[at].get(file.path, origin) for at in chosen)]
        texts = [content for content in contents if isinstance(content, str)]
        if len(texts) < len(contents):
            raise OptionError("ready-made sequences have no lines of text, and no hunks")
        # The revisions as all pairs of them are read.
        lexical = groups[-1:] if any(at in unread for at in chosen) else []
        by_lines = [bool(row[chosen].any()) for row in self._standings.by_lines]
        sides = []
        for at, text in zip(chosen, texts[1:], strict=True):
            own_groups = [*(() if at in unread else groups[:1]), *lexical]
            readings = [(group.preparation, group.revisions[at], False) for group in own_groups]
            if by_lines[at]:
                readings += [
                    (group.preparation, group.preparation.raw().revision(own.text), True)
                    for group, (_, own, _) in zip(own_groups, readings, strict=True)
                ]
            sides.append(AlignedRevision(at, text, tuple(readings)))
        return self._task.hunks.find(texts[0], sides, cancel)

    def in_hunks(
        self, hunks: Hunks, order: Sequence[int] | None = None, *, cancel: CancelFlag | None = None
    ) -> PairsInHunks:
        r"""Return what every pair does in every hunk, from one look at the regions of each pair.

        Parameters
        ----------
        hunks
            From `hunks` of this matrix.
        order
            Indices of the revisions to compare, which `hunks` were made of (default: all).

        Raises
        ------
        excise.errors.Cancelled
            When the flag was raised by `cancel`.

        Examples
        --------
        >>> matrix = ScoreMatrix.from_texts("a\nb\nc\n", ["a\nb\nC\n", "A\nb\nC\n"])
        >>> matrix.in_hunks(matrix.hunks()).entries[["hunk", "value"]].tolist()
        [(0, 0.0), (1, 1.0)]
        """
        import numpy as np

        chosen = list(range(len(self.ids)) if order is None else order)
        groups, lexical = self._of_one_file()
        if self._task.options.lcs == "paper":
            places = combinations(range(len(chosen)), 2)
            scores = (((x, y), self.pair(chosen[x], chosen[y])) for x, y in places)
            return count_scores(hunks, chosen, scores)
        is_lexical = np.array([at in lexical for at in chosen], dtype=bool)
        either = is_lexical[:, None] | is_lexical[None, :]
        by_lines = self._standings.by_lines[np.ix_(chosen, chosen)]
        readings = [
            PairReading(
                group.preparation, is_raw, [group.revisions[at] for at in chosen], tokens & lines
            )
            for group, tokens in ((groups[0], ~either), (groups[-1], either))
            for is_raw, lines in ((False, ~by_lines), (True, by_lines))
        ]
        return count_pairs(hunks, chosen, readings, cancel)

    def _of_one_file(self) -> tuple[list[Group[Preparation]], Mapping[int, str]]:
        """Return the groups by grammar and, if it cannot read some texts, lexically; and why."""
        if self._read.joined is not None:
            raise OptionError("several files have no pair, regions and hunks: ask for one of them")
        [file] = self._read.files
        groups = [Group(file.preparation, self._read.group.revisions)]
        groups += [
            Group(lexical.files[0].preparation, lexical.group.revisions)
            for lexical in self._read.lexical.values()
        ]
        return groups, file.unread


@dataclass(frozen=True, slots=True)
class _Task:
    """The normalised inputs of one matrix.

    ``edited`` has, for each revision, its texts that differ from the origin's, by path. Texts
    without a path have the path "". ``basis`` is empty for texts.
    """

    ids: tuple[str, ...]
    origin: Mapping[str, Content]
    change_sets: Sequence[ChangeSet]
    edited: Sequence[Mapping[str, Content]]
    options: Options
    language: str | None
    map: Map
    cancel: CancelFlag | None
    timeout: float | None
    readings: Readings
    basis: str = ""
    notes: tuple[str, ...] = ()
    hunks: HunkFinder = field(default_factory=HunkFinder)

    @property
    def paths(self) -> list[str]:
        """Every file that somebody edits, or the one of texts."""
        if not self.basis:
            return list(self.origin)
        return sorted({path for files in self.edited for path in files})


def _edits_of(origin: Mapping[str, Content], change_set: ChangeSet) -> dict[str, Content]:
    texts = {path: normalise(text) for path, text in change_set.texts.items()}
    return {path: text for path, text in texts.items() if text != origin.get(path, "")}


def _named(
    revisions: Mapping[str, Content] | Sequence[Content], ids: Sequence[str] | None
) -> tuple[tuple[str, ...], list[Content]]:
    if isinstance(revisions, Mapping):
        return tuple(revisions), list(revisions.values())
    if isinstance(revisions, str | bytes) or not isinstance(revisions, Sequence):
        raise ContentError(
            f"revisions is of type {type(revisions).__name__}; "
            "give a mapping of ids to texts, or a list of texts"
        )
    names = tuple(ids) if ids is not None else tuple(str(at + 1) for at in range(len(revisions)))
    if len(names) != len(revisions):
        raise OptionError(f"{len(names)} ids for {len(revisions)} revisions")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise OptionError(f"two revisions have the id {twice!r}")
    return names, list(revisions)


@dataclass(frozen=True)
class _Read:
    """How some revisions (``members``) are read, and all files, with each row as pairs want it.

    ``lexical`` has, by the files that grammars cannot read, how those revisions are read that meet
    in a pair where these files are lexical.
    """

    members: Sequence[int]
    files: Sequence[ReadFile]
    group: Group[PreparedOrigin]
    joined: JoinedOrigin | None
    lexical: dict[frozenset[str], _Read] = field(default_factory=dict)

    @cached_property
    def unread(self) -> list[frozenset[str]]:
        """Per member the files that a grammar cannot read as it has them."""
        return [
            frozenset(file.path for file in self.files if place in file.unread)
            for place in range(len(self.members))
        ]

    def row(self, at: int) -> tuple[_Read, Prepared]:
        """Return a revision as it is read alone, and all that is read so."""
        read = self.lexical[self.unread[at]] if self.unread[at] else self
        return read, read.group.revisions[read.members.index(at)]


def _read_all(task: _Task, members: Sequence[int], lexical: frozenset[str] = frozenset()) -> _Read:
    """Read some revisions, some files lexically: several files are joined to one."""
    edited = [task.edited[at] for at in members]
    paths = replace(task, edited=edited).paths
    is_joined = len(paths) != 1
    files = [_read_file(task, path, edited, path in lexical, is_joined) for path in paths]
    if not is_joined:
        [file] = files
        own = (file.revisions.get(at, file.preparation.origin) for at in range(len(edited)))
        return _Read(members, files, Group(file.preparation, tuple(own)), None)
    keys = [key_of({path: str(text) for path, text in own.items()}) for own in edited]
    joined = JoinedOrigin(files, keys, task.readings.texts.vocabulary)
    return _Read(members, files, Group(joined, tuple(map(joined.revision, keys))), joined)


def _read_file(
    task: _Task, path: str, edited: Sequence[Mapping[str, Content]], lexical: bool, is_joined: bool
) -> ReadFile:
    """Read a file, equal texts once: lexically if no parser can read the origin's."""
    origin, note = task.origin.get(path, ""), ""
    texts = {at: files[path] for at, files in enumerate(edited) if path in files}
    small = [text for text in texts.values() if not is_large(text)]
    reading = read([origin, *small], task.language, path or None, task.options, task.timeout)
    if lexical or (PARSER_SLOW in task.notes and reading.grammar):
        reading = Reading.lexical(task.options)
    elif TOO_LARGE in reading.notes:
        note = TOO_LARGE
    prepare = task.readings.preparation
    try:
        preparation = prepare(origin, task.options, reading, task.cancel, is_joined=is_joined)
    except Unparsable as error:
        note = f"lexical tokens: {error}"
        reading = Reading.lexical(task.options, note)
        preparation = prepare(origin, task.options, reading, task.cancel, is_joined=is_joined)
    revisions, unread = {}, {}
    for at, text in texts.items():
        if preparation.reading.grammar and is_large(text):
            unread[at] = TOO_LARGE
            continue
        try:
            revisions[at] = preparation.revision(text, task.cancel)
        except Unparsable as error:
            unread[at] = f"lexical tokens: {error}"
    return ReadFile(path, preparation, revisions, unread, note)


def _matrix(task: _Task, before: ScoreMatrix | None = None, at: int = 0) -> ScoreMatrix:
    """Return the matrix: all of it, or with new scores of one revision beside those before."""
    whole = _read_all(task, range(len(task.ids)))
    if (
        before is not None
        and not any(whole.unread)
        # The origin is the same: sequences may be read by a revision.
        and (whole.joined is not None or before._read.group.preparation is whole.group.preparation)
    ):
        standings = compare_one(whole.group, at, before._standings, task.map, task.cancel)
    else:
        before, standings = None, compare(whole.group, task.map, task.cancel)
    every = [whole]
    # The pairs in which a grammar cannot read some files, by these files. A revision with itself is
    # one of them: this is how it is read alone.
    lexical_pairs: dict[frozenset[str], list[tuple[int, int]]] = defaultdict(list)
    numbers = range(len(task.ids)) if any(whole.unread) else ()
    for i, j in combinations_with_replacement(numbers, 2):
        lexical = whole.unread[i] | whole.unread[j]
        if lexical and (i == j or not _created_alike(task, i, j)):
            lexical_pairs[lexical].append((i, j))
    for lexical, pairs in lexical_pairs.items():
        members = sorted({index for pair in pairs for index in pair})
        read = whole.lexical[lexical] = _read_all(task, members, lexical)
        _take(standings, members, compare(read.group, task.map, task.cancel), pairs)
        every.append(read)
    for i, j in combinations(range(len(task.ids)), 2) if task.basis else ():
        if before is None or at in (i, j):
            every += _write_apart(task, whole, standings, i, j)
    planes = (standings.values, standings.anchored, standings.anywhere, standings.contained)
    for plane in planes:
        plane.flags.writeable = False
    rows = [whole.row(index) for index in range(len(task.ids))]
    tokenisers = {file.preparation.tokeniser for read in every for file in read.files} or {LEXICAL}
    named = "+".join(sorted(tokenisers, key=lambda name: (name == LEXICAL, name)))
    white = [_is_white(read, own, index) for index, (read, own) in enumerate(rows)]
    return ScoreMatrix(
        task.ids,
        *planes,
        signature=signature(task.options, named, task.basis),
        notes=tuple(
            tuple(_notes(task, whole, index, *rows[index], is_white))
            for index, is_white in enumerate(white)
        ),
        edited=tuple(_sizes(read, index) for index, (read, _) in enumerate(rows)),
        no_ops=tuple(
            not (files or own.paths)
            for files, own in zip(task.edited, task.change_sets, strict=True)
        ),
        whitespace_only=tuple(white),
        unchanged=tuple(own.is_origin for _, own in rows),
        _standings=standings,
        _read=whole,
        _task=task,
        _programs=_programs(task, whole),
    )


def _matrix_again(own: dict[str, Any]) -> ScoreMatrix:
    """Return a matrix that was pickled."""
    return _matrix(_Task(**own, map=map, cancel=None, readings=Readings()))


def _programs(task: _Task, whole: _Read) -> Programs:
    """Return the levels of all revisions: files that no grammar reads have no normal form."""
    files = {file.path: file for file in whole.files}

    def forms(path: str) -> CodeForms:
        origin = task.origin.get(path, "")
        reading = files[path].preparation.reading if path in files else Reading()
        if DEADLINE in task.notes:
            reading = Reading()  # there is no time for forms: only equal texts are the same
        return task.readings.forms(origin if isinstance(origin, str) else "", reading, path or None)

    return Programs(
        task.origin,
        task.edited,
        [change_set.facts for change_set in task.change_sets],
        [change_set.facets for change_set in task.change_sets],
        [change_set.digest for change_set in task.change_sets],
        forms,
        task.cancel,
    )


def _take(
    standings: Standings, members: list[int], source: Standings, pairs: Iterable[tuple[int, int]]
) -> None:
    """Take some pairs of members from another comparison of them."""
    import numpy as np

    place = {index: number for number, index in enumerate(members)}
    wanted = np.zeros((len(members), len(members)), dtype=bool)
    for i, j in pairs:
        wanted[place[i], place[j]] = wanted[place[j], place[i]] = True
    standings.write(members, source, wanted)


def _created_alike(task: _Task, i: int, j: int) -> dict[str, str]:
    """Return one path for both paths of each text that the two created under different paths."""
    a, b = created = defaultdict[Content, list[str]](list), defaultdict[Content, list[str]](list)
    for own, index in zip(created, (i, j), strict=True):
        for path, text in sorted(task.edited[index].items()):
            if path not in task.origin:
                own[text].append(path)
    if a.keys().isdisjoint(b.keys()):
        return {}
    paths = [{path for created in side.values() for path in created} for side in (a, b)]
    shared: dict[str, str] = {}
    for text in a.keys() & b.keys():
        alone = [
            [path for path in side[text] if path not in other_paths]
            for side, other_paths in zip((a, b), reversed(paths), strict=True)
        ]
        for pair in zip(*alone, strict=False):
            shared |= dict.fromkeys(pair, min(pair))
    return shared


def _write_apart(
    task: _Task, whole: _Read, standings: Standings, i: int, j: int
) -> Iterator[_Read]:
    """Write a pair of change sets that created a text under two names, or that have no text."""
    renamed = _created_alike(task, i, j)
    if renamed:
        # Counted separately, so that no number depends on other change sets.
        two = [
            {renamed.get(path, path): text for path, text in task.edited[index].items()}
            for index in (i, j)
        ]
        pair = replace(task, ids=(task.ids[i], task.ids[j]), edited=two)
        read = _read_all(pair, range(2), whole.unread[i] | whole.unread[j])
        _take(standings, [i, j], compare(read.group, task.map, task.cancel), [(i, j)])
        yield read
    a, b = task.change_sets[i], task.change_sets[j]
    equal = None
    if not (task.edited[i] or task.edited[j]):
        equal = a.facts == b.facts
    elif a.paths.isdisjoint(b.paths) and not renamed:
        equal = False
    if equal is not None:
        for plane in (standings.values, standings.anchored, standings.anywhere):
            plane[i, j] = plane[j, i] = float(equal)
        standings.overlaps[i, j] = standings.overlaps[j, i] = equal


def _is_white(read: _Read, own: Prepared, index: int) -> bool:
    """Whether a revision differs from the origin in white space only."""
    place = read.members.index(index)
    return own.is_origin and any(
        place in file.revisions and file.revisions[place].text != file.preparation.origin.text
        for file in read.files
    )


def _sizes(read: _Read, index: int) -> Mapping[str, int]:
    """Return the tokens that a revision deletes and inserts, by path."""
    place, sizes = read.members.index(index), Counter[str]()
    for file in read.files:
        if (revision := file.revisions.get(place)) is not None:
            edits = revision.edits
            sizes[file.path] = _size(edits[::4], edits[1::4], file.preparation.origin.units)
            sizes[file.path] += _size(edits[2::4], edits[3::4], revision.units)
    return dict(sizes)


def _size(low: array[int], high: array[int], units: Units) -> int:
    """Return how many tokens some runs of units hold, each from one to another (exclusive)."""
    if units.starts is None:
        return sum(high) - sum(low)
    return sum(map(units.starts.__getitem__, high)) - sum(map(units.starts.__getitem__, low))


def _notes(
    task: _Task, whole: _Read, index: int, read: _Read, own: Prepared, is_white: bool
) -> Iterator[str]:
    yield from task.notes
    if is_white:
        yield WHITESPACE_ONLY
    if task.basis:
        for file in whole.files:
            reason = file.unread.get(index, file.note)
            if reason and file.path in task.edited[index]:
                yield f"{file.path}: {reason}"
        return
    [file] = whole.files
    if index in file.unread:
        yield file.unread[index]
    preparation = read.group.preparation
    yield from preparation.reading.notes
    yield from syntax_notes((preparation.origin, own), ("origin", "revision"))
