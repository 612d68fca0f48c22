"""How texts are read: by which grammar, or without one and why (sections 1 and 2)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from excise import languages
from excise.errors import ContentError
from excise.kernels._walk import CancelFlag
from excise.signature import Options
from excise.text import normalise
from excise.tokens import Tokens, TokenStream, given, raw_stream, stream

__all__ = [
    "LEXICAL_ABOVE",
    "PARSER_SECONDS",
    "TOO_LARGE",
    "Content",
    "Reading",
    "is_large",
    "normalised",
    "read",
    "token_stream",
]

Content = str | Tokens | Sequence[Hashable]
"""A text, or a ready-made sequence of tokens."""

LEXICAL_ABOVE = 1_000_000
"""Bytes of normalised UTF-8 above which a triple is tokenised lexically."""

PARSER_SECONDS = 10.0
"""CPU seconds that a parser gets for one text, wherever nobody waits for more: in every command."""

TOO_LARGE = f"lexical tokens: over {LEXICAL_ABOVE:,} bytes"
COMMENTS_KEPT = "comments kept: no grammar to find them"


@dataclass(frozen=True, slots=True)
class Reading:
    """How texts of one origin are read: by which grammar, and what to say about it.

    ``timeout`` is the CPU time in seconds that the parser may take for one text.
    """

    grammar: str | None = None
    notes: tuple[str, ...] = ()
    timeout: float | None = None

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
    return Reading(grammar, timeout=timeout)


def is_large(text: Content) -> bool:
    """Whether a text is tokenised lexically for its size."""
    if not isinstance(text, str) or 4 * len(text) <= LEXICAL_ABOVE:
        return False
    return len(text) > LEXICAL_ABOVE or len(text.encode(errors="surrogatepass")) > LEXICAL_ABOVE


def normalised(content: Content, name: str = "text") -> Content:
    """Normalise a text, or return a ready-made sequence unchanged.

    Raises
    ------
    excise.errors.ContentError
        On anything else; the message calls it by `name`.
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
) -> TokenStream:
    """Return the tokens of a text and their positions (``raw``: whole lines with white space)."""
    if isinstance(content, Tokens) and raw:
        return given(content.by_line())
    if not isinstance(content, str):
        return given(content)
    return raw_stream(content) if raw else stream(content, grammar, cancel, timeout)
