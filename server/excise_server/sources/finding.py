"""The question to a source and its answer: values only, nothing here reads anything."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from excise.text import Revision
from excise_server.foundation.inputs import Rejected
from excise_server.wire.sources import CHOICES, SourceSettings

if TYPE_CHECKING:  # a server loads it when a source finds something
    from excise_server.review.candidate import Candidate


OriginKind = Literal["saved", "head", "index", "stage", "markers", "orig"]
"""Where an origin came from: a choice, or what a conflict or a ``.orig`` file says by itself."""

Change = Literal["edited", "created", "deleted", "renamed"]
"""What a candidate does to the file."""


@dataclass(frozen=True, slots=True)
class Context:
    """One document, and the conditions under which its revisions are sought.

    - ``folders``: absolute paths of the workspace folders. Nothing outside them is read, except the
      worktrees of their repositories.
    - ``trusted``: False in a workspace that the user does not trust: git is never started there.
    - ``pinned``: the origin of a review that has begun. It stays, whatever is saved or committed
      meanwhile.
    - ``saved``: the text that an editor last opened or saved, if it may differ from the file.
    - ``bases``: the commits that some candidates started from, according to the user.
    - ``begun``: the candidates at this review's last question. One that has not moved since keeps
      its base, even if the target has merged it.
    """

    document: str
    folders: tuple[str, ...]
    trusted: bool = False
    settings: SourceSettings = field(default_factory=SourceSettings)
    pinned: str | None = None
    saved: str | None = None
    bases: tuple[tuple[str, str], ...] = ()
    begun: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class OriginText:
    """An origin: its text (not normalised), its kind, and its source in words for people."""

    text: str
    kind: OriginKind
    label: str

    @property
    def can_be_pinned(self) -> bool:
        """Whether the user chose it. The origin of a conflict ends with the conflict."""
        return self.kind in CHOICES

    @property
    def buffer_is_revision(self) -> bool:
        """Whether the editor's text is another revision, which a text with markers is not."""
        return self.kind not in ("stage", "markers")


@dataclass(frozen=True, slots=True)
class WatchedFiles:
    """A pattern whose changes may change the answer: a glob below an absolute folder."""

    folder: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Version:
    """What one candidate makes of the document.

    - ``candidate``: the candidate, whose notes are those about this file.
    - ``text``: its text on the origin of the review, not normalised; empty for a deletion.
    - ``base``: the text that it was made from; None if it creates the file, or if that is not
      known.
    - ``change``: what it does to the file.
    - ``path``: its path of the file, relative to the top folder of the repository, if that is not
      the path of the document. If the document is the new place of a renamed file, its old path.
    - ``file``: the absolute path of the file that contains it, or empty.
    - ``own_text``: the text of that file, if that is another one, because the version was replayed.
    """

    candidate: Candidate
    text: str
    base: str | None = None
    change: Change = "edited"
    path: str = ""
    file: str = ""
    own_text: str | None = None

    @property
    def id(self) -> str:
        """The id of the candidate."""
        return self.candidate.id

    @property
    def revision(self) -> Revision:
        """The version as a revision of the document."""
        return Revision(self.id, self.text, self.candidate.label)


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of a source, or of all.

    - ``origin``: the origin, if the source has one.
    - ``versions``: in a stable order, with unique ids.
    - ``refused``: whatever was found but refused, with the reasons.
    - ``watch``: files and folders to watch: a change there may change the answer.
    - ``target``: the text that versions were replayed on: the origin to compare them with.
    - ``unchanged``: ids of candidates that do not change the document: nothing to score.
    """

    origin: OriginText | None = None
    versions: tuple[Version, ...] = ()
    refused: tuple[Rejected, ...] = ()
    watch: tuple[WatchedFiles, ...] = ()
    target: str | None = None
    unchanged: tuple[str, ...] = ()

    @property
    def revisions(self) -> tuple[Revision, ...]:
        """The versions as revisions."""
        return tuple(version.revision for version in self.versions)

    @property
    def deleted(self) -> frozenset[str]:
        """The ids of the candidates that delete the file."""
        return frozenset(version.id for version in self.versions if version.change == "deleted")


def watch_file(path: str) -> WatchedFiles:
    """Return the watch of one file, whose name may contain any characters.

    >>> watch_file("/w/a[1].py").pattern
    'a[[]1].py'
    """
    folder, name = os.path.split(path)
    return WatchedFiles(folder, "".join(f"[{c}]" if c in "*?{[" else c for c in name))
