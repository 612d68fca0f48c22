"""The remembered review of a document that is not open. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Remembered", "voice_of"]


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
