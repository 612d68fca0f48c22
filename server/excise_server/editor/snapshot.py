"""The snapshot of one document that workers receive, in which nothing changes."""

from __future__ import annotations

from dataclasses import dataclass, field

from excise.ranking import INTENT
from excise.signature import Options
from excise.text import Revision

__all__ = ["Snapshot"]

_OWN = "buffer"
"""The id of the buffer as a revision. A client's revision of this id has its own text."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An origin, its revisions, and everything needed to score them and to place the result.

    The texts are not normalised, which the library does. ``buffer`` is the current text in an
    editor (None if the document is not open), and ``version`` its number. ``language`` has
    precedence over ``path``, and either may be None. ``kept`` are lines of the origin that the user
    wants to keep. ``deleted`` are the ids of revisions that delete the file: they are scored by the
    deleted tokens, and have no text in any hunk. ``intent`` is that of `excise.rank`.
    """

    uri_or_path: str
    origin: str
    revisions: tuple[Revision, ...]
    language: str | None = None
    path: str | None = None
    options: Options = field(default_factory=Options)
    buffer: str | None = None
    version: int | None = None
    kept: frozenset[tuple[int, int]] = frozenset()
    deleted: frozenset[str] = frozenset()
    intent: str = INTENT

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the revisions, in their order."""
        return tuple(revision.id for revision in self.revisions)

    @property
    def shown(self) -> str:
        """The text in the editor, or the origin without one."""
        return self.origin if self.buffer is None else self.buffer

    @property
    def own(self) -> int | None:
        """The index of the revision that is the buffer's own text, where there is one."""
        for index, revision in enumerate(self.revisions):
            if revision.id == _OWN and revision.text is self.buffer:
                return index
        return None

    @property
    def scored(self) -> tuple[object, ...]:
        """All that the scores depend on: the key under which they may be kept."""
        return (
            self.origin, self.revisions, self.language, self.path, self.options, self.deleted,
            self.intent,
        )  # fmt: skip

    @property
    def texts(self) -> tuple[int, ...]:
        """The indices of the revisions that have a text, or all if each of them deletes the file.

        A deletion would otherwise merge all changes of the others into one hunk.
        """
        everyone = range(len(self.revisions))
        having = tuple(i for i in everyone if self.revisions[i].id not in self.deleted)
        return having or tuple(everyone)
