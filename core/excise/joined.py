"""All files of an origin in a row, with what several change sets make of them (section 8).

Files are read and aligned one by one, each by its own grammar, and then laid end to end under one
vocabulary, so that the kernels count over all of them at once. Only what somebody edits is laid
down, with the tokens beside it: what everybody keeps has no part in a score. Each file has a frame,
a token before and a token after it that nobody edits, and line numbers that touch no other file's:
so no region, n-gram or place spans two files.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain

from excise.alignment import Edits, Units
from excise.errors import Unparsable
from excise.kernels._walk import CancelFlag
from excise.preparation import Preparation, Prepared, Readings
from excise.reading import TOO_LARGE, Content, Reading, is_large, read
from excise.signature import Options
from excise.tokens import Lines, TokenStream, Vocabulary

__all__ = ["Files", "JoinedOrigin", "key_of"]

Files = Mapping[str, str]
"""Normalised texts by path."""

Span = tuple[int, int]

BETWEEN = 3
"""Steps from the last line number of a file to the first of the next: lines side by side may share
a place, and these must not."""


def key_of(files: Files) -> str:
    """Return a name that equal change sets share."""
    return _digest(
        f"{len(path)} {len(text)} {path}{text}".encode("utf-8", "surrogatepass")
        for path, text in sorted(files.items())
    ).hex()


class JoinedOrigin:
    """The files of an origin as one text, whose revisions are change sets, named by `key_of`.

    Parameters
    ----------
    origin
        Every file that a change set touches; one that is created is empty there.
    change_sets
        For each change set the texts that it has in place of the origin's.
    lexical
        Paths of files that no grammar shall read.
    timeout
        CPU seconds that a parser may take for one text.
    tokeniser
        Given for reading raw lines: the tokeniser that saw no edit.

    Attributes
    ----------
    tokenisers
        Names of those that ran.
    edited
        For each change set how many tokens it deletes and inserts, by path.
    notes
        By path: why a grammar cannot read the origin's file.
    readings
        What a grammar read of each file.
    unread
        By change set (its index) and path: why a grammar cannot read the text. Such a file counts
        as unchanged until it is read again with its path in `lexical`.
    """

    def __init__(
        self,
        origin: Files,
        change_sets: Sequence[Files],
        *,
        lexical: frozenset[str] = frozenset(),
        timeout: float | None = None,
        cancel: CancelFlag | None = None,
        tokeniser: str = "",
    ) -> None:
        """Read and align every file."""
        self.options, self.reading = Options(), Reading(timeout=timeout)
        self.notes: dict[str, str] = {}
        self.unread: dict[tuple[int, str], str] = {}
        self.readings = Readings()
        self.edited: list[dict[str, int]] = [{} for _ in change_sets]
        self._files, self._change_sets, self._lexical = origin, change_sets, lexical
        self._vocabulary = Vocabulary()
        self.origin_lines = array("i")
        rows = [_Row() for _ in (*change_sets, "the origin")]
        self.tokenisers: set[str] = set()
        for path in sorted(origin):
            preparation = self._prepared(path, cancel, tokeniser)
            self.tokenisers.add(preparation.tokeniser)
            revisions = self._revisions(path, preparation, cancel)
            self._lay(rows, path, preparation, revisions)
            if preparation.reading.grammar and not tokeniser:
                self.readings.keep(preparation, revisions.values())
        self.tokeniser = tokeniser or "+".join(sorted(self.tokenisers))
        self.origin = rows[-1].prepared(key_of({}))
        self._known = {
            key: row.prepared(key)
            for key, row in zip(map(key_of, change_sets), rows, strict=False)
            if key != self.origin.text
        } | {self.origin.text: self.origin}

    def revision(self, content: Content, cancel: CancelFlag | None = None) -> Prepared:
        """Return the change set of a key."""
        if cancel is not None:
            cancel.check()
        return self._known[content]

    def raw(self) -> JoinedOrigin:
        """Return the same files read as raw lines."""
        return JoinedOrigin(self._files, self._change_sets, tokeniser=self.tokeniser)

    def _prepared(self, path: str, cancel: CancelFlag | None, raw: str) -> Preparation:
        """Read a file of the origin, lexically if no parser can."""
        text = self._files[path]
        reading = read([text], None, path, self.options, self.reading.timeout)
        if path in self._lexical:
            reading = Reading.lexical(self.options)
        elif TOO_LARGE in reading.notes:
            self.notes[path] = TOO_LARGE
        words = self._vocabulary
        try:
            return Preparation(
                text, self.options, reading, raw=raw or None, cancel=cancel, vocabulary=words
            )
        except Unparsable as error:
            self.notes[path] = f"lexical tokens: {error}"
            lexical = Reading.lexical(self.options)
            return Preparation(text, self.options, lexical, cancel=cancel, vocabulary=words)

    def _revisions(
        self, path: str, preparation: Preparation, cancel: CancelFlag | None
    ) -> dict[int, Prepared]:
        """Read the texts of a file in the change sets, equal texts once."""
        found: dict[int, Prepared] = {}
        by_text: dict[str, Prepared | str] = {}
        for index, files in enumerate(self._change_sets):
            text = files.get(path)
            if text is None:
                continue
            if text not in by_text:
                by_text[text] = _read(preparation, text, cancel)
            prepared = by_text[text]
            if isinstance(prepared, str):
                self.unread[index, path] = prepared
            else:
                found[index] = prepared
                self.edited[index][path] = Edits(prepared.edits).size
        return found

    def _lay(
        self,
        rows: Sequence[_Row],
        path: str,
        preparation: Preparation,
        revisions: Mapping[int, Prepared],
    ) -> None:
        """Append what is edited of a file to all rows: the last one is the origin's."""
        origin = preparation.origin
        frame = self._vocabulary.intern([("before", path), ("after", path)])
        spans = _spans(len(origin.units.tokens), (own.slid for own in revisions.values()))
        self._number(origin.units.token_lines(), spans)
        base, framed = len(rows[-1].tokens), _framed(origin, frame)
        kept = array("i", chain.from_iterable(framed[lo:hi] for lo, hi in spans))
        key, code = _digest([origin.token_key]), _digest([origin.code_key])
        for index, row in enumerate(rows):
            if (own := revisions.get(index)) is None:
                row.tokens.extend(kept)
                row.keys.append(key)
                row.codes.append(code)
                continue
            _cut(row, _framed(own, frame), own.slid, spans, base)
            row.keys.append(_digest([own.token_key]))
            row.codes.append(_digest([own.code_key]))
            row.is_origin &= own.is_origin
            row.has_errors |= own.has_errors and not origin.has_errors

    def _number(self, lines: array[int], spans: Sequence[Span]) -> None:
        """Number the lines of what is laid down of a file, apart from those of all others."""
        first = self.origin_lines[-1] + BETWEEN if self.origin_lines else 0
        last = first + (lines[-1] if lines else 0) + 2
        numbers = array("i", (first, *(first + 1 + line for line in lines), last))
        for lo, hi in spans:
            self.origin_lines.extend(numbers[lo:hi])


