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
from excise.kernels._walk import CancelFlag
from excise.preparation import Preparation, Prepared
from excise.reading import Content, Reading
from excise.signature import Options
from excise.text import TokenList
from excise.tokens import Lines, Vocabulary

Span = tuple[int, int]

BETWEEN = 3
"""Steps from the last line number of a file to the first of the next: lines side by side may share
a place, and these must not."""


def key_of(files: Mapping[str, str]) -> str:
    """Return a name that equal change sets share."""
    return _digest(
        f"{len(path)} {len(text)} {path}{text}".encode("utf-8", "surrogatepass")
        for path, text in sorted(files.items())
    ).hex()


@dataclass(frozen=True, slots=True)
class ReadFile:
    """One file of the origin as some change sets have it.

    - ``revisions``: the texts of those that edit it and can be read, by the place of the change
      set.
    - ``unread``: why a grammar cannot read the text of the others. There it counts as unchanged,
      until all is read again without that grammar.
    - ``note``: why a grammar cannot read the origin's text, or empty.
    """

    path: str
    preparation: Preparation
    revisions: Mapping[int, Prepared]
    unread: Mapping[int, str] = field(default_factory=dict)
    note: str = ""


class JoinedOrigin:
    """The files of an origin as one text, whose revisions are change sets, named by keys.

    - ``files``: every file that a change set touches.
    - ``keys``: the name of each change set: `key_of` its texts.
    - ``vocabulary``: that of all files.
    - ``raw``: given for files of raw lines: the tokenisers that saw no edit.
    """

    def __init__(
        self, files: Sequence[ReadFile], keys: Sequence[str], vocabulary: Vocabulary, raw: str = ""
    ) -> None:
        self.options, self.reading = Options(), Reading()
        self._files, self._keys, self._vocabulary = files, keys, vocabulary
        self.origin_lines = array("i")
        rows = [_Row() for _ in (*keys, "the origin")]
        for file in files:
            self._lay(rows, file)
        self.tokeniser = raw or "+".join(sorted({file.preparation.tokeniser for file in files}))
        self.origin = rows[-1].prepared(key_of({}))
        self._known = {
            key: row.prepared(key)
            for key, row in zip(keys, rows, strict=False)
            if key != self.origin.text
        } | {self.origin.text: self.origin}

    def revision(self, content: Content, cancel: CancelFlag | None = None) -> Prepared:
        """Return the change set of a key."""
        if cancel is not None:
            cancel.check()
        return self._known[content]

    def raw(self) -> JoinedOrigin:
        """Return the same files read as raw lines."""
        files = []
        for file in self._files:
            raw = file.preparation.raw()
            revisions = {at: raw.revision(own.text) for at, own in file.revisions.items()}
            files.append(ReadFile(file.path, raw, revisions))
        return JoinedOrigin(files, self._keys, self._vocabulary, self.tokeniser)

    def _lay(self, rows: Sequence[_Row], file: ReadFile) -> None:
        """Append what is edited of a file to all rows: the last one is the origin's."""
        origin, revisions = file.preparation.origin, file.revisions
        frame = self._vocabulary.intern([("before", file.path), ("after", file.path)])
        spans = _spans(len(origin.units.tokens), (own.slid for own in revisions.values()))
        # Number the lines of what is laid down apart from those of all other files.
        lines = origin.units.token_lines()
        first = self.origin_lines[-1] + BETWEEN if self.origin_lines else 0
        last = first + (max(lines[-1], ~lines[-1]) if lines else 0) + 2
        moved = (line + first + 1 if line >= 0 else line - first - 1 for line in lines)
        numbers = array("i", (first, *moved, last))
        for lo, hi in spans:
            self.origin_lines.extend(numbers[lo:hi])
        base, framed = len(rows[-1].tokens), _framed(origin, frame)
        kept = array("i", chain.from_iterable(framed[lo:hi] for lo, hi in spans))
        key = _digest([origin.token_key])
        for index, row in enumerate(rows):
            if (own := revisions.get(index)) is None:
                row.tokens.extend(kept)
                row.keys.append(key)
                continue
            _cut(row, _framed(own, frame), own.slid, spans, base)
            row.keys.append(_digest([own.token_key]))
            row.is_origin &= own.is_origin


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
    is_origin: bool = True

    def prepared(self, key: str) -> Prepared:
        """Return the row as the pairs of a matrix want it."""
        return Prepared(
            text=key,
            lines=Lines(self.tokens, array("i"), (), array("i")),
            units=Units(self.tokens, self.tokens),
            edits=self.edits,
            slid=self.edits,
            is_origin=self.is_origin,
            has_errors=False,
            _read=_no_stream,
            digest=_digest(self.keys),
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


def _no_stream(content: Content) -> TokenList:
    raise TypeError("a change set has no text of its own: look at its files one by one")
