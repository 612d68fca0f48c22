"""The question to a source and its answer: values only, nothing here reads anything."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from excise.text import Revision
from excise_server.foundation.inputs import Rejected

__all__ = [
    "CHOICES",
    "Change",
    "Context",
    "Details",
    "Found",
    "OriginChoice",
    "OriginKind",
    "OriginText",
    "Refused",
    "SourceSettings",
    "Watch",
    "watch_file",
]

OriginChoice = Literal["saved", "head", "index"]
"""The setting: which text the revisions are compared with."""

OriginKind = Literal["saved", "head", "index", "stage", "markers", "orig"]
"""Where an origin came from: a choice, or what a conflict or a ``.orig`` file says by itself."""

CHOICES: tuple[OriginChoice, ...] = get_args(OriginChoice)

Change = Literal["edited", "created", "deleted", "renamed"]
"""What a revision does to the file. The text of a deletion is empty."""

Refused = Rejected
"""A refused revision: its id, the reason, and possibly a hint."""


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """The settings of the user.

    Attributes
    ----------
    origin : OriginChoice
        The text to compare revisions with, unless a better one is known.
    worktrees : bool
        Take the file from the other worktrees, uncommitted changes included.
    branches : tuple of str
        Patterns of local branches, as of ``git for-each-ref refs/heads/PATTERN``; none: off.
    remotes : tuple of str
        Patterns of remote branches, as of ``git for-each-ref refs/remotes/PATTERN``; none: off.
    requests : tuple of str
        Fetched pull and merge requests: ``pull/*``, ``merge-requests/*``, ``#12``, ``!12``.
    conflicts : bool
        Take the sides of a conflicted file.
    files : tuple of str
        Globs of files beside the document. ``${file}``, ``${stem}`` and ``${extension}`` are
        replaced by its name and the two parts of its name.
    patches : tuple of str
        Folders of patches and mailboxes, relative to a workspace folder.
    runs : tuple of str
        Folders of agents' diffs or predictions, relative to a workspace folder.
    """

    origin: OriginChoice = "saved"
    worktrees: bool = True
    branches: tuple[str, ...] = ("**",)
    remotes: tuple[str, ...] = (
        "container-use/**",
        "origin/claude/**",
        "origin/codex/**",
        "origin/copilot/**",
    )
    requests: tuple[str, ...] = ()
    conflicts: bool = True
    files: tuple[str, ...] = ("${file}.suggestion-*", "${file}.orig", "${file}.rej")
    patches: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """One document, and the conditions under which its revisions are sought.

    Attributes
    ----------
    document : str
        Absolute path of the document.
    folders : tuple of str
        Absolute paths of the workspace folders. Nothing outside them is read, except the worktrees
        of their repositories.
    trusted : bool
        False in a workspace that the user does not trust: git is never started there.
    settings : SourceSettings
        The settings of the user.
    pinned : str or None
        The origin of a review that has begun. It stays, whatever is saved or committed meanwhile.
    saved : str or None
        The text that an editor last opened or saved, if it may differ from the file.
    bases : tuple of (id, commit)
        The commits that some candidates started from, according to the user.
    begun : tuple of (id, Details)
        The facts about candidates at this review's last question. A candidate that has not moved
        since keeps its base, even if the target has merged it.
    """

    document: str
    folders: tuple[str, ...]
    trusted: bool = False
    settings: SourceSettings = field(default_factory=SourceSettings)
    pinned: str | None = None
    saved: str | None = None
    bases: tuple[tuple[str, str], ...] = ()
    begun: tuple[tuple[str, Details], ...] = ()


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
class Watch:
    """A pattern whose changes may change the answer: a glob below an absolute folder."""

    folder: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Details:
    """The known facts about the candidate of a revision.

    Attributes
    ----------
    names : tuple of str
        Every name of the same thing; the revision's id is the first of them, made unique.
    change : Change
        What it does to the file.
    path : str
        Its path of the file, relative to the top folder of the repository, if that is not the path
        of the document. If the document is the new place of a renamed file, its old path.
    commit, base : str
        Its commit and the commit that it started from, or empty.
    tool : str
        The tool that made it, or empty if that is not known.
    made : int, optional
        When it was made, in seconds since the epoch.
    behind : int
        How many commits HEAD is ahead of its base.
    """

    names: tuple[str, ...] = ()
    change: Change = "edited"
    path: str = ""
    commit: str = ""
    base: str = ""
    tool: str = ""
    made: int | None = None
    behind: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of a source.

    Attributes
    ----------
    origin : OriginText or None
        The origin, if the source has one.
    revisions : tuple of Revision
        In a stable order, with unique ids; the texts are not normalised.
    refused : tuple of Refused
        Whatever was found but refused, with the reasons.
    watch : tuple of Watch
        Files and folders to watch: a change there may change the answer.
    notes : tuple of (id, note)
        Remarks for the readers of a revision.
    made_from : tuple of (id, text)
        The text that a revision was made from, if the source knows it.
    target : str or None
        The text that revisions were replayed on: the origin to compare them with.
    unchanged : tuple of str
        Ids of worktrees and branches with the text that they started from: nothing to score.
    files : tuple of (id, path)
        The absolute path of the file that contains a revision, if there is one.
    own_texts : tuple of (id, text)
        The text of that file, if the revision was replayed on another origin.
    details : tuple of (id, Details)
        The facts about the candidates of the revisions.
    """

    origin: OriginText | None = None
    revisions: tuple[Revision, ...] = ()
    refused: tuple[Refused, ...] = ()
    watch: tuple[Watch, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    made_from: tuple[tuple[str, str], ...] = ()
    target: str | None = None
    unchanged: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    own_texts: tuple[tuple[str, str], ...] = ()
    details: tuple[tuple[str, Details], ...] = ()

    @property
    def deleted(self) -> frozenset[str]:
        """The ids of the revisions that delete the file."""
        return frozenset(name for name, details in self.details if details.change == "deleted")

    def called(self, names: Mapping[str, str]) -> Found:
        """Return the same with some ids of revisions replaced."""
        new_ids = {revision.id: names.get(revision.id, revision.id) for revision in self.revisions}
        return replace(
            self,
            revisions=tuple(replace(r, id=new_ids[r.id]) for r in self.revisions),
            notes=tuple((new_ids[name], note) for name, note in self.notes),
            made_from=tuple((new_ids[name], text) for name, text in self.made_from),
            files=tuple((new_ids[name], path) for name, path in self.files),
            own_texts=tuple((new_ids[name], text) for name, text in self.own_texts),
            details=tuple((new_ids[name], details) for name, details in self.details),
        )

    def without(self, names: Collection[str]) -> Found:
        """Return the same without some revisions and everything about them."""
        return replace(
            self,
            revisions=tuple(r for r in self.revisions if r.id not in names),
            notes=tuple(entry for entry in self.notes if entry[0] not in names),
            made_from=tuple(entry for entry in self.made_from if entry[0] not in names),
            files=tuple(entry for entry in self.files if entry[0] not in names),
            own_texts=tuple(entry for entry in self.own_texts if entry[0] not in names),
            details=tuple(entry for entry in self.details if entry[0] not in names),
        )


def watch_file(path: str) -> Watch:
    """Return the watch of one file, whose name may contain any characters.

    >>> watch_file("/w/a[1].py").pattern
    'a[[]1].py'
    """
    folder, name = os.path.split(path)
    return Watch(folder, "".join(f"[{c}]" if c in "*?{[" else c for c in name))
