"""Change sets: edits of several files of one origin, compared as wholes (``basis:origin``).

A change set of one file has the number that `excise.ScoreMatrix` gives for its text: all files are
read by their grammars, and what is kept, added and deleted is counted over all of them at once.

Over 300 lines: the set, its matrix and what a pair shares are one definition, and each is short.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

from excise.agreement import DIFFERENT, SAME, WORDS
from excise.display import MAX_ROWS, matrix_html, short
from excise.excision import WHITESPACE_ONLY
from excise.facts import EditFacts, facts_of, joined_facts
from excise.joined import Files, JoinedOrigin, key_of
from excise.kernels._walk import CancelFlag
from excise.pairs import Group, Map, Standings, compare
from excise.preparation import Prepared, Readings
from excise.reading import read
from excise.signature import Options, signature
from excise.text import normalise
from excise.tokens import LEXICAL

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

__all__ = ["ChangeMatrix", "ChangeSet"]

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
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Facts] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Return the paths."""
        return f"<ChangeSet {len(self.paths)} files: {short(', '.join(sorted(self.paths)), 80)}>"

    @property
    def paths(self) -> frozenset[str]:
        """Every file that it touches."""
        return frozenset((*self.texts, *self.facts))


@dataclass(frozen=True, slots=True, eq=False)
class ChangeMatrix:
    """Similarities of k change sets: exactly symmetric, 1 on the diagonal.

    Attributes
    ----------
    ids
        Names of the change sets, in order.
    values, anchored, anywhere, contained
        k x k arrays of float64, read-only, as in `excise.ScoreMatrix`.
    signature
        The signature of all scores, which names every tokeniser that ran.
    notes
        Per change set: ``whitespace-only``, and for files that a grammar cannot read the reason.
    edited
        Per change set: tokens deleted plus tokens inserted, by path.
    no_ops
        Per change set: whether it touches no file.
    unchanged
        Per change set: whether it leaves all tokens as they are.
    syntax_errors
        Per change set: whether it breaks the syntax of a file whose own syntax is whole.
    codes
        Per change set: a key that those with the same code share, within this matrix: their files
        have equal tokens, comments dropped (equal texts where no grammar can read one), and equal
        `ChangeSet.facts`.
    readings
        The readings of the files, for `excise.ScoreMatrix.from_texts` with one of them.
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
    unchanged: tuple[bool, ...]
    syntax_errors: tuple[bool, ...]
    codes: tuple[str, ...]
    readings: Readings
    _words: npt.NDArray[np.int8]
    _task: _Task

    def __repr__(self) -> str:
        """Return the number of change sets, and the signature."""
        return f"<ChangeMatrix {len(self.ids)} change sets {self.signature}>"

    def _repr_html_(self) -> str:
        """Return the similarities for a notebook."""
        notes = [
            f"{id}: {note}"
            for id, set_notes in zip(self.ids, self.notes, strict=True)
            for note in set_notes
        ]
        shown = self.values[:MAX_ROWS, :MAX_ROWS].tolist()
        return matrix_html(self.ids, shown, notes[:MAX_ROWS], self.signature)

    @classmethod
    def from_change_sets(
        cls,
        origin: Files,
        change_sets: Mapping[str, ChangeSet],
        *,
        map: Map = map,
        cancel: CancelFlag | None = None,
        timeout: float | None = None,
    ) -> ChangeMatrix:
        r"""Score every pair of change sets.

        Parameters
        ----------
        origin
            The texts of the files that change sets touch, by path. Other files are ignored.
        change_sets
            The change sets, by id.
        map
            Runs the row blocks; an executor's map uses its threads, as blocks hold no GIL.
        timeout
            CPU seconds that a parser may take for one text (default: as many as it wants). Where
            one takes more, the file is lexical in all pairs with that change set.

        Raises
        ------
        excise.errors.Cancelled
            If the flag `cancel` is raised meanwhile.

        Examples
        --------
        >>> origin = {"a.py": "x = 1\n", "b.py": "y = 1\n"}
        >>> both = ChangeSet({"a.py": "x = 2\n", "b.py": "y = 3\n"})
        >>> half = ChangeSet({"a.py": "x = 2\n"})
        >>> matrix = ChangeMatrix.from_change_sets(origin, {"both": both, "half": half})
        >>> matrix.word(0, 1), matrix.contained.tolist()
        ('contains', [[1.0, 0.5], [1.0, 1.0]])
        """
        task = _Task.of(origin, list(change_sets.values()), map, cancel, timeout)
        return _matrix(tuple(change_sets), task)

    @property
    def edit_sizes(self) -> tuple[int, ...]:
        """Per change set: tokens deleted plus tokens inserted, in all files."""
        return tuple(sum(sizes.values()) for sizes in self.edited)

    @property
    def facts_by_path(self) -> tuple[Mapping[str, EditFacts], ...]:
        """Return the facts about each change set, file by file, read anew by each call.

        Nothing is known of files without a grammar. What is not text is an edit, unless there is
        text beside it.
        """
        task = self._task
        rows: list[dict[str, EditFacts]] = [
            {path: EditFacts(same_program=not facts) for path, facts in change_set.facts.items()}
            for change_set in task.change_sets
        ]
        for path in sorted({path for files in task.edited for path in files}):
            origin = task.origin.get(path, "")
            having = [index for index, files in enumerate(task.edited) if path in files]
            texts = [task.edited[index][path] for index in having]
            grammar = read([origin, *texts], None, path, Options()).grammar
            for index, facts in zip(
                having,
                facts_of(origin, texts, grammar, cancel=task.cancel, timeout=task.timeout),
                strict=True,
            ):
                rows[index][path] = facts
        return tuple(rows)

    @property
    def facts(self) -> tuple[EditFacts, ...]:
        """Return the facts about each change set, over all its files."""
        return tuple(joined_facts(by_path.values()) for by_path in self.facts_by_path)

    def word(self, i: int, j: int) -> str:
        """Return the word for two change sets: one of `excise.agreement.WORDS`."""
        return WORDS[self._words[i, j]]


@dataclass(frozen=True, slots=True)
class _Task:
    """The normalised change sets of one matrix, without texts that equal the origin's.

    ``created`` has, for each change set, the paths of the files that it creates, by text.
    """

    origin: Files
    change_sets: Sequence[ChangeSet]
    edited: Sequence[Files]
    created: Sequence[Mapping[str, Sequence[str]]]
    map: Map
    cancel: CancelFlag | None
    timeout: float | None

    @classmethod
    def of(
        cls,
        origin: Files,
        change_sets: Sequence[ChangeSet],
        map: Map,
        cancel: CancelFlag | None,
        timeout: float | None,
    ) -> _Task:
        texts = {path: normalise(text) for path, text in origin.items()}
        edited = [
            {
                path: text
                for path, raw in change_set.texts.items()
                if (text := normalise(raw)) != texts.get(path, "")
            }
            for change_set in change_sets
        ]
        created = [_created(texts, files) for files in edited]
        return cls(texts, change_sets, edited, created, map, cancel, timeout)

    def joined(
        self, edited: Sequence[Files], lexical: frozenset[str] = frozenset()
    ) -> JoinedOrigin:
        touched = {path: self.origin.get(path, "") for files in edited for path in files}
        return JoinedOrigin(
            touched, edited, lexical=lexical, timeout=self.timeout, cancel=self.cancel
        )

    def compared(self, joined: JoinedOrigin, edited: Sequence[Files]) -> Standings:
        revisions = tuple(joined.revision(key_of(files)) for files in edited)
        return compare(Group(joined, revisions), self.map, self.cancel)


def _matrix(ids: tuple[str, ...], task: _Task) -> ChangeMatrix:
    joined = task.joined(task.edited)
    standings = task.compared(joined, task.edited)
    rows = [joined.revision(key_of(files)) for files in task.edited]
    edited = list(joined.edited)
    readings = [joined]
    for index in {index for index, _ in joined.unread}:
        alone = task.joined([task.edited[index]], _unread(joined, index))
        rows[index] = alone.revision(key_of(task.edited[index]))
        edited[index] = alone.edited[0]
        readings.append(alone)
    for lexical, pairs in _lexical_pairs(task, joined).items():
        readings.append(_write_lexical(task, standings, lexical, pairs))
    for i, j in combinations(range(len(ids)), 2):
        renamed = _created_alike(task.created[i], task.created[j])
        if renamed:
            # Counted separately, so that no number depends on other change sets.
            two = [_renamed(task.edited[index], renamed) for index in (i, j)]
            readings.append(task.joined(two, _unread(joined, i, j)))
            pair = task.compared(readings[-1], two)
            standings.write([i, j], pair, pair.values >= 0)
        equal = _decided(task, i, j, bool(renamed))
        if equal is not None:
            _write(standings, i, j, equal)
    planes = (standings.values, standings.anchored, standings.anywhere, standings.contained)
    for plane in planes:
        plane.flags.writeable = False
    return ChangeMatrix(
        ids,
        *planes,
        signature=signature(Options(), _tokenisers(readings), "origin"),
        notes=tuple(_notes(task, joined, index, row) for index, row in enumerate(rows)),
        edited=tuple(edited),
        no_ops=tuple(not change_set.paths for change_set in task.change_sets),
        unchanged=tuple(row.is_origin for row in rows),
        syntax_errors=tuple(row.has_errors for row in rows),
        codes=tuple(_code(task, joined, index) for index in range(len(ids))),
        readings=joined.readings,
        _words=standings.words,
        _task=task,
    )


def _code(task: _Task, joined: JoinedOrigin, index: int) -> str:
    """Return the key of a change set's code."""
    files = key_of(task.edited[index])
    code = files if _unread(joined, index) else joined.revision(files).code_key.hex()
    return f"{code} {sorted(task.change_sets[index].facts.items())}"


