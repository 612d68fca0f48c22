"""Token streams: what is compared, where each token stands, and as which int (section 1)."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, count, groupby, islice, pairwise
from operator import itemgetter

from excise import lexical, syntax
from excise.errors import OptionError
from excise.kernels._lexer import Lexer
from excise.kernels._walk import CancelFlag
from excise.text import TokenList, line_key, raw_lines

GIVEN = "given"
TOKENS = 2
"""Version of the rules by which a tree becomes tokens (``tok:`` of the signature)."""

LEXICAL = "lexical"
BLANK = -1


@dataclass(frozen=True, slots=True)
class Tokens:
    """A ready-made sequence of tokens that share lines.

    Attributes
    ----------
    tokens
        Hashables.
    lines
        The line of each token: 0 or more, never decreasing.

    Raises
    ------
    OptionError
        Where lines and tokens do not go together.

    Examples
    --------
    >>> Tokens(["x", "=", "1", "y"], [0, 0, 0, 1]).by_line()
    (('x', '=', '1'), ('y',))
    """

    tokens: Sequence[Hashable]
    lines: Sequence[int]

    def __post_init__(self) -> None:
        """Refuse lines that are not the lines of these tokens."""
        object.__setattr__(self, "tokens", tuple(self.tokens))
        object.__setattr__(self, "lines", tuple(self.lines))
        if len(self.lines) != len(self.tokens):
            raise OptionError(f"{len(self.lines)} lines for {len(self.tokens)} tokens")
        if any(after < before for before, after in pairwise((0, *self.lines))):
            raise OptionError("the lines of tokens count from 0 and never decrease")

    def by_line(self) -> tuple[tuple[Hashable, ...], ...]:
        """Return the tokens of every line, the empty lines left out."""
        rows = groupby(zip(self.lines, self.tokens, strict=True), key=itemgetter(0))
        return tuple(tuple(token for _, token in row) for _, row in rows)


class Vocabulary:
    """Names for hashables: the ints 0, 1, .. in order of first sight, but for what is reserved."""

    __slots__ = ("_names", "_next")

    def __init__(self) -> None:
        self._next = count()
        self._names: defaultdict[Hashable, int] = defaultdict(self._next.__next__)

    def __len__(self) -> int:
        return len(self._names)

    def items(self, start: int = 0) -> list[Hashable]:
        """Return the items named `start` and above, in the order of their names."""
        return list(islice(self._names, start, None))

    def number(self, item: Hashable) -> int | None:
        """Return the name of an item, or None if it has none."""
        return self._names.get(item)

    def intern(self, items: Iterable[Hashable]) -> array[int]:
        """Return the names of the items, naming new ones."""
        return array("i", map(self._names.__getitem__, items))

    def reserve(self, number: int) -> int:
        """Return the first of so many names in a row, which no item gets by itself."""
        first = next(self._next)
        self._next = count(first + number)
        self._names.default_factory = self._next.__next__
        return first

    def adopt(self, items: Iterable[Hashable], names: Iterable[int]) -> None:
        """Give items without names those that were reserved for them."""
        self._names.update(zip(items, names, strict=True))


@dataclass(frozen=True, slots=True)
class Lines:
    """A token stream as ints of a vocabulary, by lines.

    Line l has the key ``keys[l]`` (None: blank) and the tokens ``first[l]`` to ``first[l + 1]``.
    ``ids[l]`` names key and tokens together, so that equal ids are equal lines; -1: blank.
    Where ``are_lexical``, a key decides its tokens: ``ids`` name the keys, and ``keys`` is empty.
    ``comments`` are the indices of tokens that are comments, ascending.
    """

    tokens: array[int]
    first: array[int]
    keys: Sequence[Hashable | None]
    ids: array[int]
    comments: array[int] = field(default_factory=lambda: array("i"))
    are_lexical: bool = False

    def code(self) -> bytes:
        """Return all tokens but comments, as bytes."""
        if not self.comments:
            return self.tokens.tobytes()
        import numpy as np

        return np.delete(np.frombuffer(self.tokens, dtype=np.intc), self.comments).tobytes()


def lines_of(found: TokenList, vocabulary: Vocabulary) -> Lines:
    """Intern a stream."""
    tokens = vocabulary.intern(found.tokens)
    first = first_tokens(found.lines, len(found.keys))
    ids = line_ids(tokens, first, found.keys, vocabulary)
    return Lines(tokens, first, found.keys, ids, array("i", found.comments))


def lexical_lines(text: str, lexer: Lexer) -> Lines:
    """Return what `lines_of` makes of the lexical stream of a text, without the stream.

    Names are others, but the same names are equal in all texts of the lexer.
    """
    tokens, first, ids = lexer.read(text)
    return Lines(tokens, first, (), ids, are_lexical=True)


def raw_lines_of(text: str, vocabulary: Vocabulary) -> Lines:
    """Return what `lines_of` makes of the raw stream of a text, without the stream and its keys."""
    tokens = vocabulary.intern(raw_lines(text))
    return Lines(tokens, array("i", range(len(tokens) + 1)), (), tokens)


def lexical_part(
    text: str, lines: Lines, line_starts: Sequence[int], start: int, stop: int
) -> TokenList:
    """Return some tokens of the lexical stream of a text, and no keys: only their lines are read.

    - ``line_starts``: the code point at which each line starts.
    - ``start``, ``stop``: two places among the tokens, the second one exclusive.
    """
    if start == stop:
        return TokenList()
    low, high = (bisect_right(lines.first, token) - 1 for token in (start, stop - 1))
    before, skipped = line_starts[low], start - lines.first[low]
    end = line_starts[high + 1] if high + 1 < len(line_starts) else len(text)
    found = lexical.tokenise(text[before:end]).part(skipped, skipped + stop - start)
    return TokenList(
        found.tokens,
        [low + line for line in found.lines],
        [before + place for place in found.starts],
        [before + place for place in found.ends],
    )


def line_ids(
    tokens: array[int], first: array[int], keys: Sequence[Hashable | None], vocabulary: Vocabulary
) -> array[int]:
    """Name each line by its key and its tokens."""
    data, size = tokens.tobytes(), tokens.itemsize
    places = [place * size for place in first]
    lines = zip(keys, places, places[1:], strict=False)
    ids = vocabulary.intern((key, data[start:stop]) for key, start, stop in lines)
    for line, key in enumerate(keys):
        if key is None:
            ids[line] = BLANK
    return ids


def first_tokens(lines: Iterable[int], count: int) -> array[int]:
    """Return the first token of each of `count` lines, and one past the last token."""
    numbers = [0] * (count + 1)
    for line in lines:
        numbers[line + 1] += 1
    return array("i", accumulate(numbers))


def stream(
    text: str, grammar: str | None, cancel: CancelFlag | None = None, timeout: float | None = None
) -> TokenList:
    """Tokenise a normalised text by a grammar of the pack, or lexically without one."""
    found = syntax.tokenise(text, grammar, cancel, timeout) if grammar else lexical.tokenise(text)
    found.keys = line_keys(text)
    return found


def given(content: Tokens | Iterable[Hashable]) -> TokenList:
    """Return a ready-made sequence as a stream.

    Without lines every token stands on a line of its own, so that the three granularities coincide.
    """
    if isinstance(content, Tokens):
        rows = content.by_line()
        numbers = [number for number, row in enumerate(rows) for _ in row]
        return TokenList(list(content.tokens), numbers, keys=rows)
    items = list(content)
    return TokenList(items, list(range(len(items))), keys=[(item,) for item in items])


def raw_stream(text: str) -> TokenList:
    """Return the lines of a text, white space and line end included, as tokens (guard 2)."""
    lines = raw_lines(text)
    ends = list(accumulate(map(len, lines)))
    keys = [(line,) for line in lines]
    return TokenList(lines, list(range(len(lines))), [0, *ends[:-1]], ends, keys=keys)


def line_keys(text: str) -> tuple[str | None, ...]:
    """Return the key of every line, None for a blank one."""
    return tuple(line_key(line) or None for line in text.split("\n"))


def tokeniser(content: object, grammar: str | None) -> str:
    """Name what turns a content into tokens, as signatures have it."""
    if not isinstance(content, str):
        return GIVEN
    return f"{grammar}@{syntax.version()}/{TOKENS}" if grammar else LEXICAL
