"""What the user decides: at each hunk and about candidates, and what is remembered of it. Pure.

A hunk is decided by the text in the editor, except that the user may keep the origin's. Candidates
are decided about by id, and need not exist at the moment: they may return. What is not derived
from texts is changed only by the session that owns it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from excise.text import Text, raw_lines
from excise_server.editor.analysis import Analysis

__all__ = [
    "MAX_DECISIONS",
    "CandidateState",
    "Choice",
    "Choices",
    "Decision",
    "DecisionKind",
    "Remembered",
    "decisions_of",
    "next_undecided",
    "voice_of",
    "with_kept",
]

DecisionKind = Literal["origin", "variant", "mixed", "edited"]


@dataclass(frozen=True, slots=True)
class Decision:
    """The editor's text in a hunk, compared with the origin and the variants.

    ``kind`` is ``origin`` or ``variant`` if it is exactly that text (``variant`` is its index),
    ``mixed`` if each line comes from one of them, else ``edited``. A hunk with the origin's text is
    decided only if the user said that it stays.
    """

    kind: DecisionKind
    variant: int | None
    decided: bool


def with_kept(analysis: Analysis) -> Analysis:
    """Return an analysis in which the hunks that the user wants to keep are also decided."""
    kept = analysis.snapshot.kept
    if not kept:
        return analysis
    spans = [(hunk.lo, hunk.hi) for hunk in analysis.hunks]
    pairs = zip(analysis.decided, spans, strict=True)
    return replace(analysis, decided=tuple(decided or span in kept for decided, span in pairs))


def decisions_of(analysis: Analysis) -> tuple[Decision, ...]:
    """Return the decision at each hunk; without a buffer, all have the origin's text."""
    shown, decisions = Text.of(analysis.snapshot.shown), []
    for hunk, site, decided in zip(analysis.hunks, analysis.sites, analysis.decided, strict=True):
        own, texts = shown.between(site.lo, site.hi), [variant.text for variant in hunk.variants]
        kind: DecisionKind = "edited"
        if own == hunk.text:
            kind = "origin"
        elif own in texts:
            kind = "variant"
        elif set(raw_lines(own)) <= {x for t in (hunk.text, *texts) for x in raw_lines(t)}:
            kind = "mixed"
        decisions.append(Decision(kind, texts.index(own) if kind == "variant" else None, decided))
    return tuple(decisions)


def next_undecided(decisions: Sequence[Decision], after: int | None = None) -> int | None:
    """Return the next hunk that is not decided, from the first again after the last."""
    start = 0 if after is None else after + 1
    order = [*range(start, len(decisions)), *range(min(start, len(decisions)))]
    return next((index for index in order if not decisions[index].decided), None)


CandidateState = Literal["hidden", "rejected"]

MAX_DECISIONS = 10_000
"""Most candidates whose decisions are remembered."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The decision about one candidate: its state, the commit set as its base, or neither."""

    state: CandidateState | None = None
    base: str | None = None


@dataclass(slots=True)
class Choices:
    """The candidates that the user set aside, and the bases that the user set."""

    states: dict[str, CandidateState] = field(default_factory=dict)
    bases: dict[str, str] = field(default_factory=dict)

    def set_aside(self, ids: Iterable[str], state: CandidateState, *, aside: bool) -> list[str]:
        """Set candidates aside, or undo that for those in this state, and return those changed.

        A hidden candidate can be rejected, and the other way round: the last choice counts.
        """
        changed = []
        for name in dict.fromkeys(ids):
            before = self.states.get(name)
            if aside and before != state and len(self.states) < MAX_DECISIONS:
                self.states[name] = state
                changed.append(name)
            elif not aside and before == state:
                del self.states[name]
                changed.append(name)
        return changed

    def of_each(self) -> dict[str, Choice]:
        """Return the decision about each candidate, by id."""
        names = dict.fromkeys((*self.states, *self.bases))
        return {name: Choice(self.states.get(name), self.bases.get(name)) for name in names}

    def recall(self, before: Mapping[str, Choice]) -> set[str]:
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

    Attributes
    ----------
    origin : str
        The text of the origin.
    kept : frozenset of (int, int)
        Hunks, as lines of the origin, in which it stays.
    voices : dict of str to str
        The compared revisions, by id: `voice_of` the text of a client's revision that was made from
        this origin, else an empty string, because the revision is replayed from its own base.
    """

    origin: str
    kept: frozenset[tuple[int, int]] = frozenset()
    voices: Mapping[str, str] = field(default_factory=dict)

    def knows(self, name: str, voice: str) -> bool:
        """Whether a revision took part in the review, which continues only then."""
        return self.voices.get(name) == voice


def voice_of(text: str) -> str:
    """Return the name of a text, by which it is known again."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
