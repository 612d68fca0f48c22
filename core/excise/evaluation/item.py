"""The input of a measure: one output with its origin and references, read once for all measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from excise import syntax
from excise.errors import OptionError, Unparsable
from excise.reading import PARSER_SECONDS, Reading, read
from excise.signature import Options
from excise.text import normalise, strip_blank

__all__ = ["Item"]


@dataclass(frozen=True, slots=True)
class Item:
    r"""One output to evaluate, read once for all measures.

    Attributes
    ----------
    origin, references, hypothesis
        The texts as measures see them: without BOM, with ``\n`` line ends and, at
        ``comments=drop``, without comments, trailing white space and blank lines.
    texts
        The same three before comments were dropped, for measures that drop them themselves.
    grammar
        The grammar of the texts; None if it is unknown.
    language, path, comments, timeout
        The arguments of `of`.
    notes
        Remarks for readers, such as ``comments kept: no grammar to find them``.
    """

    origin: str
    references: tuple[str, ...]
    hypothesis: str
    texts: tuple[str, tuple[str, ...], str]
    grammar: str | None = None
    language: str | None = None
    path: str | None = None
    comments: str = "keep"
    notes: tuple[str, ...] = ()
    timeout: float | None = None

    @classmethod
    def of(
        cls,
        *,
        origin: str,
        reference: str | Sequence[str],
        hypothesis: str,
        language: str | None = None,
        path: str | None = None,
        comments: str = "keep",
        timeout: float | None = PARSER_SECONDS,
    ) -> Item:
        """Read one output.

        Parameters
        ----------
        origin, hypothesis
            Texts.
        reference
            A text, or several of them.
        language, path
            Name the grammar by which comments are found and tokens are made.
        comments
            ``keep``, or ``drop``, as in the Excision Score paper before every measure.
        timeout
            CPU seconds that a parser may take for one text. If it takes more, comments are kept and
            tokens are lexical.

        Raises
        ------
        OptionError
            Without any reference, on anything except text, or on an unknown ``comments``.
        """
        references = (reference,) if isinstance(reference, str) else tuple(reference)
        _check(origin, references, hypothesis)
        first, *middle, last = [normalise(text) for text in (origin, *references, hypothesis)]
        options = Options(comments=comments)
        texts = (first, tuple(middle), last)
        reading = read((first, *middle, last), language, path, options, timeout)
        if comments == "drop":
            try:
                first, *middle, last = [_bare(text, reading) for text in (first, *middle, last)]
            except Unparsable as error:
                reading = Reading(None, (f"comments kept: {error}",))
                first, *middle, last = map(strip_blank, (first, *middle, last))
        return cls(
            first, tuple(middle), last, texts, reading.grammar, language, path, comments,
            tuple(note for note in reading.notes if note.startswith("comments")), timeout,
        )  # fmt: skip


def _check(origin: object, references: Sequence[object], hypothesis: object) -> None:
    if not references:
        raise OptionError("reference is an empty list; at least one reference is needed")
    named = {"origin": origin, "hypothesis": hypothesis}
    named |= {f"reference {index}": text for index, text in enumerate(references, start=1)}
    for name, text in named.items():
        if not isinstance(text, str):
            raise OptionError(f"{name} is {type(text).__name__}; it must be text")


def _bare(text: str, reading: Reading) -> str:
    if reading.grammar is None:
        return strip_blank(text)
    return syntax.drop_comments(text, reading.grammar, timeout=reading.timeout)
