"""Evidence about the issue that a patch addresses: what it changes, where, and why.

Three bags of weighted terms. A bag depends on its own patch and on the fixed background alone.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from sys import intern

from excise.patches.blocks import text_of
from excise.patches.features import IGNORED, ONLY_IGNORED, compared, facts_of
from excise.patches.model import Patch

COUNTS = "counts:1"
"""Version of `ChangeCounts`, for whoever keeps them: what words and places are, and weights."""

KNOWN = 0.5
"""What a changed word counts that the context lines of its patch have, too: it names the
neighbourhood, not the change."""

DELETED = 3.0
"""What a deleted line counts as a place, where a context line counts 1."""

PATH = 0.5
"""What the path of a file counts as a place."""

LITTLE = 50.0
"""Added to the squared length of a message: one of few and common words proves little."""

SUBJECT = 4
"""How often the words of a subject count more than those of its message."""

SHORTEST = 4
"""Characters of a line without blanks that makes a place."""

CLOSING = frozenset({
    "close", "closed", "closes", "fix", "fixed", "fixes", "issue",
    "resolve", "resolved", "resolves",
})  # fmt: skip
"""Words that close an issue, whatever it is about."""

_BLANKS = re.compile(r"\s+")
_TRAILER = re.compile(
    r"^(?:signed-off-by|co-authored-by|reviewed-by|change-id|tested-by|acked-by|reported-by"
    r"|assisted-by|cc|link|closes|fixes|resolves):.*$",
    re.I | re.M,
)
# What a template brings: comments, headings, boxes to tick.
_TEMPLATE_LINE = re.compile(r"^#{1,6}[ \t][^\n]*$|^[ \t]*[-*][ \t]\[[ xX]\][^\n]*$", re.M)
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
"""A comment that came with a template: the author of the message did not write it."""
_ISSUE = re.compile(
    r"(?:\b[\w.-]{1,100}/[\w.-]{1,100})?(?:#|\b(?:gh|issue|pr)[- ]?#?)\d{1,9}\b", re.I
)
_LINK = re.compile(r"https?://[^\s<>)]{1,2000}")
_MOST_MESSAGE = 20_000
"""Characters of a message that are read."""


@dataclass(frozen=True, slots=True)
class Bag:
    """Terms with weights, in the order of the terms, so that every sum has one order.

    - ``terms``: sorted; no term stands twice.
    - ``weights``: of each, above 0, divided by the length of the bag; all squares sum up to 1 at
      most.
    """

    terms: tuple[str, ...] = ()
    weights: array[float] = field(default_factory=lambda: array("d"))

    @classmethod
    def of(cls, weights: Mapping[str, float], little: float = 0.0) -> Bag:
        """Sort and normalise, with `little` added to the squared length."""
        terms = sorted(term for term, weight in weights.items() if weight > 0.0)
        values = [weights[term] for term in terms]
        length = math.sqrt(sum([value * value for value in values]) + little)
        return cls(tuple(terms), array("d", [value / length for value in values]))


@dataclass(frozen=True, slots=True)
class Evidence:
    """The three bags of a patch.

    - ``what``: signed sub-tokens of the changed lines: ``+retry``, ``-timeout``.
    - ``where``: old lines touched with their path, headings of hunks, paths.
    - ``why``: words of the subject and of the message.
    """

    what: Bag = field(default_factory=Bag)
    where: Bag = field(default_factory=Bag)
    why: Bag = field(default_factory=Bag)


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """The changes of a patch and their positions, before weighing.

    - ``added``, ``deleted``: sub-tokens of the lines, with how often they occur.
    - ``context``: sub-tokens of the lines around.
    - ``facts``: terms of header facts.
    - ``where``: terms of places, with their weights.
    - ``is_aside``: whether it has only lock files, changelogs and generated lists: ignored beside
      other parts.
    """

    added: Mapping[str, int]
    deleted: Mapping[str, int]
    context: frozenset[str]
    facts: tuple[str, ...]
    where: Mapping[str, float]
    is_aside: bool = False


class EvidenceReader:
    """Makes evidence of patches under one background."""

    def __init__(self, background: Background | None = None) -> None:
        """Use a background table (default: the one in the package)."""
        self.background = background or Background.shipped()
        self._subtokens = Subtokens()

    def evidence(self, patch: Patch, subject: str = "", message: str = "") -> Evidence:
        """Return the evidence of a patch.

        - ``patch``: its files. Lock files, changelogs and generated lists are ignored beside other
          files.
        - ``subject``: its subject or title, without tags such as ``[PATCH 1/2]``.
        - ``message``: its message or description, with or without the subject.
        """
        return self.weighed([self.counted(patch)], subject, message)

    def counted(self, patch: Patch) -> ChangeCounts:
        """Count what a patch changes and where, for which no background is needed yet."""
        files, notes = compared(patch, IGNORED)
        signed = {"+": list[str](), "-": list[str](), " ": list[str]()}
        facts: list[str] = []
        where: dict[str, float] = {}
        for pair in files:
            path = pair.old or pair.path
            where[path] = PATH
            facts += (f"={pair.path}\0{fact}" for fact in facts_of(pair))
            for hunk in pair.hunks:
                if hunk.heading:
                    where[f"{path}\0@{text_of([hunk.heading])[0]}"] = 1.0
                for line in text_of(hunk.lines):
                    signed[line[:1]].append(line[1:])
                    place = place_of(path, line)
                    if place and (line[:1] == "-" or place not in where):
                        where[place] = DELETED if line[:1] == "-" else 1.0
        words = {sign: self._subtokens.of("\n".join(lines)) for sign, lines in signed.items()}
        context = frozenset(words[" "])
        is_aside = ONLY_IGNORED in notes
        return ChangeCounts(words["+"], words["-"], context, tuple(facts), where, is_aside)

    def weighed(
        self, parts: Sequence[ChangeCounts], subject: str = "", message: str = ""
    ) -> Evidence:
        """Return the evidence of patches that were counted and make one proposal."""
        kept = [part for part in parts if not part.is_aside] or parts
        added: Counter[str] = Counter()
        deleted: Counter[str] = Counter()
        where: dict[str, float] = {}
        for part in kept:
            added.update(part.added)
            deleted.update(part.deleted)
            for term, weight in part.where.items():
                where[term] = max(weight, where.get(term, 0.0))
        context = frozenset[str]().union(*(part.context for part in kept))
        what = {fact: self.background.change("") for part in kept for fact in part.facts}
        for sign, counts in (("+", added), ("-", deleted)):
            for word, n in counts.items():
                weight = math.log1p(n) * self.background.change(word)
                # Held once for all patches.
                what[intern(sign + word)] = weight * KNOWN if word in context else weight
        return Evidence(Bag.of(what), Bag.of(where), self._why(subject, message))

    def _why(self, subject: str, message: str) -> Bag:
        counts = self._subtokens.of(
            plain_message(message if subject in message else f"{subject}\n{message}")
        )
        for word in self._subtokens.of(plain_message(subject)):
            counts[word] += SUBJECT
        weights = {
            word: (1.0 + math.log(n)) * self.background.message(word)
            for word, n in counts.items()
            if word not in CLOSING
        }
        return Bag.of(weights, LITTLE)


def place_of(path: str, line: str) -> str:
    """Return the term of an old line (with its sign), or "" if it is new or says too little."""
    if line[:1] == "+":
        return ""
    bare = _BLANKS.sub("", line[1:])
    return f"{path}\0{bare}" if len(bare) >= SHORTEST else ""


def plain_message(text: str) -> str:
    r"""Return a message without what says nothing of its reason.

    Trailers, templates, links and the numbers of issues are left out.

    >>> plain_message("Keep the cookie, #12\n\n- [x] I have read it\nCc: A <a@b>").split()
    ['Keep', 'the', 'cookie,']
    """
    text = COMMENT.sub(" ", text[:_MOST_MESSAGE])
    text = _TRAILER.sub(" ", _TEMPLATE_LINE.sub(" ", text))
    return _ISSUE.sub(" ", _LINK.sub(" ", text))


# --- words

# ASCII letters, digits, `_` and `$`, and whatever is written beyond ASCII but for its punctuation:
# `\w` would cut scripts with combining marks into consonants.
_WORD = re.compile(
    r"[^\x00-\x23\x25-\x2f:-@\[-^`{-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\s"
    r"\u2000-\u206f\u2190-\u2bff\u3000-\u303f\uff00-\uff0f\uff1a-\uff20]+"
)
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
# Scripts without blanks between words.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_OTHER = re.compile(rf"[{_UNSPACED}]+|[^\d_$\s{_UNSPACED}]+|\d+")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_LONGEST = 80
"""Characters of a word that is cut into parts; longer ones are data, and count as one."""


class Subtokens(dict[str, tuple[str, ...]]):
    """Cuts texts into sub-tokens and remembers the parts of each word."""

    def __missing__(self, word: str) -> tuple[str, ...]:
        self[word] = parts = _parts(word)
        return parts

    def of(self, text: str) -> Counter[str]:
        """Count the sub-tokens of a text, in lower case.

        >>> sorted(Subtokens().of("parseURL(base_url)"))
        ['base', 'base_url', 'parse', 'parseurl', 'url']
        """
        found: Counter[str] = Counter()
        for word, n in Counter(_WORD.findall(text)).items():
            for part in self[word]:
                found[part] += n
        return found


def _parts(word: str) -> tuple[str, ...]:
    """Return the parts of a word, of two characters or more, and the whole if they are several."""
    if len(word) > _LONGEST:
        return (word.lower(),)
    if word.isascii():
        parts = [part.lower() for part in _PART.findall(word) if len(part) > 1]
    else:
        parts = [piece for part in _OTHER.findall(word.lower()) for piece in _pieces(part)]
    return (*parts, word.lower()) if len(parts) > 1 else tuple(parts)


def _pieces(part: str) -> list[str]:
    """Return a part, or of a script without blanks each two neighbours."""
    if len(part) < 3 or not _IS_UNSPACED.match(part):
        return [part]
    return [part[at : at + 2] for at in range(len(part) - 1)]


# --- background

PER_MILLE = 1000.0
RARE = 0.01
"""Added to every share, so that words which no table has weigh ln 100, and not without bound."""


class Background:
    """Weights of sub-tokens: the negative logarithm of the share of patches that have them.

    - ``changes``: by sub-token the share of patches, in thousandths, with it in a line added or
      deleted.
    - ``messages``: the same of messages.
    - ``name``: what stands for both in a signature.

    >>> shipped = Background.shipped()
    >>> shipped.change("return") < shipped.change("zzyzx")
    True
    """

    def __init__(self, changes: Mapping[str, int], messages: Mapping[str, int], name: str) -> None:
        self.name = name
        self._changes, self._messages = _weights(changes), _weights(messages)

    @classmethod
    def shipped(cls) -> Background:
        """Return the table that the package carries (``background.json``, beside this module)."""
        return cls(**json.loads(files(__package__).joinpath("background.json").read_bytes()))

    def change(self, word: str) -> float:
        """Return the weight of a sub-token of a changed line."""
        return self._changes.get(word, _UNKNOWN)

    def message(self, word: str) -> float:
        """Return the weight of a sub-token of a message."""
        return self._messages.get(word, _UNKNOWN)


def _weights(shares: Mapping[str, int]) -> dict[str, float]:
    return {word: _weight(share / PER_MILLE) for word, share in shares.items()}


def _weight(share: float) -> float:
    return -math.log(RARE + (1.0 - RARE) * share)


_UNKNOWN = _weight(0.0)
