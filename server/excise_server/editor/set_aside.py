"""What the user decided about whole candidates: hidden, rejected, another base. By id.

Changed only by the session that owns it. A candidate need not be there: it may come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["MAX_DECISIONS", "CandidateState", "Choice", "Choices"]

CandidateState = Literal["hidden", "rejected"]

MAX_DECISIONS = 10_000
"""Most candidates that anything is remembered of."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was decided about one candidate: its state, the commit set as its base, or neither."""

    state: CandidateState | None = None
    base: str | None = None


@dataclass(slots=True)
class Choices:
    """Which candidates are set aside, and what some started from, as the user said."""

    states: dict[str, CandidateState] = field(default_factory=dict)
    bases: dict[str, str] = field(default_factory=dict)

    def set_aside(self, ids: Iterable[str], state: CandidateState, *, aside: bool) -> list[str]:
        """Set candidates aside, or take them back if they are set aside so; return which changed.

        What was hidden can be rejected, and the other way round: the last word counts.
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
        """Return what was decided about each candidate, by id."""
        names = dict.fromkeys((*self.states, *self.bases))
        return {name: Choice(self.states.get(name), self.bases.get(name)) for name in names}

    def recall(self, before: Mapping[str, Choice]) -> set[str]:
        """Take what was decided before, where nothing is decided yet; return the ids."""
        fresh = before.keys() - self.of_each().keys()
        for name, choice in before.items():
            if name in fresh and choice.state is not None:
                self.states[name] = choice.state
            if name in fresh and choice.base is not None:
                self.bases[name] = choice.base
        return fresh

    def in_state(self, state: CandidateState) -> list[str]:
        """Return the ids of the candidates in a state, oldest decision first."""
        return [name for name, known in self.states.items() if known == state]
