"""Evidence about the issue that a patch addresses: what it changes, where, and why.

Three bags of weighted terms. A bag depends on its own patch and on the fixed background alone.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from excise.patches.background import Background
from excise.patches.blocks import text_of
from excise.patches.features import IGNORED, ONLY_IGNORED, compared, facts_of
from excise.patches.model import Patch
from excise.patches.subtokens import Subtokens

__all__ = [
    "COUNTS",
    "Bag",
    "ChangeCounts",
    "Evidence",
    "EvidenceReader",
    "place_of",
    "plain_message",
]

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
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_ISSUE = re.compile(
    r"(?:\b[\w.-]{1,100}/[\w.-]{1,100})?(?:#|\b(?:gh|issue|pr)[- ]?#?)\d{1,9}\b", re.I
)
_LINK = re.compile(r"https?://[^\s<>)]{1,2000}")
_MOST_MESSAGE = 20_000
"""Characters of a message that are read."""


@dataclass(frozen=True, slots=True)
class Bag:
    """Terms with weights, in the order of the terms, so that every sum has one order.

    Attributes
    ----------
    terms
        Sorted; no term stands twice.
    weights
        Of each, above 0, divided by the length of the bag; all squares sum up to 1 at most.
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

    Attributes
    ----------
    what
        Signed sub-tokens of the changed lines: ``+retry``, ``-timeout``.
    where
        Old lines touched with their path, headings of hunks, paths.
    why
        Words of the subject and of the message.
    """

    what: Bag = field(default_factory=Bag)
    where: Bag = field(default_factory=Bag)
    why: Bag = field(default_factory=Bag)


@dataclass(frozen=True, slots=True)
class ChangeCounts:
    """The changes of a patch and their positions, before weighing.

    Attributes
    ----------
    added, deleted
        Sub-tokens of the lines, with how often they occur.
    context
        Sub-tokens of the lines around.
    facts
        Terms of header facts.
    where
        Terms of places, with their weights.
    is_aside
        Whether it has only lock files, changelogs and generated lists: ignored beside other parts.
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
        self._signed = _Signed("+"), _Signed("-")

    def evidence(self, patch: Patch, subject: str = "", message: str = "") -> Evidence:
        """Return the evidence of a patch.

        Parameters
        ----------
        patch
            Its files. Lock files, changelogs and generated lists are ignored beside other files.
        subject
            Its subject or title, without tags such as ``[PATCH 1/2]``.
        message
            Its message or description, with or without the subject.
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
        words = {sign: self.words("\n".join(lines)) for sign, lines in signed.items()}
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
        for signed, counts in zip(self._signed, (added, deleted), strict=True):
            for word, n in counts.items():
                weight = math.log1p(n) * self.background.change(word)
                what[signed[word]] = weight * KNOWN if word in context else weight
        return Evidence(Bag.of(what), Bag.of(where), self._why(subject, message))

    def words(self, text: str) -> Counter[str]:
        """Count the sub-tokens of a text."""
        return self._subtokens.of(text)

    def _why(self, subject: str, message: str) -> Bag:
        counts = self.words(
            plain_message(message if subject in message else f"{subject}\n{message}")
        )
        for word in self.words(plain_message(subject)):
            counts[word] += SUBJECT
        weights = {
            word: (1.0 + math.log(n)) * self.background.message(word)
            for word, n in counts.items()
            if word not in CLOSING
        }
        return Bag.of(weights, LITTLE)


class _Signed(dict[str, str]):
    """Words with a sign before them, each held once for all patches."""

    def __init__(self, sign: str) -> None:
        self._sign = sign

    def __missing__(self, word: str) -> str:
        self[word] = term = self._sign + word
        return term


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
    text = _COMMENT.sub(" ", text[:_MOST_MESSAGE])
    text = _TRAILER.sub(" ", _TEMPLATE_LINE.sub(" ", text))
    return _ISSUE.sub(" ", _LINK.sub(" ", text))
