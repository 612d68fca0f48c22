"""One document and its revisions, and what the user decides about whole candidates.

A candidate is decided about by id, and need not exist at the moment: it may return. All of this is
changed only by the session that owns it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol
from urllib.parse import unquote

from excise.text import Revision, normalise
from excise_server.foundation.inputs import SourceError, check_text
from excise_server.sources.finding import OriginText

if TYPE_CHECKING:
    from excise_server.wire.lsp import Base


MAX_REVISIONS = 300
"""Most revisions that one document may have."""

OWN_EDITS = "buffer"
"""The id of the editor's text as a revision. A client's revision of this id has its own text."""

MAX_ID = 1000
"""Most characters of an id."""

_DRIVE = re.compile(r"file:///([A-Za-z]):")


class Buffer(Protocol):
    """The text in an editor, which the protocol changes in place."""

    def text(self) -> str:
        """Return the text now."""


CandidateState = Literal["hidden", "rejected"]

MAX_DECISIONS = 10_000
"""Most candidates whose decisions are remembered."""


@dataclass(frozen=True, slots=True)
class CandidateDecision:
    """The decision about one candidate: its state, the commit set as its base, or neither."""

    state: CandidateState | None = None
    base: str | None = None


@dataclass(slots=True)
class CandidateDecisions:
    """The candidates that the user set aside, and the bases that the user set."""

    states: dict[str, CandidateState] = field(default_factory=dict)
    bases: dict[str, str] = field(default_factory=dict)

    def set_aside(self, ids: Iterable[str], state: CandidateState | Literal["shown"]) -> list[str]:
        """Set candidates aside, or have them shown again, and return those changed.

        A hidden candidate can be rejected, and the other way round: the last choice counts.
        """
        changed = []
        for name in dict.fromkeys(ids):
            before = self.states.get(name, "shown")
            if state == "shown":
                self.states.pop(name, None)
            elif len(self.states) < MAX_DECISIONS:
                self.states[name] = state
            if self.states.get(name, "shown") != before:
                changed.append(name)
        return changed

    def of_each(self) -> dict[str, CandidateDecision]:
        """Return the decision about each candidate, by id."""
        names = dict.fromkeys((*self.states, *self.bases))
        return {
            name: CandidateDecision(self.states.get(name), self.bases.get(name)) for name in names
        }

    def recall(self, before: Mapping[str, CandidateDecision]) -> set[str]:
        """Take earlier decisions about candidates that have none yet, and return their ids."""
        fresh = before.keys() - self.of_each().keys()
        for name, choice in before.items():
            if name in fresh and choice.state is not None:
                self.states[name] = choice.state
            if name in fresh and choice.base is not None:
                self.bases[name] = choice.base
        return fresh

    def in_state(self, state: CandidateState) -> list[str]:
        """Return the ids of the candidates in a state, oldest decision first."""
        return [name for name, chosen in self.states.items() if chosen == state]


@dataclass(frozen=True, slots=True)
class Remembered:
    """A pinned origin, and the decisions made with it.

    - ``kept``: hunks, as lines of the origin, in which it stays, with the texts that they had then.
    - ``voices``: the compared revisions, by id: `voice_of` the text of a client's revision that was
      made from this origin, else an empty string, because the revision is replayed from its own
      base.
    """

    origin: str
    kept: Mapping[tuple[int, int], frozenset[str]] = field(default_factory=dict)
    voices: Mapping[str, str] = field(default_factory=dict)

    def knows(self, name: str, voice: str) -> bool:
        """Whether a revision took part in the review, which continues only then."""
        return self.voices.get(name) == voice


def voice_of(text: str) -> str:
    """Return the name of a text, by which it is known again."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class ReviewedRevision:
    """A revision in the review of a document, and what is known of it besides its text.

    ``is_found`` tells that a source found it; all others are the client's. With ``deletes`` it
    deletes the file, and its empty text is not a text. ``notes`` are remarks on a client's
    revision, and ``voice`` names its text, if it was made from the origin.
    """

    revision: Revision
    is_found: bool = False
    deletes: bool = False
    notes: tuple[str, ...] = ()
    voice: str = ""


