"""What is remembered of the review of a document, while nobody has it open. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Remembered", "voice_of"]


@dataclass(frozen=True, slots=True)
class Remembered:
    """A pinned origin, and what was decided by it.

    Attributes
    ----------
    origin : str
        Its text.
    kept : frozenset of (int, int)
        Hunks, as lines of it, in which it is to stay.
    voices : dict of str to str
        By id who was compared with it: for what a client gave as made from it, `voice_of` its
        text; else nothing, as it is replayed from its own base.
    """

    origin: str
    kept: frozenset[tuple[int, int]] = frozenset()
    voices: Mapping[str, str] = field(default_factory=dict)

    def knows(self, name: str, voice: str) -> bool:
        """Whether a revision took part: the review goes on only for one that did."""
        return self.voices.get(name) == voice


def voice_of(text: str) -> str:
    """Return the name of a text, by which it is known again."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
