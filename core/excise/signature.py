"""The signature: every choice that changes a number, as one citable string (section 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from excise.errors import OptionError

DEFINITION = 2
"""Version of the definition that this library implements (``v:`` of the signature)."""

LINES_SLIDE_BY_KEY = "2.1"
"""What ``v:`` is at ``line`` and ``anchored``: the lines with a key are the units that slide."""

MAX_ORDER = 4
"""Longest n-gram counted."""

GRANULARITIES = ("nested", "line", "token")
LCS = ("star", "paper")
DELETIONS = ("precision", "f1")
COMMENTS = ("keep", "drop")
PLACES = ("pooled", "anchored")


@dataclass(frozen=True, slots=True)
class Options:
    """The choices that the definition leaves to a caller, checked.

    Attributes
    ----------
    place
        ``pooled``: equal additions and deletions count as in common anywhere. ``anchored``: they
        count in full at the same place of the origin, and a quarter elsewhere. The default is
        ``anchored`` if ``deletion`` is ``f1``, except with ``lcs=paper``, which is pooled only.

    Raises
    ------
    OptionError
        On a value that the definition does not allow. The message lists the allowed ones.
    """

    granularity: str = "nested"
    lcs: str = "star"
    deletion: str = "f1"
    comments: str = "keep"
    place: str = ""

    def __post_init__(self) -> None:
        """Refuse values that the definition does not allow, and choose the default place."""
        if not self.place:
            anchored = self.deletion == "f1" and self.lcs != "paper"
            object.__setattr__(self, "place", "anchored" if anchored else "pooled")
        for name, allowed in _KNOWN.items():
            if (value := getattr(self, name)) not in allowed:
                raise OptionError(f"{name} is {value!r}; it must be one of {', '.join(allowed)}")
        if self.anchored and self.lcs == "paper":
            raise OptionError("place is 'anchored'; with lcs 'paper' it can only be 'pooled'")

    @property
    def anchored(self) -> bool:
        """Whether added and deleted text must be at the same place to count in full."""
        return self.place == "anchored"


_KNOWN = {
    "granularity": GRANULARITIES,
    "lcs": LCS,
    "deletion": DELETIONS,
    "comments": COMMENTS,
    "place": PLACES,
}


def version(options: Options) -> str:
    """Return the version of the definition by which a score of these options is computed.

    >>> version(Options("line")), version(Options("line", place="pooled"))
    ('2.1', '2')
    >>> measure_parts("gran:line|v:2.1")
    {'gran': 'line', 'v': '2.1'}
    """
    by_key = options.granularity == "line" and options.anchored
    return LINES_SLIDE_BY_KEY if by_key else str(DEFINITION)


def head(place: str) -> str:
    """Return what a signature begins with: ``es``, equation 3, or ``pes``, which knows places."""
    return "pes" if place == "anchored" else "es"


def signature(options: Options, tokeniser: str, basis: str = "") -> str:
    """Return the signature of a score: its options, the tokeniser that ran, the version.

    ``basis`` is set for change sets and patches, which have several files.

    >>> signature(Options(), "python@0.13.0/2")
    'pes|gran:nested|lcs:star|place:anchored|del:f1|n:4|comments:keep|tok:python@0.13.0/2|v:2'
    """
    deletion = "p" if options.deletion == "precision" else "f1"
    return (
        f"{head(options.place)}|gran:{options.granularity}|lcs:{options.lcs}|place:{options.place}|del:{deletion}"
        f"|n:{MAX_ORDER}|comments:{options.comments}|tok:{tokeniser}"
        f"{f'|basis:{basis}|key:none' if basis else ''}|v:{version(options)}"
    )


_CHOICES = {
    "gran": "granularity",
    "lcs": "lcs",
    "place": "place",
    "del": "deletion",
    "comments": "comments",
}
_FIXED = {"n": (str(MAX_ORDER),), "v": (str(DEFINITION), LINES_SLIDE_BY_KEY)}
PRESETS = {
    f"es-{name}": f"es|gran:{name}|lcs:paper|place:pooled|del:p|comments:drop"
    for name in ("token", "line")
}
"""The paper's measures as published."""

_OUTCOMES = ("tok", "basis", "key", "bs", "seed")
"""Parts of a signature that texts and commands decide, and nobody chooses."""


def measure_parts(text: str) -> dict[str, str]:
    """Return the parts of a signature as it is printed, or of some of its parts, by their keys.

    A name of `PRESETS` stands for its parts.

    >>> measure_parts("lcs:paper|place:pooled")
    {'lcs': 'paper', 'place': 'pooled'}
    >>> measure_parts("pes|gran:line")
    {'gran': 'line', 'place': 'anchored'}

    Raises
    ------
    OptionError
        If a part is unknown or given twice, or belongs to another version of the definition.
    """
    parts: dict[str, str] = {}
    known = (*_CHOICES, *_FIXED, *_OUTCOMES)
    given = [part.strip() for part in PRESETS.get(text.strip(), text).split("|")]
    for index, part in enumerate(given):
        key, colon, value = part.partition(":")
        if index == 0 and part in ("", "es", "pes"):
            continue
        if not (colon and value and key in known):
            raise OptionError(
                f"{part!r} is no part of a measure; write KEY:VALUE|.. with {', '.join(known)},"
                f" or one of {', '.join(PRESETS)}"
            )
        if key in parts:
            raise OptionError(f"{key} is given twice: {parts[key]} and {value}")
        if key in _FIXED and value not in _FIXED[key]:
            raise OptionError(
                f"{key}:{value} is another measure; this version computes {key}:{_FIXED[key][0]}"
            )
        parts[key] = value
    if given[0] == "pes" and parts.setdefault("place", "anchored") != "anchored":
        raise OptionError("pes is placed: with place:pooled the measure is es")
    return parts


def measure_options(parts: Mapping[str, str], deletion: str = "f1") -> Options:
    """Return the choices among the parts of a measure.

    Raises
    ------
    OptionError
        On a value that the definition does not allow.

    Examples
    --------
    >>> measure_options({"del": "p"}).place
    'pooled'
    """
    chosen = {_CHOICES[key]: value for key, value in parts.items() if key in _CHOICES}
    if chosen.get("deletion") == "p":
        chosen["deletion"] = "precision"
    return Options(**{"deletion": deletion, **chosen})


def check_measure(parts: Mapping[str, str], computed: str) -> None:
    """Refuse a score whose signature disagrees with the parts that were asked for.

    Raises
    ------
    OptionError
        Where they disagree: in the tokeniser, say, if the texts are in another language.
    """
    actual = measure_parts(computed)
    for key in _OUTCOMES:
        if key in parts and parts[key] != actual.get(key, parts[key]):
            raise OptionError(
                f"the measure has {key}:{parts[key]}, and these texts {key}:{actual[key]}"
            )
