"""The question to a source and its answer: only values, and nothing here reads anything."""

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
"""What a revision does with the file; of one that deletes it, the text is empty."""

Refused = Rejected
"""Something found and not taken: its id, the reason, and the way out where there is one."""


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """The settings of the user.

    Attributes
    ----------
    origin : OriginChoice
        Which text the revisions are compared with, where nothing better is known.
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
        Globs of files beside the document; ``${file}``, ``${stem}`` and ``${extension}`` stand for
        its name and the two parts of that.
    patches : tuple of str
        Folders of patches and mailboxes, relative to a workspace folder.
    runs : tuple of str
        Folders of what agents left, as diffs or predictions, relative to a workspace folder.
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
    """One document, and what may be done to find its revisions.

    Attributes
    ----------
    document : str
        Absolute path of the document.
    folders : tuple of str
        Absolute paths of the workspace folders; nothing outside them is read, but for the
        worktrees of their repositories.
    trusted : bool
        False in a workspace that the user does not trust: git is never started there.
    settings : SourceSettings
        What the user switched on.
    pinned : str or None
        The origin of a review that has begun: it stays, whatever is saved or committed meanwhile.
    saved : str or None
        What an editor last opened or saved, where it need not be what lies on the disk.
    bases : tuple of (id, commit)
        What some candidates started from, as the user said.
    begun : tuple of (id, Details)
        What was known of candidates when this review asked last. One that has not moved since still
        started where it did, also when the target has merged it.
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
    """An origin: its text as it came (not normalised), where from, and that in words for people."""

    text: str
    kind: OriginKind
    label: str

    @property
    def can_be_pinned(self) -> bool:
        """Whether the user chose it: that of a conflict ends with the conflict."""
        return self.kind in CHOICES

    @property
    def buffer_is_revision(self) -> bool:
        """Whether what the editor shows is one more revision: not with conflict markers in it."""
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
        What it does with the file.
    path : str
        Where it has the file, relative to the top folder of the repository, if not at the path of
        the document; the place that it was at, if the revision is of the place that it moved to.
    commit, base : str
        Its commit and the one that it started from; empty where it has none.
    tool : str
        The tool that made it; empty: not known.
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
        The origin, where the source has one.
    revisions : tuple of Revision
        In a stable order, with unique ids; the texts are not normalised.
    refused : tuple of Refused
        What was found and not taken, each with the reason.
    watch : tuple of Watch
        What to watch: a change there may change the answer.
    notes : tuple of (id, note)
        What a reader of one revision should know.
    made_from : tuple of (id, text)
        The text that a revision was made from, where the source knows it.
    target : str or None
        The text that revisions were replayed on: the origin that they are to be compared with.
    unchanged : tuple of str
        Ids of worktrees and branches that hold the text they started from: nothing to score.
    files : tuple of (id, path)
        The file that a revision stands in, where it is one: its absolute path.
    own_texts : tuple of (id, text)
        The text of that file, where the revision was replayed on another origin.
    details : tuple of (id, Details)
        What is known of the candidates that revisions are of.
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
        return frozenset(name for name, known in self.details if known.change == "deleted")

    def called(self, names: Mapping[str, str]) -> Found:
        """Return the same with some ids of revisions replaced."""
        new = {revision.id: names.get(revision.id, revision.id) for revision in self.revisions}
        return replace(
            self,
            revisions=tuple(replace(r, id=new[r.id]) for r in self.revisions),
            notes=tuple((new[name], note) for name, note in self.notes),
            made_from=tuple((new[name], text) for name, text in self.made_from),
            files=tuple((new[name], path) for name, path in self.files),
            own_texts=tuple((new[name], text) for name, text in self.own_texts),
            details=tuple((new[name], known) for name, known in self.details),
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
    """Return the watch of one file, whatever its name holds.

    >>> watch_file("/w/a[1].py").pattern
    'a[[]1].py'
    """
    folder, name = os.path.split(path)
    return Watch(folder, "".join(f"[{c}]" if c in "*?{[" else c for c in name))
