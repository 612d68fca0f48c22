"""From texts to aligned revisions: everything that is done once per text (sections 1 and 2)."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import blake2b
from typing import Protocol

from excise import languages
from excise.alignment import PairwiseAlignment, Units, align_units, slide_edits, units_of
from excise.bindings import Bindings, HunkNames, fresh_names
from excise.broken import Broken, broken_by
from excise.errors import Unparsable
from excise.facts import EditFacts, PythonVersions, facts_of
from excise.kernels._lexer import Lexer
from excise.kernels._walk import CancelFlag
from excise.levels import CodeForms
from excise.names import PartNames
from excise.normal_form import Items
from excise.python_facts import Module
from excise.reading import Content, ParsedTexts, Reading, normalised, read, token_stream
from excise.signature import Options
from excise.text import TokenList, line_key, strip_blank
from excise.tokens import Lines, lexical_lines, lexical_part, lines_of, raw_lines_of, tokeniser

_MOST_NAMES = 500_000


@dataclass(frozen=True)
class Prepared:
    """One text, read, and aligned with its origin (an origin has no edits with itself).

    ``edits`` are the canonical ones, ``slid`` the same after their line slides. ``digest`` names
    the token streams of a change set, whose units are only what somebody edits; else it is empty.
    """

    text: Content
    lines: Lines
    units: Units
    edits: array[int]
    slid: array[int]
    is_origin: bool
    has_errors: bool
    _read: Callable[[Content], TokenList]
    digest: bytes = b""

    @property
    def token_key(self) -> bytes:
        """A short key that is equal iff the token streams are."""
        return self.digest or blake2b(self.lines.tokens).digest()

    def equals(self, other: Prepared) -> bool:
        """Whether the guards call the two equal: by token streams, or at ``line`` by line keys."""
        if not self.digest and self.lines.tokens == other.lines.tokens:
            return True
        if self.digest and self.digest == other.digest:
            return True
        return self.units.starts is not None and self.units.units == other.units.units

    def located(self, start: int, stop: int) -> TokenList:
        """Return the tokens from one to another (exclusive), and where they stand.

        For explanations: only now the text is read for places. Keys are not promised.
        """
        if self.lines.are_lexical and isinstance(self.text, str):
            return lexical_part(self.text, self.lines, self._line_starts, start, stop)
        return self._stream.part(start, stop)

    @cached_property
    def _stream(self) -> TokenList:
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

    - ``origin``: normalised text, or a ready-made sequence.
    - ``options``: granularity and comments decide what is prepared.
    - ``reading``: from `read`.
    - ``raw``: take whole lines, white space included, as tokens (guard 2); the name of the
      tokeniser that found nothing but white space changed.
    - ``texts``: those of other origins, where texts may be parsed, or tokens of several files are
      compared.

    - ``tokeniser``: name of the tokeniser that ran, as the signature has it.
    """

    def __init__(
        self,
        origin: Content,
        options: Options,
        reading: Reading,
        *,
        raw: str | None = None,
        cancel: CancelFlag | None = None,
        texts: ParsedTexts | None = None,
    ) -> None:
        self.options = options
        self.reading = reading
        self._content = origin
        self._is_alone = texts is None
        self._texts = ParsedTexts() if texts is None else texts
        self._is_raw = raw is not None
        self._raw: Preparation | None = None
        # Not a method: what is prepared would hold the preparation, which holds it.
        self._stream_of = partial(token_stream, grammar=reading.grammar, raw=self._is_raw)
        self._lexer = None
        if not (raw or reading.grammar) and isinstance(origin, str):
            self._lexer = Lexer(self._texts.vocabulary, alone=self._is_alone)
        self._revisions: dict[Content, Prepared] = {}
        self.origin = self._read(self._without_comments(origin, cancel), None, cancel)
        self.tokeniser = raw or tokeniser(origin, reading.grammar)

    def revision(self, content: Content, cancel: CancelFlag | None = None) -> Prepared:
        """Read a revision and align it with the origin, once."""
        if (known := self._revisions.get(content)) is not None:
            return known
        if cancel is not None:
            cancel.check()
        revision = self._revision(self._without_comments(content, cancel), cancel)
        self._revisions[content] = revision
        return revision

    def _revision(self, text: Content, cancel: CancelFlag | None) -> Prepared:
        if text == self.origin.text:
            return self.origin
        read = self._read(text, self.origin.text, cancel)
        edits = align_units(self.origin.units, read.units, cancel)
        slid = slide_edits(edits, self.origin.units, read.units)
        is_origin = not edits or read.equals(self.origin)
        return replace(read, edits=edits, slid=slid, is_origin=is_origin)

    def content_of(self, own: Prepared) -> Content:
        """Return what was given for a revision, or for the origin: with its comments."""
        known = (content for content, each in self._revisions.items() if each is own)
        return next(known, self._content)

    def keep(self, contents: Collection[Content]) -> None:
        """Forget all revisions but these."""
        self._revisions = {text: own for text, own in self._revisions.items() if text in contents}
        if self._raw is not None:
            self._raw.keep(contents)

    @cached_property
    def origin_lines(self) -> array[int]:
        """The line of every origin token: the lines that edits touch make their places."""
        return self.origin.units.token_lines()

    def raw(self) -> Preparation:
        """Return the same origin read as raw lines, to score edits of white space."""
        if self._raw is None:
            texts = None if self._is_alone else self._texts
            self._raw = Preparation(
                self.origin.text, self.options, self.reading, raw=self.tokeniser, texts=texts
            )
        return self._raw

    def rows(self, content: str) -> list[int] | None:
        """Return which lines of a text remain if comments are dropped, or None for all of them."""
        if self.options.comments == "keep":
            return None
        text = self._texts.blanked(content, self.reading)
        return [row for row, line in enumerate(text.split("\n")) if line_key(line)]

    def _read(self, text: Content, origin: Content | None, cancel: CancelFlag | None) -> Prepared:
        if isinstance(text, str) and self._is_raw:
            return self._prepared(text, raw_lines_of(text, self._texts.vocabulary))
        if isinstance(text, str) and self._lexer is not None:
            return self._prepared(text, lexical_lines(text, self._lexer))
        if isinstance(text, str) and self.reading.grammar:
            beside = origin if isinstance(origin, str) else None
            return self._prepared(text, *self._texts.read(text, self.reading, beside, cancel))
        if self._lexer is not None:
            self._lexer.share()
        tokens = self._stream_of(text, cancel=cancel)
        return self._prepared(text, lines_of(tokens, self._texts.vocabulary))

    def _prepared(self, text: Content, lines: Lines, has_errors: bool = False) -> Prepared:
        granularity = "token" if self._is_raw else self.options.granularity
        units = units_of(lines, granularity, self._texts.vocabulary)
        none = array("i")
        return Prepared(text, lines, units, none, none, True, has_errors, self._stream_of)

    def _without_comments(self, content: Content, cancel: CancelFlag | None) -> Content:
        if not isinstance(content, str) or self._is_raw or self.options.comments == "keep":
            return content
        return strip_blank(self._texts.blanked(content, self.reading, cancel))