def _read(preparation: Preparation, text: str, cancel: CancelFlag | None) -> Prepared | str:
    """Return a revision, or why a grammar cannot read it."""
    if preparation.reading.grammar and is_large(text):
        return TOO_LARGE
    try:
        return preparation.revision(text, cancel)
    except Unparsable as error:
        return f"lexical tokens: {error}"


def _spans(n_tokens: int, edits: Iterable[array[int]]) -> list[Span]:
    """Return which tokens of a framed file are laid down: edited ones and their neighbours."""
    wanted = [(0, 1), (n_tokens + 1, n_tokens + 2)]
    wanted += ((edit.o_lo, edit.o_hi + 2) for flat in edits for edit in Edits(flat))
    merged: list[Span] = []
    for lo, hi in sorted(wanted):
        if merged and lo <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(hi, merged[-1][1])
        else:
            merged.append((lo, hi))
    return merged


@dataclass(slots=True)
class _Row:
    """The tokens of the origin or of a change set, its edits, and what is known of its files."""

    tokens: array[int] = field(default_factory=lambda: array("i"))
    edits: array[int] = field(default_factory=lambda: array("i"))
    keys: list[bytes] = field(default_factory=list)
    codes: list[bytes] = field(default_factory=list)
    is_origin: bool = True
    has_errors: bool = False

    def prepared(self, key: str) -> Prepared:
        """Return the row as the pairs of a matrix want it."""
        return Prepared(
            text=key,
            lines=Lines(self.tokens, array("i"), (), array("i")),
            units=Units(self.tokens, self.tokens),
            edits=self.edits,
            slid=self.edits,
            is_origin=self.is_origin,
            has_errors=self.has_errors,
            _read=_no_stream,
            digest=_digest(self.keys),
            code_digest=_digest(self.codes),
        )


def _framed(prepared: Prepared, frame: array[int]) -> array[int]:
    return frame[:1] + prepared.units.tokens + frame[1:]


def _cut(
    row: _Row, framed: array[int], edits: array[int], spans: Sequence[Span], base: int
) -> None:
    """Append a change set's tokens for the spans of a file, which start at `base` in the origin.

    Every edit lies within a span, and both ends of a span are tokens that nobody edits.
    """
    left, shift = deque(Edits(edits)), 0
    for lo, hi in spans:
        o_shift, a_shift = base - lo + 1, len(row.tokens) - lo - shift + 1
        start = lo + shift
        while left and left[0].o_hi + 1 < hi:
            edit = left.popleft()
            row.edits.extend(
                (edit.o_lo + o_shift, edit.o_hi + o_shift, edit.a_lo + a_shift, edit.a_hi + a_shift)
            )
            shift = edit.a_hi - edit.o_hi
        row.tokens.extend(framed[start : hi + shift])
        base += hi - lo


def _digest(parts: Iterable[bytes]) -> bytes:
    whole = blake2b(digest_size=32)
    for part in parts:
        whole.update(len(part).to_bytes(8) + part)
    return whole.digest()


def _no_stream(content: Content) -> TokenStream:
    raise TypeError("a change set has no text of its own: look at its files one by one")
