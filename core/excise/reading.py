"""How texts are read: by which grammar, or without one and why, and each once (sections 1, 2)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from excise import languages, syntax
from excise.errors import ContentError, Unparsable
from excise.kernels._walk import CancelFlag
from excise.reparse import Parsed, parsed, reparse, tree_of_edited
from excise.signature import Options
from excise.text import TokenList, normalise, strip_blank
from excise.tokens import Lines, Tokens, Vocabulary, given, raw_stream, stream

Content = str | Tokens | Sequence[Hashable]
"""A text, or a ready-made sequence of tokens."""

LEXICAL_ABOVE = 1_000_000
"""Bytes of normalised UTF-8 above which a triple is tokenised lexically."""

PARSER_SECONDS = 10.0
"""CPU seconds that a parser gets for one text, wherever nobody waits for more: in every command."""

REPARSE_FROM = 4_000
"""Characters of an origin from which its tree is worth keeping for its revisions."""

TREES_KEPT = 8_000_000
"""Characters of all texts whose trees are kept for whoever looks at them after the tokens."""

TOO_LARGE = f"lexical tokens: over {LEXICAL_ABOVE:,} bytes"
COMMENTS_KEPT = "comments kept: no grammar to find them"


@dataclass(frozen=True, slots=True)
class Reading:
    """How texts of one origin are read: by which grammar, and what to say about it.

    ``timeout`` is the CPU time in seconds that the parser may take for one text, ``path`` that of
    the file, as far as it is known: in some files the order of imports counts.
    """

    grammar: str | None = None
    notes: tuple[str, ...] = ()
    timeout: float | None = None
    path: str | None = None

    @classmethod
    def lexical(cls, options: Options, *notes: str) -> Reading:
        """Return the reading without a grammar, with the reason."""
        return cls(None, (*notes, *((COMMENTS_KEPT,) if options.comments == "drop" else ())))


def read(
    contents: Iterable[Content],
    language: str | None,
    path: str | None,
    options: Options,
    timeout: float | None = None,
) -> Reading:
    """Decide how the texts of one triple (or of one origin) are read, without parsing them.

    The origin comes first: without language and path its shebang names the grammar.
    """
    texts = [content for content in contents if isinstance(content, str)]
    if not texts:
        return Reading()
    grammar = languages.resolve(language, path, texts[0])
    if grammar is None:
        named = language or path
        reason = f"no grammar for {named!r}" if named else "no language given"
        return Reading.lexical(options, f"lexical tokens: {reason}")
    if any(is_large(text) for text in texts):
        return Reading.lexical(options, TOO_LARGE)
    return Reading(grammar, timeout=timeout, path=path)


def is_large(text: Content) -> bool:
    """Whether a text is tokenised lexically for its size."""
    if not isinstance(text, str) or 4 * len(text) <= LEXICAL_ABOVE:
        return False
    return len(text) > LEXICAL_ABOVE or len(text.encode(errors="surrogatepass")) > LEXICAL_ABOVE


def normalised(content: Content, name: str = "text") -> Content:
    """Normalise a text, or return a ready-made sequence unchanged.

    Raises excise.errors.ContentError on anything else; the message calls it by `name`.
    """
    if isinstance(content, str):
        return normalise(content)
    if isinstance(content, Tokens):
        return content
    kind = type(content).__name__
    if isinstance(content, bytes | bytearray | memoryview):
        raise ContentError(f"{name} is {kind}; decode it first (excise.text.decode)")
    if not isinstance(content, Iterable) or isinstance(content, Mapping | Set):
        shown = "None" if content is None else f"of type {kind}"
        raise ContentError(f"{name} is {shown}; it must be a text or a sequence of tokens")
    tokens = tuple(content)
    try:
        hash(tokens)
    except TypeError as error:
        raise ContentError(f"{name} holds tokens that cannot be hashed: {error}") from error
    return tokens


def token_stream(
    content: Content,
    *,
    grammar: str | None,
    raw: bool,
    cancel: CancelFlag | None = None,
    timeout: float | None = None,
) -> TokenList:
    """Return the tokens of a text and their positions (``raw``: whole lines with white space)."""
    if isinstance(content, Tokens) and raw:
        return given(content.by_line())
    if not isinstance(content, str):
        return given(content)
    return raw_stream(content) if raw else stream(content, grammar, cancel, timeout)


class ParsedTexts:
    """What parsers found in texts, by text and grammar: a text is parsed once for all who read it.

    Used by one thread. ``vocabulary`` names the tokens of all texts.
    """

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self._read: dict[tuple[str, str], tuple[Lines, bool]] = {}
        self._trees: dict[tuple[str, str], Parsed] = {}
        self._kept_trees: dict[tuple[str, str], Any] = {}
        self._latest: dict[tuple[str, str], Parsed] = {}
        """Of each origin the revision that was parsed last: often a neighbour of the next one."""
        self._room = TREES_KEPT
        self._blanked: dict[tuple[str, str], str] = {}
        self._refused: dict[tuple[str, Reading], str] = {}
        self.compiled: dict[str, SyntaxError | None] = {}
        """Why Python's own compiler refuses a text, or None."""

    def read(
        self,
        text: str,
        reading: Reading,
        origin: str | None = None,
        cancel: CancelFlag | None = None,
    ) -> tuple[Lines, bool]:
        """Return the tokens of a text by a grammar, and whether its syntax is broken.

        - ``origin``: a text that was read before: what its tree tells is not parsed again. None:
          this is an origin itself, and keeps its tree if it is long.

        Raises excise.errors.ParserStopped, excise.errors.Unparsable as from `excise.syntax.parse`;
        a parser is not asked twice.
        """
        key = text, reading.grammar or ""
        if (found := self._read.get(key)) is not None:
            return found
        if (refused := self._refused.get((text, reading))) is not None:
            raise Unparsable(refused)
        try:
            found = self._parsed(text, reading, origin, cancel)
        except Unparsable as error:
            self._refused[text, reading] = str(error)
            raise
        self._read[key] = found
        return found

    def _parsed(
        self, text: str, reading: Reading, origin: str | None, cancel: CancelFlag | None
    ) -> tuple[Lines, bool]:
        grammar, timeout = reading.grammar or "", reading.timeout
        beside, own = (origin or "", grammar), None  # of an empty text no tree is kept
        if kept := self._trees.get(beside):
            latest = self._latest.get(beside)
            own = reparse(kept, text, self.vocabulary, cancel, timeout, other=latest)
        own = own or parsed(text, grammar, self.vocabulary, cancel, timeout)
        if kept:
            self._latest[beside] = own
        elif origin is None and len(text) >= REPARSE_FROM:
            self._trees[text, grammar] = own
        self._keep_tree(text, grammar, own.tree)
        return own.lines, own.has_errors

    def _keep_tree(self, text: str, grammar: str, tree: object) -> None:
        if len(text) <= self._room:
            self._room -= len(text)
            self._kept_trees[text, grammar] = tree

    def tree(
        self,
        text: str,
        reading: Reading,
        cancel: CancelFlag | None = None,
        origin: str | None = None,
    ) -> Any:  # noqa: ANN401 - only `syntax` and its like import the type
        """Return the tree of a text, whose syntax may be broken, parsed now if it was not kept.

        - ``origin``: a text that was read before, and of which little is parsed again.

        Raises excise.errors.ParserStopped, excise.errors.Unparsable as from `excise.syntax.parse`;
        a parser is not asked twice.
        """
        if (refused := self._refused.get((text, reading))) is not None:
            raise Unparsable(refused)
        grammar = reading.grammar or ""
        known = self._kept_trees.get((text, grammar))
        if known is None and origin is not None and len(origin) >= REPARSE_FROM:
            if (kept := self._trees.get((origin, grammar))) is None:
                kept = parsed(origin, grammar, self.vocabulary, cancel, reading.timeout)
                self._trees[origin, grammar] = kept
            known = kept.tree if text == origin else None
            known = known or tree_of_edited(kept, text, cancel, reading.timeout)
        if known is None:
            known = syntax.parse(text, grammar, None, cancel, reading.timeout)
            self._keep_tree(text, grammar, known)
        return known

    def blanked(self, text: str, reading: Reading, cancel: CancelFlag | None = None) -> str:
        """Return a text without its comments, line by line, or itself without a grammar."""
        if not reading.grammar:
            return text
        key = text, reading.grammar
        if key not in self._blanked:
            blanked = syntax.blank_comments(text, reading.grammar, cancel, reading.timeout)
            self._blanked[key] = blanked
        return self._blanked[key]

    def keep(self, texts: Collection[Content]) -> None:
        """Forget all texts but these."""
        kept = set(texts)
        for text, grammar in [key for key in self._blanked if key[0] in kept]:
            kept.add(strip_blank(self._blanked[text, grammar]))
        tables: list[dict[Any, Any]] = [
            *(self._read, self._trees, self._latest, self._kept_trees),
            *(self._blanked, self._refused),
        ]
        for known in tables:
            for key in [key for key in known if key[0] not in kept]:
                del known[key]
        for text in self.compiled.keys() - kept:
            del self.compiled[text]
        self._room = TREES_KEPT - sum(len(text) for text, _ in self._kept_trees)
