"""From texts to aligned revisions: everything that is done once per text (sections 1 and 2).

Over 300 lines: reading a text, as the origin or beside it, and aligning it share what is kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import blake2b
from typing import Protocol

from excise import languages, syntax
from excise.alignment import PairwiseAlignment, Units, align_units, slide_edits, units_of
from excise.errors import Unparsable
from excise.kernels._lexer import Lexer
from excise.kernels._walk import CancelFlag
from excise.reading import Content, Reading, normalised, read, token_stream
from excise.reparse import Parsed, parsed, reparse
from excise.signature import Options
from excise.text import line_key, strip_blank
from excise.tokens import (
    Lines,
    TokenStream,
    Vocabulary,
    lexical_lines,
    lexical_part,
    lines_of,
    raw_lines_of,
    tokeniser,
)

__all__ = [
    "Preparation",
    "Prepared",
    "PreparedOrigin",
    "align",
    "prepare",
]

REPARSE_FROM = 4_000
"""Characters of an origin from which its tree is worth keeping for its revisions."""


@dataclass(frozen=True)
class Prepared:
    """One text, read, and aligned with its origin (an origin has no edits with itself).

    ``edits`` are the canonical ones, ``slid`` the same after their line slides. ``digest`` and
    ``code_digest`` name the token streams of a change set, with comments and without, whose units
    are only what somebody edits; else they are empty.
    """

    text: Content
    lines: Lines
    units: Units
    edits: array[int]
    slid: array[int]
    is_origin: bool
    has_errors: bool
    _read: Callable[[Content], TokenStream]
    digest: bytes = b""
    code_digest: bytes = b""

    @property
    def token_key(self) -> bytes:
        """A short key that is equal iff the token streams are."""
        return self.digest or blake2b(self.lines.tokens).digest()

    @cached_property
    def code_key(self) -> bytes:
        """A short key that is equal iff the token streams are, comments dropped."""
        if self.code_digest or not self.lines.comments:
            return self.code_digest or self.token_key
        import numpy as np

        tokens = np.frombuffer(self.lines.tokens, dtype=np.intc)
        return blake2b(np.delete(tokens, self.lines.comments).tobytes()).digest()

    def equals(self, other: Prepared) -> bool:
        """Whether the guards call the two equal: by token streams, or at ``line`` by line keys."""
        if not self.digest and self.lines.tokens == other.lines.tokens:
            return True
        if self.digest and self.digest == other.digest:
            return True
        return self.units.starts is not None and self.units.units == other.units.units

    def located(self, start: int, stop: int) -> TokenStream:
        """Return the tokens from one to another (exclusive), and where they stand.

        For explanations: only now the text is read for places. Keys are not promised.
        """
        if self.lines.are_lexical and isinstance(self.text, str):
            return lexical_part(self.text, self.lines, self._line_starts, start, stop)
        return self._stream.part(start, stop)

    @cached_property
    def _stream(self) -> TokenStream:
        return self._read(self.text)

    @cached_property
    def _line_starts(self) -> array[int]:
        """The code point at which each line of a text starts."""
        starts, text = array("i", [0]), str(self.text)
        while place := text.find("\n", starts[-1]) + 1:
            starts.append(place)
        return starts


class PreparedOrigin(Protocol):
    """The reading of an origin that scores need, and its revisions read in the same way."""

    options: Options
    reading: Reading
    tokeniser: str
    origin: Prepared

    @property
    def origin_lines(self) -> array[int]:
        """The line of every origin token."""

    def raw(self) -> PreparedOrigin:
        """Return the same origin read as raw lines."""

    def revision(self, content: Content, cancel: CancelFlag | None = None) -> Prepared:
        """Return a revision, aligned with the origin."""


class Preparation:
    """An origin, and the revisions aligned with it under one vocabulary.

    Parameters
    ----------
    origin
        Normalised text, or a ready-made sequence.
    options
        Granularity and comments decide what is prepared.
    reading
        From `read`.
    raw
        Take whole lines, white space included, as tokens (guard 2); the name of the tokeniser that
        found nothing but white space changed.
    vocabulary
        That of other origins, where tokens of several files are compared.

    Attributes
    ----------
    tokeniser
        Name of the tokeniser that ran, as the signature has it.
    """

    def __init__(
        self,
        origin: Content,
        options: Options,
        reading: Reading,
        *,
        raw: str | None = None,
        cancel: CancelFlag | None = None,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        """Read the origin."""
        self.options = options
        self.reading = reading
        self._raw = raw
        self._vocabulary = Vocabulary() if vocabulary is None else vocabulary
        self._parsed: Parsed | None = None
        # Not a method: what is prepared would hold the preparation, which holds it.
        self._stream_of = partial(token_stream, grammar=reading.grammar, raw=raw is not None)
        self._lexer = None
        if not (raw or reading.grammar) and isinstance(origin, str):
            self._lexer = Lexer(self._vocabulary, alone=vocabulary is None)
        self.origin = self._read_origin(self._without_comments(origin, cancel), cancel)
        self.tokeniser = raw or tokeniser(origin, reading.grammar)

    def revision(self, content: Content, cancel: CancelFlag | None = None) -> Prepared:
        """Read a revision and align it with the origin."""
        if cancel is not None:
            cancel.check()
        text = self._without_comments(content, cancel)
        if text == self.origin.text:
            return self.origin
        read = self._reparsed(text, cancel) or self._read(text, cancel)
        edits = align_units(self.origin.units, read.units, cancel)
        slid = slide_edits(edits, self.origin.units, read.units)
        is_origin = not edits or read.equals(self.origin)
        return replace(read, edits=edits, slid=slid, is_origin=is_origin)

    @cached_property
    def origin_lines(self) -> array[int]:
        """The line of every origin token: the lines that edits touch make their places."""
        return self.origin.units.token_lines()

    def raw(self) -> Preparation:
        """Return the same origin read as raw lines, to score edits of white space."""
        return Preparation(self.origin.text, self.options, self.reading, raw=self.tokeniser)

    def rows(self, content: str) -> list[int] | None:
        """Return which lines of a text remain if comments are dropped, or None for all of them."""
        if self.options.comments == "keep":
            return None
        grammar = self.reading.grammar
        text = syntax.blank_comments(content, grammar) if grammar else content
        return [row for row, line in enumerate(text.split("\n")) if line_key(line)]

    def _read(self, text: Content, cancel: CancelFlag | None) -> Prepared:
        if self._raw and isinstance(text, str):
            return self._prepared(text, raw_lines_of(text, self._vocabulary), has_errors=False)
        if self._lexer is not None:
            if isinstance(text, str):
                return self._prepared(text, lexical_lines(text, self._lexer), has_errors=False)
            self._lexer.share()
        tokens = self._stream_of(text, cancel=cancel, timeout=self.reading.timeout)
        return self._prepared(text, lines_of(tokens, self._vocabulary), tokens.has_errors)

    def _read_origin(self, text: Content, cancel: CancelFlag | None) -> Prepared:
        """Read the origin, and keep the tree of a long one with intact syntax for its revisions."""
        grammar = self.reading.grammar
        if self._raw or not grammar or not isinstance(text, str) or len(text) < REPARSE_FROM:
            return self._read(text, cancel)
        kept = parsed(text, grammar, self._vocabulary, cancel, self.reading.timeout)
        self._parsed = kept
        return self._prepared(text, kept.lines, kept.has_errors)

    def _reparsed(self, text: Content, cancel: CancelFlag | None) -> Prepared | None:
        """Take what the origin's tree saves, or None if it saves nothing or proves nothing."""
        if self._parsed is None or not isinstance(text, str):
            return None
        read = reparse(self._parsed, text, self._vocabulary, cancel, self.reading.timeout)
        return None if read is None else self._prepared(text, *read)

    def _prepared(self, text: Content, lines: Lines, has_errors: bool) -> Prepared:
        granularity = "token" if self._raw else self.options.granularity
        units = units_of(lines, granularity, self._vocabulary)
        none = array("i")
        return Prepared(text, lines, units, none, none, True, has_errors, self._stream_of)

    def _without_comments(self, content: Content, cancel: CancelFlag | None) -> Content:
        if not isinstance(content, str) or self._raw or self.options.comments == "keep":
            return content
        grammar, timeout = self.reading.grammar, self.reading.timeout
        if not grammar:
            return strip_blank(content)
        return syntax.drop_comments(content, grammar, cancel, timeout)


