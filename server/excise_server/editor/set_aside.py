"""The user's decisions about whole candidates, by id: hidden, rejected, another base.

Changed only by the session that owns it. A candidate need not exist at the moment: it may return.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["MAX_DECISIONS", "CandidateState", "Choice", "Choices"]

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
