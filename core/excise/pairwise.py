"""The score matrix of k revisions: symmetric by construction, one alignment a revision.

Over 300 lines: every way to a matrix, from scratch or by replacing a row, writes the same planes,
and that they agree can be seen where they stand together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING

from excise import languages
from excise.agreement import WORDS
from excise.alignment import Edits
from excise.display import MAX_ROWS, matrix_html
from excise.errors import Cancelled, ContentError, OptionError, ParserStopped, Unparsable
from excise.excision import WHITESPACE_ONLY, Score, score_pair, syntax_notes
from excise.facts import EditFacts, FactsReader
from excise.hunk_finder import HunkFinder, Side
from excise.hunk_pairs import PairReading, PairsInHunks, count_pairs, count_scores
from excise.hunks import Hunks
from excise.kernels._walk import CancelFlag
from excise.pairs import Group, Map, Standings, compare, compare_one
from excise.preparation import Preparation, Prepared, Readings
from excise.reading import TOO_LARGE, Content, Reading, is_large, normalised, read
from excise.signature import Options, signature

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Values = npt.NDArray[np.float64]

__all__ = ["ScoreMatrix"]

DEADLINE = "deadline, line granularity"
PARSER_SLOW = "lexical tokens: the parser was too slow"


_Group = Group[Preparation]


@dataclass(frozen=True, slots=True)
class ScoreMatrix:
    """Pairwise similarity (F form) of the revisions of one origin.

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
        Of all scores; names both tokenisers when some pairs are lexical: those with a revision that
        is too large for a grammar, or that its parser cannot read.
    notes
        Per revision.
    edit_sizes
        Per revision: tokens deleted plus tokens inserted against the origin.
    no_ops
        Per revision: whether its normalised text is the origin's.
    whitespace_only
        Per revision: whether it differs from the origin in white space only.
    unchanged
        Per revision: whether its tokens are the origin's (a no-op, or white space only).
    syntax_errors
        Per revision: whether it breaks the syntax of an origin whose own syntax is whole. False
        where no grammar reads them.
    """

    ids: tuple[str, ...]
    values: Values
    anchored: Values
    anywhere: Values
    contained: Values
    signature: str
    notes: tuple[tuple[str, ...], ...]
    edit_sizes: tuple[int, ...]
    no_ops: tuple[bool, ...]
    whitespace_only: tuple[bool, ...]
    unchanged: tuple[bool, ...]
    syntax_errors: tuple[bool, ...]
    _words: npt.NDArray[np.int8]
    _by_lines: npt.NDArray[np.bool_]
    _groups: tuple[_Group, ...]
    _lexical: Mapping[int, str]
    _task: _Task

    def __repr__(self) -> str:
        """Return how many there are of which signature."""
        return f"<ScoreMatrix {len(self.ids)} revisions {self.signature}>"

    def _repr_html_(self) -> str:
        """Return the similarities for a notebook."""
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
            Those of `excise.ChangeMatrix`: what it read of the file is not read again.

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
            names, source, contents, language, path, map, cancel, timeout,
            readings=readings or Readings(),
        )  # fmt: skip
        try:
            return _matrix(task, options)
        except Cancelled as error:
            if cancel is None or not cancel.timed_out:
                raise
            notes = (DEADLINE, PARSER_SLOW) if isinstance(error, ParserStopped) else (DEADLINE,)
        return _matrix(
            replace(task, cancel=None, notes=notes), replace(options, granularity="line")
        )

    def replaced(self, id: str, text: Content, *, cancel: CancelFlag | None = None) -> ScoreMatrix:
        """Return the matrix with another text for one revision, without reading the others again.

        Raises
        ------
        excise.errors.OptionError
            On an unknown id.
        """
        if id not in self.ids:
            raise OptionError(f"there is no revision {id!r}")
        at, content = self.ids.index(id), normalised(text, f"revision {id!r}")
        contents = [*self._task.contents[:at], content, *self._task.contents[at + 1 :]]
        unparsable = {self._task.contents[at]: why for at, why in self._lexical.items()}
        task = replace(self._task, contents=contents, cancel=cancel, unparsable=unparsable)
        preparation = self._groups[0].preparation
        if len(self._groups) > 1 or is_large(content):
            return _matrix(task, preparation.options)
        revisions = list(self._groups[0].revisions)
        try:
            revisions[at] = preparation.revision(content, cancel)
        except Unparsable as error:
            task.unparsable[content] = f"lexical tokens: {error}"
            return _matrix(task, preparation.options)
        group = Group(preparation, tuple(revisions))
        planes = (self.values, self.anchored, self.anywhere, self.contained)
        before = Standings(*planes, self._words, self._by_lines)
        standings = compare_one(group, at, before, task.map, task.cancel)
        return _described(task, (group,), {}, standings)

    @property
    def codes(self) -> tuple[str, ...]:
        """Per revision: a key that those with the same code share, within this matrix.

        Their token streams are equal, comments dropped (which takes a grammar).
        """
        return tuple(
            f"{index in self._lexical} "
            f"{self._groups[-1 if index in self._lexical else 0].revisions[index].code_key.hex()}"
            for index in range(len(self.ids))
        )

    @property
    def facts(self) -> tuple[EditFacts, ...]:
        """Return the facts about each revision's edit.

        Each text is read once for this matrix and those that `replaced` makes of it. Nothing is
        known of texts without a grammar, and of those that took their parsers too long.
        """
        task, grammar = self._task, self._groups[0].preparation.reading.grammar
        texts = [
            text if isinstance(text, str) and index not in self._lexical else None
            for index, text in enumerate(task.contents)
        ]
        if grammar is None or not isinstance(task.origin, str):
            return (EditFacts(),) * len(texts)
        known = [text for text in texts if text is not None]
        try:
            read = task.facts.read(
                task.origin, known, grammar, cancel=task.cancel, timeout=task.timeout
            )
        except Cancelled:
            if task.cancel is None or not task.cancel.timed_out:
                raise
            return (EditFacts(),) * len(texts)
        by_text = dict(zip(known, read, strict=True))
        return tuple(EditFacts() if text is None else by_text[text] for text in texts)

    def word(self, i: int, j: int) -> str:
        """Return what may be said of two revisions: one of `excise.agreement.WORDS`."""
        return WORDS[self._words[i, j]]

    def pair(self, i: int, j: int) -> Score:
        """Return the score of two revisions with its regions and counts."""
        why = dict.fromkeys(self._lexical[at] for at in (i, j) if at in self._lexical)
        group = self._groups[-1 if why else 0]
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
            For ready-made sequences, which have no lines of text.
        excise.errors.Cancelled
            When the flag was raised by `cancel`.

        Examples
        --------
        >>> matrix = ScoreMatrix.from_texts("a\nb\nc\n", ["a\nB\nc\n", "a\nb\nC\n"])
        >>> [(hunk.lo, hunk.hi, hunk.text) for hunk in matrix.hunks([0])]
        [(1, 2, 'b\n')]
        """
        chosen = list(range(len(self.ids)) if revisions is None else revisions)
        contents = [self._task.origin, *(self._task.contents[at] for at in chosen)]
        texts = [content for content in contents if isinstance(content, str)]
        if len(texts) < len(contents):
            raise OptionError("ready-made sequences have no lines of text, and no hunks")
        return self._task.hunks.find(texts[0], self._sides(chosen, texts[1:]), cancel)

    def in_hunks(
        self,
        hunks: Hunks,
        order: Sequence[int] | None = None,
        *,
        cancel: CancelFlag | None = None,
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
        if self._groups[0].preparation.options.lcs == "paper":
            places = combinations(range(len(chosen)), 2)
            scores = (((x, y), self.pair(chosen[x], chosen[y])) for x, y in places)
            return count_scores(hunks, chosen, scores)
        is_lexical = np.array([at in self._lexical for at in chosen], dtype=bool)
        either = is_lexical[:, None] | is_lexical[None, :]
        by_lines = self._by_lines[np.ix_(chosen, chosen)]
        readings = [
            PairReading(
                group.preparation, is_raw, [group.revisions[at] for at in chosen], tokens & lines
            )
            for group, tokens in ((self._groups[0], ~either), (self._groups[-1], either))
            for is_raw, lines in ((False, ~by_lines), (True, by_lines))
        ]
        return count_pairs(hunks, chosen, readings, cancel)

    def _sides(self, chosen: list[int], texts: list[str]) -> list[Side]:
        """Return the revisions as all pairs of them are read."""
        lexical = any(at in self._lexical for at in chosen)
        by_lines = [bool(row[chosen].any()) for row in self._by_lines]
        sides = []
        for at, text in zip(chosen, texts, strict=True):
            groups = [] if at in self._lexical else [self._groups[0]]
            groups += [self._groups[-1]] if lexical else []
            readings = [(group.preparation, group.revisions[at], False) for group in groups]
            if by_lines[at]:
                readings += [
                    (group.preparation, group.preparation.raw().revision(own.text), True)
                    for group, (_, own, _) in zip(groups, readings, strict=True)
                ]
            sides.append(Side(at, text, tuple(readings)))
        return sides


@dataclass(frozen=True, slots=True)
class _Task:
    """The normalised inputs of one matrix."""

    ids: tuple[str, ...]
    origin: Content
    contents: list[Content]
    language: str | None
    path: str | None
    map: Map
    cancel: CancelFlag | None
    timeout: float | None = None
    notes: tuple[str, ...] = ()
    # Contents that a parser was found not to read, with the note: not tried again.
    unparsable: dict[Content, str] = field(default_factory=dict)
    facts: FactsReader = field(default_factory=FactsReader)
    hunks: HunkFinder = field(default_factory=HunkFinder)
    readings: Readings = field(default_factory=Readings)

    def lexical(self) -> dict[int, str]:
        """Return which revisions are known to be tokenised lexically, and why."""
        notes = {
            at: TOO_LARGE if is_large(text) else self.unparsable.get(text, "")
            for at, text in enumerate(self.contents)
            if isinstance(text, str)
        }
        return {at: note for at, note in notes.items() if note}


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


def _groups(task: _Task, options: Options) -> tuple[tuple[_Group, ...], dict[int, str]]:
    """Prepare everything by grammar, and again lexically if it cannot read some of the revisions.

    Returns also which revisions these are, and why.
    """
    lexical = task.lexical()
    preparation = _origin(task, options, lexical)
    if preparation.reading.grammar is None:
        return (_group(preparation, task),), {}
    revisions = []
    for at, text in enumerate(task.contents):
        revision = preparation.origin
        if at not in lexical:
            try:
                revision = task.readings.revision(preparation, text, task.cancel)
            except Unparsable as error:
                lexical[at] = f"lexical tokens: {error}"
        revisions.append(revision)
    by_grammar = Group(preparation, tuple(revisions))
    if not lexical:
        return (by_grammar,), {}
    apart = Preparation(task.origin, options, Reading.lexical(options), cancel=task.cancel)
    return (by_grammar, _group(apart, task)), lexical


def _origin(task: _Task, options: Options, lexical: Mapping[int, str]) -> Preparation:
    """Prepare the origin, lexically if its parser cannot read it."""
    others = [text for at, text in enumerate(task.contents) if at not in lexical]
    reading = read([task.origin, *others], task.language, task.path, options, task.timeout)
    if PARSER_SLOW in task.notes and reading.grammar:
        reading = Reading.lexical(options)
    if (known := task.readings.origin(task.origin, options, reading)) is not None:
        return known
    try:
        return Preparation(task.origin, options, reading, cancel=task.cancel)
    except Unparsable as error:
        reading = Reading.lexical(options, f"lexical tokens: {error}")
    return Preparation(task.origin, options, reading, cancel=task.cancel)


def _group(preparation: Preparation, task: _Task) -> _Group:
    return Group(
        preparation, tuple(preparation.revision(text, task.cancel) for text in task.contents)
    )


def _matrix(task: _Task, options: Options) -> ScoreMatrix:
    groups, lexical = _groups(task, options)
    return _described(task, groups, lexical, _standings(groups, lexical, task))


def _described(
    task: _Task, groups: tuple[_Group, ...], lexical: Mapping[int, str], standings: Standings
) -> ScoreMatrix:
    planes = (standings.values, standings.anchored, standings.anywhere, standings.contained)
    for plane in planes:
        plane.flags.writeable = False
    options = groups[0].preparation.options
    chosen = [groups[-1 if at in lexical else 0] for at in range(len(task.ids))]
    own = [group.revisions[at] for at, group in enumerate(chosen)]
    origins = [group.preparation.origin for group in chosen]
    white = [r.is_origin and r.text != o.text for r, o in zip(own, origins, strict=True)]
    notes = [
        (*task.notes, *_notes(group, own[at], white[at], lexical.get(at)))
        for at, group in enumerate(chosen)
    ]
    tokenisers = "+".join(dict.fromkeys(group.preparation.tokeniser for group in groups))
    return ScoreMatrix(
        ids=task.ids,
        values=standings.values,
        anchored=standings.anchored,
        anywhere=standings.anywhere,
        contained=standings.contained,
        signature=signature(options, tokenisers),
        notes=tuple(notes),
        edit_sizes=tuple(_edit_size(o, r) for o, r in zip(origins, own, strict=True)),
        no_ops=tuple(text == task.origin for text in task.contents),
        whitespace_only=tuple(white),
        unchanged=tuple(r.is_origin for r in own),
        syntax_errors=tuple(
            r.has_errors and not o.has_errors for o, r in zip(origins, own, strict=True)
        ),
        _words=standings.words,
        _by_lines=standings.by_lines,
        _groups=groups,
        _lexical=lexical,
        _task=task,
    )


def _notes(
    group: _Group, revision: Prepared, is_white: bool, lexical: str | None
) -> tuple[str, ...]:
    sides = (group.preparation.origin, revision)
    return (
        *((WHITESPACE_ONLY,) if is_white else ()),
        *((lexical,) if lexical else ()),
        *group.preparation.reading.notes,
        *syntax_notes(sides, ("origin", "revision")),
    )


def _edit_size(origin: Prepared, revision: Prepared) -> int:
    o, a = origin.units.starts, revision.units.starts
    size = 0
    for o_lo, o_hi, a_lo, a_hi in Edits(revision.edits):
        size += o[o_hi] - o[o_lo] if o else o_hi - o_lo
        size += a[a_hi] - a[a_lo] if a else a_hi - a_lo
    return size


def _standings(groups: tuple[_Group, ...], lexical: Mapping[int, str], task: _Task) -> Standings:
    """Compare by grammar the pairs that it reads, and the others lexically."""
    import numpy as np

    if len(groups) == 1:
        return compare(groups[0], task.map, task.cancel)
    parsed = [index for index in range(len(task.ids)) if index not in lexical]
    by_grammar = Group(groups[0].preparation, tuple(groups[0].revisions[i] for i in parsed))
    found = compare(groups[-1], task.map, task.cancel)
    wanted = np.ones((len(parsed), len(parsed)), dtype=bool)
    found.write(parsed, compare(by_grammar, task.map, task.cancel), wanted)
    return found