class Readings:
    """Origins and revisions that were read, for who compares some of them again.

    Used by one thread.
    """

    def __init__(self) -> None:
        """Know nothing yet."""
        self._known: dict[object, tuple[Preparation, dict[Content, Prepared]]] = {}

    def keep(self, preparation: Preparation, revisions: Iterable[Prepared]) -> None:
        """Keep an origin and its revisions, as they are."""
        key = (preparation.origin.text, preparation.options, preparation.reading)
        self._known[key] = preparation, {revision.text: revision for revision in revisions}

    def origin(self, text: Content, options: Options, reading: Reading) -> Preparation | None:
        """Return an origin that was read just so."""
        known = self._known.get((text, options, reading))
        return None if known is None else known[0]

    def revision(
        self, preparation: Preparation, text: Content, cancel: CancelFlag | None = None
    ) -> Prepared:
        """Return a revision of an origin, read now if it was not before."""
        key = (preparation.origin.text, preparation.options, preparation.reading)
        known = self._known.get(key)
        revision = known[1].get(text) if known is not None and known[0] is preparation else None
        return preparation.revision(text, cancel) if revision is None else revision


def prepare(
    contents: Sequence[Content],
    options: Options,
    language: str | None,
    path: str | None,
    timeout: float | None = None,
) -> tuple[Preparation, list[Prepared]]:
    """Read an origin, the first of the contents, and its revisions, the others.

    All of them lexically, with a note, where a parser cannot read one.
    """
    reading = read(contents, language, path, options, timeout)
    try:
        preparation = Preparation(contents[0], options, reading)
        return preparation, [preparation.revision(content) for content in contents[1:]]
    except Unparsable as error:
        reading = Reading.lexical(options, f"lexical tokens: {error}")
    preparation = Preparation(contents[0], options, reading)
    return preparation, [preparation.revision(content) for content in contents[1:]]


def align(
    origin: Content,
    revision: Content,
    *,
    granularity: str = "nested",
    language: str | None = None,
    path: str | None = None,
    strict: bool = True,
) -> PairwiseAlignment:
    """Align a revision with its origin canonically (section 2).

    Returns
    -------
    PairwiseAlignment
        Edits and matched pairs as token indices (at ``line``: indices of lines that are not
        blank). On ready-made sequences, the canonical LCS of the sequences.

    Examples
    --------
    >>> align("CTGC", "CGTC", granularity="token").pairs
    []
    >>> align(list("CTGC"), list("CGTC")).pairs
    [(0, 0), (1, 2), (3, 3)]
    """
    options = Options(granularity=granularity)
    languages.check(language, path, strict=strict)
    contents = [normalised(origin, "origin"), normalised(revision, "revision")]
    preparation, [prepared] = prepare(contents, options, language, path)
    sizes = (len(preparation.origin.units.units), len(prepared.units.units))
    return PairwiseAlignment(prepared.edits, *sizes)