def _tokenisers(readings: Iterable[JoinedOrigin]) -> str:
    """Name all tokenisers that ran, grammars first."""
    names = {name for reading in readings for name in reading.tokenisers} or {LEXICAL}
    return "+".join(sorted(names, key=lambda name: (name == LEXICAL, name)))


def _unread(joined: JoinedOrigin, *indices: int) -> frozenset[str]:
    """Return the files that a grammar cannot read as one of these change sets has them."""
    return frozenset(path for index, path in joined.unread if index in indices)


def _lexical_pairs(
    task: _Task, joined: JoinedOrigin
) -> Mapping[frozenset[str], list[tuple[int, int]]]:
    """Return the pairs in which a grammar cannot read some files, by these files."""
    pairs: dict[frozenset[str], list[tuple[int, int]]] = defaultdict(list)
    for i, j in combinations(range(len(task.edited)), 2) if joined.unread else ():
        lexical = _unread(joined, i, j)
        if lexical and not _created_alike(task.created[i], task.created[j]):
            pairs[lexical].append((i, j))
    return pairs


def _write_lexical(
    task: _Task, standings: Standings, lexical: frozenset[str], pairs: Sequence[tuple[int, int]]
) -> JoinedOrigin:
    """Compare pairs with some files lexical: all of them together, so that texts are read once."""
    import numpy as np

    members = sorted({index for pair in pairs for index in pair})
    place = {index: number for number, index in enumerate(members)}
    edited = [task.edited[index] for index in members]
    joined = task.joined(edited, lexical)
    wanted = np.zeros((len(members), len(members)), dtype=bool)
    for i, j in pairs:
        wanted[place[i], place[j]] = wanted[place[j], place[i]] = True
    standings.write(members, task.compared(joined, edited), wanted)
    return joined