_MODULES_KEPT = 2_000_000
"""Characters of the origins whose trees by Python's own parser are kept: 36 bytes for each."""


_MOST_ITEMS = 10_000
"""Functions and statements with a form that go over to another origin of their file."""


class Readings:
    """What was read in a run, handed to whatever may read it again. Used by one thread."""

    def __init__(self) -> None:
        self.texts = ParsedTexts()
        self._preparations: dict[tuple[Content, Options, Reading, bool], Preparation] = {}
        self._facts: dict[tuple[str, str], dict[str, EditFacts]] = {}
        self._broken: dict[
            tuple[str, str, Reading, frozenset[str]], tuple[tuple[Broken, ...], int]
        ] = {}
        self._python: dict[str, PythonVersions] = {}
        self._python_before: PythonVersions | None = None
        self._forms: dict[tuple[str, str | None, str | None], CodeForms] = {}
        self._items: dict[tuple[str | None, str | None], Items] = {}
        self.name_parts: defaultdict[str, PartNames] = defaultdict(dict)
        """By grammar, what is known of the names in parts of texts."""
        self._bindings: dict[tuple[str, str], Bindings] = {}

    def preparation(
        self,
        origin: Content,
        options: Options,
        reading: Reading,
        cancel: CancelFlag | None = None,
        *,
        is_joined: bool = False,
    ) -> Preparation:
        """Return an origin with its revisions, read now if it was not before.

        - ``is_joined``: whether its tokens are compared with those of other files. (A text without
          a grammar is read faster if they are not.)
        """
        is_joined |= reading.grammar is not None
        for joined in (is_joined, True):
            known = self._preparations.get((origin, options, reading, joined))
            if known is not None:
                return known
        texts = self.texts if is_joined else None
        preparation = Preparation(origin, options, reading, cancel=cancel, texts=texts)
        self._preparations[origin, options, reading, is_joined] = preparation
        return preparation

    def facts(
        self, origin: str, revisions: Sequence[str], reading: Reading, cancel: CancelFlag | None
    ) -> tuple[EditFacts, ...]:
        """Return the facts about revisions of a text that a grammar reads."""
        known = self._facts.setdefault((origin, reading.grammar or ""), {})
        for text in revisions:
            if text not in known:
                python = self._versions(origin) if reading.grammar == "python" else None
                known[text] = facts_of(origin, text, reading, self.texts, python, cancel)
        return tuple(known[text] for text in revisions)

    def broken(
        self,
        before: str,
        after: str,
        reading: Reading,
        given: frozenset[str] = frozenset(),
    ) -> tuple[tuple[Broken, ...], int]:
        """Return what an edit breaks, and what cannot be read any more (`excise.broken`)."""
        key = before, after, reading, given
        if key not in self._broken:
            broken, line = broken_by(before, after, reading, self.texts, given)
            self._broken[key] = tuple(broken), line
        return self._broken[key]

    def module(self, origin: str, text: str) -> Module:
        """Return a text that Python's own parser reads, the origin or a revision of it.

        Raises SyntaxError or excise.errors.Unparsable, as `excise.python_facts.Module.of`.
        """
        return self._versions(origin).module(text)

    def _versions(self, origin: str) -> PythonVersions:
        known = self._python.get(origin)
        if known is None or known.is_full:
            # Whoever reads too many texts reads them in the same order again: the first ones stay.
            while self._python and sum(map(len, self._python)) + len(origin) > _MODULES_KEPT:
                self._python.popitem()
            known = self._python[origin] = PythonVersions(origin, self._python_before)
            self._python_before = None
        return known

    def forms(self, origin: str, reading: Reading, path: str | None) -> CodeForms:
        """Return the normal forms of the revisions of a text (`excise.levels`)."""
        key = origin, reading.grammar, path
        if key not in self._forms:
            # Most functions of a new origin, and of its revisions, are those of the one before.
            items = self._items.pop((reading.grammar, path), None)
            self._forms[key] = CodeForms(
                origin, reading.grammar, path, self.texts, reading.timeout, items
            )
        return self._forms[key]

    def fresh_names(
        self, origin: str, revision: str, reading: Reading, spans: Sequence[tuple[int, int]]
    ) -> list[HunkNames]:
        """Return the fresh names of changed lines (`excise.bindings.fresh_names`).

        They have none where there is no grammar, or a parser cannot read one of the texts.
        """
        if reading.grammar is None:
            return [HunkNames.none()] * len(spans)
        key = origin, reading.grammar
        try:
            if key not in self._bindings:
                tree, parts = self.texts.tree(origin, reading), self.name_parts[reading.grammar]
                self._bindings[key] = Bindings.of(tree, origin, parts)
            tree = self.texts.tree(revision, reading, origin=origin)
        except Unparsable:
            return [HunkNames.none()] * len(spans)
        return fresh_names(self._bindings[key], tree, revision, spans)

    def keep(self, contents: Collection[Content]) -> None:
        """Forget all texts but these."""
        self.texts.keep(contents)
        for versions in self._python.values():
            versions.keep(contents)
        for origin in [origin for origin in self._python if origin not in contents]:
            self._python_before = self._python.pop(origin)
        self.name_parts.clear()
        self._bindings = {key: own for key, own in self._bindings.items() if key[0] in contents}
        for origin, grammar, path in [key for key in self._forms if key[0] not in contents]:
            items = self._forms.pop((origin, grammar, path)).items
            if len(items) < _MOST_ITEMS:
                self._items[grammar, path] = items
        for forms in self._forms.values():
            forms.keep(contents)
        for key in [key for key in self._preparations if key[0] not in contents]:
            del self._preparations[key]
        for preparation in self._preparations.values():
            preparation.keep(contents)
        self._broken = {
            key: found
            for key, found in self._broken.items()
            if key[0] in contents and key[1] in contents
        }
        self._facts = {
            key: {text: known[text] for text in known if text in contents}
            for key, known in self._facts.items()
            if key[0] in contents
        }

    @property
    def is_full(self) -> bool:
        """Whether so many tokens and lines have names that another one should begin anew."""
        return len(self.texts.vocabulary) > _MOST_NAMES


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