@dataclass(slots=True)
class ReviewedDocument:
    """One document: open in an editor, or only named by revisions, or both.

    ``saved`` is None until a text is known, and ``obstacle`` says why. ``elsewhere`` is the
    origin that a source provided. ``pinned`` is the origin at the time of the first revision: it
    survives saving and commits, so that neither counts as anybody's edit. ``dismissed`` are found
    revisions that the client removed. ``kept`` are hunks, as lines of the pinned origin, in which
    the user wants it to stay, with the names of the texts that candidates had there.
    ``remembered`` is a review that continues when a revision arrives that took part in it. With
    ``is_recalled``, memory has been asked.
    """

    uri: str
    revisions: dict[str, ReviewedRevision] = field(default_factory=dict)
    saved: str | None = None
    obstacle: str = ""
    elsewhere: OriginText | None = None
    pinned: str | None = None
    dismissed: set[str] = field(default_factory=set)
    buffer: Buffer | None = None
    version: int | None = None
    language: str | None = None
    kept: dict[tuple[int, int], frozenset[str]] = field(default_factory=dict)
    remembered: Remembered | None = None
    is_recalled: bool = False

    @property
    def found(self) -> frozenset[str]:
        """The ids of the revisions that sources found."""
        return frozenset(name for name, known in self.revisions.items() if known.is_found)

    def own(self) -> list[ReviewedRevision]:
        """Return the texts that the client added; a file that is deleted has none."""
        return [r for r in self.revisions.values() if not (r.is_found or r.deletes)]

    @property
    def origin(self) -> str | None:
        """The text that revisions are compared with: the pinned origin, or else the current one."""
        return self.current if self.pinned is None else self.pinned

    @property
    def current(self) -> str | None:
        """The origin without a review: a source's origin, or else the saved text."""
        return self.saved if self.elsewhere is None else self.elsewhere.text

    def pin(self, target: str | None = None) -> None:
        """Pin the origin (or this text) while there are revisions, except in a conflict."""
        ends = self.elsewhere is not None and not self.elsewhere.can_be_pinned
        if ends or not self.revisions:
            self.unpin()
        elif self.pinned is None and self.buffer is not None:  # a review begins in an editor
            self.pinned = self.current if target is None else target

    def unpin(self) -> None:
        """Return to the current origin, and drop the decisions made by the pinned one."""
        if self.pinned is not None:
            self.remembered = None
        self.pinned = None
        self.kept.clear()

    @property
    def review(self) -> Remembered | None:
        """The review to remember, or None without one."""
        if self.pinned is None:
            return None
        voices = {name: known.voice for name, known in self.revisions.items()}
        return Remembered(self.pinned, dict(self.kept), voices)

    def may_go_on(self, name: str, voice: str) -> bool:
        """Whether no review has begun, and the revision took part in the remembered one."""
        return self.remembered is not None and self.remembered.knows(name, voice) and not self.found

    def go_on(self) -> None:
        """Go on with the review that is remembered."""
        if self.remembered is not None:
            self.pinned, self.kept = self.remembered.origin, dict(self.remembered.kept)
            self.remembered = None

    def take_origin(self, read: Callable[[], str]) -> None:
        """Read another saved text, or record why there is none."""
        try:
            self.saved, self.obstacle = check_text(read()), ""
        except SourceError as error:
            self.saved, self.obstacle = None, error.reason

    def own_edits(self, wanted: bool) -> Revision | None:
        """Return the editor's text as a revision, if it differs and that is wanted."""
        if self.buffer is None or self.origin is None or not wanted:
            return None
        if self.elsewhere is not None and not self.elsewhere.buffer_is_revision:
            return None
        if OWN_EDITS in self.revisions:
            return None
        edits = Revision(OWN_EDITS, self.buffer.text(), "your edits")
        same = normalise(edits.text) == normalise(self.origin)
        return None if same or objection(self, edits) else edits


def document_key(uri: str) -> str:
    """Return one key for all spellings of a URI: percent-encoding and drive letters differ.

    >>> document_key("file:///C%3A/x%20y") == document_key("file:///c:/x y")
    True
    """
    return _DRIVE.sub(lambda match: match[0].lower(), unquote(uri), count=1)


def text_hash(text: str) -> str:
    """Return the SHA-256, in hexadecimal, of a normalised text in UTF-8."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()


def mismatch(document: ReviewedDocument, base: Base) -> str:
    """Return why revisions made from this base do not fit the document, or "" if they do."""
    if base.version is not None and base.version != document.version:
        now = (
            "the document is not open" if document.version is None else f"it is {document.version}"
        )
        return f"made from version {base.version}, but {now}"
    if base.hash is not None:
        if document.origin is None:
            return f"base.hash cannot be checked: {document.obstacle}"
        if base.hash.lower() != text_hash(document.origin):
            return "made from another text: base.hash is not the origin's"
    return ""


def enter(document: ReviewedDocument, revision: Revision, *, deletes: bool) -> str:
    """Add a revision that a source found, and return the reason if it is refused, else ""."""
    name = revision.id
    known = document.revisions.get(name)
    if name in document.dismissed:
        return "removed by the client"
    if known is not None and not known.is_found:
        return "the client added another revision with this id"
    if reason := objection(document, revision):
        document.revisions.pop(name, None)
        return reason
    document.revisions[name] = ReviewedRevision(revision, is_found=True, deletes=deletes)
    return ""


def objection(document: ReviewedDocument, revision: Revision) -> str:
    """Return why a revision is not taken, or "" if it is."""
    if not 0 < len(revision.id) <= MAX_ID:
        return f"an id must have 1 to {MAX_ID} characters"
    if len(document.revisions) >= MAX_REVISIONS and revision.id not in document.revisions:
        return f"skipped: limit {MAX_REVISIONS} revisions a document"
    try:
        check_text(revision.text)
    except SourceError as error:
        return f"skipped: {error.reason}"
    return ""