def _created(origin: Files, files: Files) -> dict[str, list[str]]:
    created: dict[str, list[str]] = defaultdict(list)
    for path, text in sorted(files.items()):
        if path not in origin:
            created[text].append(path)
    return created


def _created_alike(
    a: Mapping[str, Sequence[str]], b: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return one path for both paths of each text that the two created under different paths."""
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


def _renamed(files: Files, renamed: Mapping[str, str]) -> Files:
    return {renamed.get(path, path): text for path, text in files.items()}


def _decided(task: _Task, i: int, j: int, created_alike: bool) -> bool | None:
    """Tell whether two change sets without text are equal, or None if their texts decide."""
    a, b = task.change_sets[i], task.change_sets[j]
    if not (task.edited[i] or task.edited[j]):
        return a.facts == b.facts
    return False if a.paths.isdisjoint(b.paths) and not created_alike else None


def _write(standings: Standings, i: int, j: int, equal: bool) -> None:
    for plane in (standings.values, standings.anchored, standings.anywhere):
        plane[i, j] = plane[j, i] = float(equal)
    standings.words[i, j] = standings.words[j, i] = WORDS.index(SAME if equal else DIFFERENT)


def _notes(task: _Task, joined: JoinedOrigin, index: int, row: Prepared) -> tuple[str, ...]:
    files = task.edited[index]
    why = {path: joined.unread.get((index, path), joined.notes.get(path)) for path in sorted(files)}
    notes = [WHITESPACE_ONLY] * (row.is_origin and bool(files))
    return (*notes, *(f"{path}: {reason}" for path, reason in why.items() if reason))
