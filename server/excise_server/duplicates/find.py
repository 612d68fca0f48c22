"""Proposals that may be about one issue: two answers for a pair, other explanations, and reasons.

A proposal is what one person sent to be merged, as one patch with one message. The reasons why two
of them are related are a few of their own lines and words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial

from excise import Cluster
from excise.agreement import SAME
from excise.components import components
from excise.patches import IGNORED, Likeness, Message, Patch, Pool, joined, patch_id, postings
from excise.patches.blocks import text_of
from excise.patches.evidence import (
    COMMENT,
    Background,
    Bag,
    ChangeCounts,
    Evidence,
    EvidenceReader,
    place_of,
)
from excise.patches.features import compared
from excise.patches.related import (
    LEVELS,
    Level,
    RelatedPool,
    Relation,
    related_signature,
)
from excise_server.wire.documents import SharedLine, SharedReasons

# --- proposals

_MAIL = re.compile(r"<([^<>]+)>\s*$")
_PICKED = re.compile(r"\(cherry picked from commit [0-9a-f]{7,64}\)")
_BACKPORT = re.compile(r"\bback-?port", re.I)
_CLOSES = re.compile(
    r"\b(?:close|fix|resolve)(?:e?[sd])?\b:?[ \t]{1,9}(?:(?:issue|bug)[ \t])?"
    r"(?:(?:[\w.-]{1,99}/[\w.-]{1,99})?#|GH-"
    r"|https?://[\w./-]{1,399}(?:issues/|bugs/|show_bug\.cgi\?id=))([1-9]\d{0,8})\b",
    re.I,
)
_MOST_CLOSED = 3
_BOT = re.compile(r"\[bot\]|\b(?:dependabot|renovate|greenkeeper|pyup-bot|snyk-bot)\b", re.I)
_VERSION = re.compile(r"\b[0-9a-f]{7,64}\b|\bv?\d[\w.+-]*")

Member = tuple[str, Message]
"""The id of a message, and the message."""

Kept = tuple[str, Callable[[], Patch], ChangeCounts]
"""A patch that was read before: its patch-id, a function that reads it, and its counts."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A patch, a series or a pull request.

    - ``text``: its messages.
    - ``patch``: all of its files, of a series one patch after the other, or a function that reads
      them if they are seldom needed (`whole`).
    - ``state``: ``merged`` or ``closed`` if that is known, else empty.
    - ``commits``: the ids of its commits, if they are known.
    - ``between``: its base and its head, if it is one of a repository.
    - ``counts``: the counted features of its patches, if they were counted before.
    """

    id: str
    title: str
    text: str
    author: str
    patch: Patch | Callable[[], Patch]
    parts: frozenset[str] = frozenset()
    state: str = ""
    commits: frozenset[str] = frozenset()
    between: tuple[str, str] | None = None
    messages: frozenset[str] = frozenset()
    counts: tuple[ChangeCounts, ...] = ()

    @property
    def whole(self) -> Patch:
        """The patch, read if it has to be."""
        return self.patch() if callable(self.patch) else self.patch

    def evidence(self, reader: EvidenceReader) -> Evidence:
        """Return the evidence for the issue that it is about."""
        counts = self.counts or (reader.counted(self.whole),)
        return reader.weighed(counts, self.title, self.text)

    @property
    def who(self) -> str:
        """The identity of an author: the address in lower case, or else the name."""
        match = _MAIL.search(self.author)
        return (match[1] if match else self.author).strip().lower()

    def is_same_as(self, other: Proposal) -> bool:
        """Whether two proposals are the same one: equal names, patches and messages."""
        names = {self.id.rpartition("/")[2], other.id.rpartition("/")[2]}
        return len(names) == 1 and self.parts == other.parts and self.text == other.text

    def is_stacked_with(self, other: Proposal) -> bool:
        """Whether they share a commit, or one has all patches of the other one and more."""
        if self.commits & other.commits:
            return True
        return bool(self.parts and other.parts) and (
            self.parts < other.parts or other.parts < self.parts
        )

    @property
    def closes(self) -> frozenset[str]:
        """The issues that its messages say it closes, as ``#12``: none if these are many.

        The host and the project are not looked at.
        """
        text = COMMENT.sub("", f"{self.title}\n{self.text}")
        found = {f"#{number}" for number in _CLOSES.findall(text)}
        return frozenset(found if len(found) <= _MOST_CLOSED else ())


def proposals_of(members: Sequence[Member], kept: Sequence[Kept | None] = ()) -> list[Proposal]:
    """Return the proposals in messages: one for each series, none without a patch.

    - ``members``: the messages and their ids, in the order in which they were sent.
    - ``kept``: for each member, the stored counts of its patch. Its message then has files without
      hunks.
    """
    proposals = []
    for posting in postings([message for _, message in members]):
        if not posting.patch.files:
            continue
        ids, messages = zip(*(members[number] for number in posting.messages), strict=True)
        texts = [f"{m.title}\n{m.text}" if m.title not in m.text else m.text for m in messages]
        if kept:
            counted = [part for number in posting.messages if (part := kept[number]) is not None]
            patch: Patch | Callable[[], Patch] = partial(_read_again, counted)
            parts = frozenset(name for name, _, _ in counted)
        else:
            counted, patch = [], posting.patch
            parts = frozenset(patch_id(m.patch) for m in messages if m.patch.files)
        proposals.append(
            Proposal(
                ids[0],
                posting.title,
                "\n".join(texts),
                messages[0].author,
                patch,
                parts,
                messages=frozenset(ids),
                counts=tuple(counts for _, _, counts in counted),
            )
        )
    return proposals


def _read_again(counted: Sequence[Kept]) -> Patch:
    return joined(read() for _, read, _ in counted)


# --- reasons

UNDONE = 0.9
"""Share of the changed lines of both that one undoes, from which it reverts the other."""

TELLING = 12
"""The fewest letters and digits of an added line that is a reason by itself."""

PLACES = 3
WORDS = 3
LONGEST = 160
"""The most characters of a line that are shown."""


class _ChangedLines:
    """The lines that a proposal adds and deletes, stripped, that are not blank.

    ``places``: by its term of ``where``, the path, number and text of a line of the target, the
    first of them.
    """

    def __init__(self, patch: Patch) -> None:
        self.added, self.deleted = Counter[str](), Counter[str]()
        self.places: dict[str, tuple[str, int, str]] = {}
        for pair in compared(patch, IGNORED)[0]:
            path = pair.old or pair.path
            for hunk in pair.hunks:
                number = hunk.old_start
                for line in text_of(hunk.lines):
                    bare = line[1:].strip()
                    self.places.setdefault(place_of(path, line), (path, number, bare[:LONGEST]))
                    if bare and line[:1] != " ":
                        (self.deleted if line[:1] == "-" else self.added)[bare] += 1
                    number += line[:1] != "+"

    @cached_property
    def bumped(self) -> frozenset[str]:
        """The lines of a patch that changes versions alone, without these, or else none."""
        if self.added.total() != self.deleted.total():
            return frozenset()
        added, deleted = (
            Counter(_VERSION.sub("0", line) for line in lines.elements())
            for lines in (self.added, self.deleted)
        )
        return frozenset(added if added == deleted else ())

    def undoes(self, other: _ChangedLines) -> bool:
        """Whether one patch deletes nearly all lines that the other adds, and the reverse."""
        mirrored = (self.added & other.deleted).total() + (self.deleted & other.added).total()
        alike = (self.added & other.added).total() + (self.deleted & other.deleted).total()
        every = self.added, self.deleted, other.added, other.deleted
        return mirrored > alike and 2 * mirrored >= UNDONE * sum(lines.total() for lines in every)


def reasons_of(
    lines: _ChangedLines,
    other: _ChangedLines,
    a: Evidence,
    b: Evidence,
    is_common: Callable[[str], bool],
    closes: Iterable[str],
) -> SharedReasons:
    """Return the reasons of a pair.

    - ``lines``, ``other``: what the two change, of which lines are shown.
    - ``closes``: the issues that both close.
    - ``is_common``: whether a term of ``where`` is in so many patches that it is not a reason.
    """
    places = [
        term
        for term in _heaviest(a.where, b.where, len(a.where.terms))
        if "\0" in term and term in lines.places and not is_common(term)
    ]
    shown = (lines.places[term] for term in places[:PLACES])
    where = [SharedLine(path=path, line=number, text=text) for path, number, text in shown]
    # The longest line that both add, if it has enough letters to be meaningful.
    both = lines.added.keys() & other.added.keys()
    telling = [line for line in both if sum(map(str.isalnum, line)) >= TELLING]
    added = [f"+{max(telling, key=lambda line: (len(line), line))[:LONGEST]}"] if telling else []
    words = _heaviest(a.what, b.what, 8)
    what = added or [word for word in words if word[:1] in "+-" and not _is_part(word, words)]
    why = _heaviest(a.why, b.why, 8)
    why_words = [word for word in why if not _is_part(word, why)]
    return SharedReasons(
        closes=sorted(closes), where=where, what=what[:WORDS], why=why_words[:WORDS]
    )


def _heaviest(a: Bag, b: Bag, most: int) -> list[str]:
    """Return the shared terms with the largest products of weights, equal ones by name."""
    weight_of = dict(zip(b.terms, b.weights, strict=True))
    shared = [
        (w * weight_of[t], t) for t, w in zip(a.terms, a.weights, strict=True) if t in weight_of
    ]
    return [term for _, term in sorted(shared, key=lambda pair: (-pair[0], pair[1]))[:most]]


def _is_part(word: str, others: Iterable[str]) -> bool:
    return any(word != longer and word.lstrip("+-") in longer and word[0] == longer[0]
               for longer in others)  # fmt: skip


# --- pairs

AUTHOR = "by the same author"
BUILDS_ON = "builds on"
REVERTS = "reverts"
BUMPS = "version bumps"
BACKPORT = "backport"

COMMON = 20
"""A line in more than one of so many proposals is not a reason, .."""
FEW = 8
""".. unless it is in no more than these."""

LITTLE = 0.05
"""The least mean of two that are of one issue because both say so: .992 of those in one repository
have it, and .007 of pairs of two repositories, in which one number means two issues."""

CARRIED = 0.9
"""Cosine of two changes from which a stated backport is taken for one of the other."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two proposals, and both answers.

    - ``likeness``: whether they are the same edit, or None for a pair that is not explained.
    - ``otherwise``: another explanation of their likeness (one author, a stack, a revert, a
      backport, two bumps), or empty.
    - ``closes``: the issues that both say they close.
    """

    new: int
    other: int
    relation: Relation
    likeness: Likeness | None = None
    is_same_edit: bool = False
    otherwise: str = ""
    reasons: SharedReasons | None = None
    closes: frozenset[str] = frozenset()

    @property
    def level(self) -> Level:
        """Whether they are likely about one issue: what both close, or else the numbers tell."""
        return "likely" if self.closes else self.relation.level

    @property
    def word(self) -> str:
        """The word for people: the first that holds."""
        if self.is_same_edit:
            return "same edit"
        if self.otherwise == BUMPS:
            return BUMPS
        return LEVEL_WORDS[self.level] or "not related"


LEVEL_WORDS: dict[Level, str] = {
    "likely": "likely the same issue",
    "possibly": "possibly the same issue",
    "none": "",
}


@dataclass(frozen=True, slots=True)
class Duplicates:
    """The pairs of proposals.

    - ``proposals``: first the proposals in question, then the others.
    - ``asked``: the number of proposals in question.
    - ``pairs``: the most probable pairs first, and pairs with another explanation last.
    """

    proposals: tuple[Proposal, ...]
    asked: int
    pairs: tuple[Pair, ...]
    signature: str


def find_duplicates(
    queries: Sequence[Proposal],
    others: Sequence[Proposal] = (),
    *,
    least: Level = "possibly",
    top: int = 5,
    with_why: bool = True,
    background: Background | None = None,
    advance: Callable[[float], None] = lambda done: None,
) -> Duplicates:
    """Compare proposals with others, or with each other if there are no others.

    - ``least``: the lowest level of the returned pairs; ``none`` for all that have anything in
      common.
    - ``top``: the number of pairs for each proposal in question; 0 for all.
    - ``with_why``: whether messages count.
    - ``advance``: called with the number of proposals that were read.
    """
    proposals = (*queries, *others)
    finder = _PairFinder(proposals, least, EvidenceReader(background), advance, with_why=with_why)
    pairs: dict[tuple[int, int], Pair] = {}
    among = range(len(queries), len(proposals)) if others else None
    for index in range(len(queries)):
        for pair in finder.nearest(index, among, top):
            pairs.setdefault((min(pair.new, pair.other), max(pair.new, pair.other)), pair)
    explained = finder.explained(pairs.values())
    return Duplicates(proposals, len(queries), explained, finder.signature)


def _order(pair: Pair) -> tuple[bool, bool, float, float, int, int]:
    relation = pair.relation
    surest = not pair.is_same_edit, not pair.closes
    return (*surest, -relation.probability, -relation.mean, pair.new, pair.other)


class _PairFinder:
    """Looks for the pairs of proposals, and says all that is known of one."""

    def __init__(
        self,
        proposals: Sequence[Proposal],
        least: Level,
        reader: EvidenceReader,
        advance: Callable[[float], None],
        *,
        with_why: bool = True,
    ) -> None:
        self.proposals, self.least = proposals, least
        self.signature = related_signature(reader.background)
        self.pool = pool = RelatedPool(with_why=with_why)
        for done, proposal in enumerate(proposals, start=1):
            pool.add(proposal.evidence(reader))
            advance(done)
        self._lines = lru_cache(_LINES_KEPT)(
            lambda index: _ChangedLines(self.proposals[index].whole)
        )
        # The pool of "same edit" counts only the pairs that are asked about.
        self._edits = Pool()
        self._numbers: dict[int, int] = {}
        self._places = Counter(t for e in pool.evidence for t in e.where.terms)
        self._equal: dict[frozenset[str], list[int]] = {}
        self._closes = [proposal.closes if with_why else frozenset() for proposal in proposals]
        self._closing: dict[str, list[int]] = {}
        self._closers: dict[int, dict[int, Relation]] = {}
        for index, proposal in enumerate(proposals):
            if proposal.parts:  # without a patch nothing is equal
                self._equal.setdefault(proposal.parts, []).append(index)
            for issue in self._closes[index]:
                self._closing.setdefault(issue, []).append(index)

    def nearest(self, new: int, among: range | None, top: int) -> Iterator[Pair]:
        """Yield the pairs of a proposal that count, the same edits first."""
        evidence = self.pool.evidence[new]
        neighbours = self.pool.neighbours(evidence, 0.0 if self.least == "none" else _LEAST)
        near = {
            n.number: n.relation
            for n in neighbours
            if LEVELS.index(n.relation.level) <= LEVELS.index(self.least)
        }
        # Equal patches without much text may share too little to be neighbours.
        for number in self._equal.get(self.proposals[new].parts, [])[:_MOST_EQUAL]:
            near.setdefault(number, self.pool.relation(new, number))
        near |= self.closers(new)
        pairs = [
            self.pair(new, number, relation)
            for number, relation in near.items()
            if number != new
            and (among is None or number in among)
            and not self.proposals[new].is_same_as(self.proposals[number])
        ]
        yield from sorted(pairs, key=_order)[: top or None]

    def closers(self, index: int) -> dict[int, Relation]:
        """Return the proposals that close an issue which this one closes, with some in common."""
        if index not in self._closers:
            issues = self._closes[index]
            closing = {at for issue in issues for at in self._closing[issue][:_MOST_CLOSING]}
            relations = {at: self.pool.relation(index, at) for at in sorted(closing - {index})}
            self._closers[index] = {at: r for at, r in relations.items() if r.mean >= LITTLE}
        return self._closers[index]

    def _number(self, index: int) -> int:
        if index not in self._numbers:
            self._numbers[index] = self._edits.add(self.proposals[index].whole)
        return self._numbers[index]

    def pair(self, new: int, other: int, relation: Relation | None = None) -> Pair:
        """Return a pair without its explanation."""
        if relation is None:
            relation = self.pool.relation(new, other)
        parts = self.proposals[new].parts
        is_same_edit = bool(parts) and parts == self.proposals[other].parts
        both = self._closes[new] & self._closes[other]
        closes = both if relation.mean >= LITTLE else frozenset[str]()
        return Pair(new, other, relation, is_same_edit=is_same_edit, closes=closes)

    def explained(self, pairs: Collection[Pair], *, always: bool = False) -> tuple[Pair, ...]:
        """Return pairs explained, the most probable first, and last those with another reason.

        Pairs that hang together are read one after the other, as not all lines are kept.
        """
        edges = [(pair.new, pair.other) for pair in pairs]
        groups = enumerate(components(len(self.proposals), edges))
        group_of = {member: at for at, group in groups for member in group}
        ordered = sorted(pairs, key=_order)
        together = sorted(range(len(ordered)), key=lambda at: group_of[ordered[at].new])
        explained = {at: self._explained(ordered[at], always) for at in together}
        pairs = [explained[at] for at in range(len(ordered))]
        return tuple(sorted(pairs, key=lambda pair: bool(pair.otherwise)))

    def _explained(self, pair: Pair, always: bool) -> Pair:
        """Return a pair with everything that is reported about it, or little if not related."""
        if pair.level == "none" and not (pair.is_same_edit or always):
            return pair
        lines, other = (self._lines(number) for number in (pair.new, pair.other))
        evidence = [self.pool.evidence[number] for number in (pair.new, pair.other)]
        likeness = self._edits.likeness(self._number(pair.new), self._number(pair.other))
        is_common, closes = self._is_common, pair.closes
        return replace(
            pair,
            likeness=likeness,
            is_same_edit=pair.is_same_edit or likeness.word in SAME,
            otherwise=self._otherwise(pair, lines, other),
            reasons=reasons_of(lines, other, evidence[0], evidence[1], is_common, closes),
        )

    def _otherwise(self, pair: Pair, lines: _ChangedLines, other: _ChangedLines) -> str:
        a, b = (self.proposals[number] for number in (pair.new, pair.other))
        if lines.undoes(other):
            return REVERTS
        if a.is_stacked_with(b):
            return BUILDS_ON
        is_said = any(_PICKED.search(p.text) or _BACKPORT.search(p.title) for p in (a, b))
        if is_said and pair.relation.what >= CARRIED:
            return BACKPORT
        is_own = bool(a.who) and a.who == b.who
        are_serial = is_own or (_BOT.search(a.author) and _BOT.search(b.author))
        if are_serial and a.parts != b.parts and lines.bumped & other.bumped:
            return BUMPS
        return AUTHOR if is_own else ""

    def _is_common(self, term: str) -> bool:
        return self._places[term] > max(FEW, len(self.proposals) // COMMON)


_LINES_KEPT = 2000
"""Proposals of which changed lines are kept."""

_LEAST = 0.5
"""Below the probability at which "possibly" begins."""

_MOST_EQUAL = 1000
"""The most equal proposals that are examined: one version bump may occur thousands of times."""


_MOST_CLOSING = 100
"""The most proposals that are examined of those that close one issue."""


def find_issues(
    proposals: Sequence[Proposal], advance: Callable[[float], None] = lambda done: None
) -> tuple[Duplicates, tuple[Cluster, ...]]:
    """Compare proposals with each other, and group those that are likely about one issue.

    Raises excise.patches.PatchError if too many hang together.

    - ``advance``: called with the number of proposals that were read.

    Returns: the nearest pairs of each proposal, and each member of a group with its representative;
    and the groups by average linkage on 1 - mean, the largest first. Those with proposals that say
    they close one issue are one.
    """
    finder = _PairFinder(proposals, "possibly", EvidenceReader(), advance)
    groups = finder.pool.groups()
    group_of = {member: at for at, group in enumerate(groups) for member in group.members}
    everyone = range(len(proposals))
    edges = [(group_of[at], group_of[other]) for at in everyone for other in finder.closers(at)]
    joined = [
        Cluster(
            tuple(sorted(member for at in own for member in groups[at].members)),
            groups[own[0]].representative,  # of the largest
            # Of groups that only an issue joins, nobody has compared all members.
            groups[own[0]].min_similarity if len(own) == 1 else 0.0,
        )
        for own in components(len(groups), edges)
    ]
    groups = tuple(sorted(joined, key=lambda c: (-len(c.members), c.members)))
    pairs = [pair for index in everyone for pair in finder.nearest(index, None, 5)]
    pairs += [
        finder.pair(group.representative, member)
        for group in groups
        for member in group.members
        if member != group.representative
    ]
    distinct = {(min(pair.new, pair.other), max(pair.new, pair.other)): pair for pair in pairs}
    explained = finder.explained(distinct.values(), always=True)
    return Duplicates(tuple(proposals), len(proposals), explained, finder.signature), groups
