"""A candidate: one proposal, under all of its names, as a change of the target. Pure."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from excise.patches import FilePair
from excise_server.foundation.changes import Side, patch_files
from excise_server.foundation.escape import shown_name
from excise_server.foundation.inputs import SourceError, did_you_mean, first_few
from excise_server.review.kinds import Kind, kind_of
from excise_server.wire.sources import SOURCES

SCHEMES = ("client", *(kind for source in SOURCES.values() for kind in source.kinds), "folder")
"""Kinds of names, the one that a candidate is known by first; any other kind comes last."""


@dataclass(frozen=True, slots=True)
class Written:
    """Who wrote a commit or a mail, when, and its message. Git's fields: empty if not known."""

    author: str
    mail: str
    date: str
    message: str

    @classmethod
    def together(cls, parts: Sequence[Written]) -> Written:
        """Return several as one: the first author, with the others in the message, the last date.

        - ``parts``: at least one, the oldest first.
        """
        (author, mail), *others = dict.fromkeys((part.author, part.mail) for part in parts)
        messages = list(dict.fromkeys(part.message.strip() for part in parts))
        more = [f"Co-authored-by: {name} <{address}>" for name, address in others]
        message = "\n\n".join([*messages, *(["\n".join(more)] if more else [])])
        return cls(author, mail, parts[-1].date, f"{message}\n")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proposal, as a change of the target.

    - ``id``: the first of its names, made unique.
    - ``names``: every name of the same thing: a worktree, its branch, that branch at a remote, the
      pull request made of it.
    - ``label``, ``tool``: what people call it among the others, and the tool that made it (empty:
      not known).
    - ``task``: the part of its name that its tool gives to all candidates of one task, or empty.
    - ``issues``: those that its messages name, as ``#7502``.
    - ``given``: the name that its source gives it, if that is neither folder nor branch: ``#7521``.
    - ``base``, ``behind``: the commit that it started from, and how many commits the target is
      ahead of that.
    - ``made``: when it was made, in seconds since the epoch, by its reflog or else by its first own
      commit; None if neither tells.
    - ``old``, ``new``: by path, the files of the target that its replayed edits change, before and
      after.
    - ``digest``: the SHA-256 of its own changes, before and after them. The target is not part of
      it.
    - ``identical``: the ids of the other candidates with exactly the same result.
    - ``is_written``: whether its files changed in the last seconds, so that it may not be finished.
    - ``uncommitted``: the number of files that differ from its HEAD.
    - ``is_given``: whether a client sent it. Its id is then the client's name for it.
    - ``facets``: by path, what those files are for of which only the tree tells it: scripts that
      were left behind (``scratch``), and texts that are prose (``docs``).
    - ``conflicts``: by path, what the target changed there as well.
    - ``disputed``: by path of a conflict, the lines (from, to) of the target, if they are known.
    - ``conflict_kinds``: by path of a conflict, git's word for its kind: ``content``,
      ``modify/delete``.
    - ``marked``: by path of a conflict, the file as git writes it, with markers, if git does.
    - ``beyond_git``: by path, the lines (from, to) of the result that are merged by a rule of ours,
      where git has a conflict.
    - ``made_for``: the branch that it was made for, if that is not the target, and the revision.
    - ``written``: who wrote a patch, by its mails.
    - ``unread``: why nothing of it can be compared, if that is so.
    - ``moves``: by path at its base, that of the target, which renamed the file since.
    - ``own_old``, ``own_new``: its own diff, as of `own`; None where that is ``old`` and ``new``.
    """

    id: str
    folder: str
    branch: str
    commit: str
    names: tuple[str, ...] = ()
    given: str = ""
    label: str = ""
    tool: str = ""
    task: str = ""
    issues: tuple[str, ...] = ()
    base: str = ""
    behind: int = 0
    made: int | None = None
    old: dict[str, Side] = field(default_factory=dict)
    new: dict[str, Side] = field(default_factory=dict)
    digest: str = ""
    identical: tuple[str, ...] = ()
    is_written: bool = False
    uncommitted: int = 0
    is_given: bool = False
    facets: dict[str, Kind] = field(default_factory=dict)
    conflicts: dict[str, str] = field(default_factory=dict)
    disputed: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    conflict_kinds: dict[str, str] = field(default_factory=dict)
    marked: dict[str, Side] = field(default_factory=dict)
    beyond_git: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    made_for: tuple[str, str] = ("", "")
    written: Written | None = None
    unread: tuple[str, ...] = ()
    moves: Mapping[str, str] = field(default_factory=dict)
    own_old: dict[str, Side] | None = None
    own_new: dict[str, Side] | None = None

    @property
    def own(self) -> tuple[Mapping[str, Side], Mapping[str, Side]]:
        """Its own diff: by path, the files at its base and at its head."""
        if self.own_old is None or self.own_new is None:
            return self.old, self.new
        return self.own_old, self.own_new

    def said(self, files: Iterable[FilePair]) -> tuple[FilePair, ...]:
        """Return what is said of its changes of the target: its own diff of files in conflict.

        - ``files``: its changes, as they were replayed.
        """
        if not self.conflicts:
            return tuple(files)
        old, new = ({self.moves.get(p, p): s for p, s in sides.items()} for sides in self.own)
        own = {pair.path: pair for pair in patch_files(old, new) if pair.path in self.conflicts}
        return tuple(own.get(pair.path, pair) for pair in files)

    @property
    def kind(self) -> str:
        """The kind of its first name, most often one of `SCHEMES`."""
        return SCHEMES[0] if self.is_given else self.id.partition(":")[0]

    @property
    def place(self) -> str:
        """Its branch, ``detached`` for a worktree on none, the title of a patch, or empty."""
        if self.kind == "patch":
            return self.branch or self.given
        return self.branch or ("detached" if self.kind == "worktree" else "")

    def kind_of(self, path: str) -> Kind:
        """Return what one of its files is for."""
        return self.facets.get(path) or kind_of(path)

    @property
    def has_code(self) -> bool:
        """Whether it changes any code."""
        return any(self.kind_of(path) == "code" for path in (*self.old, *self.new))


@dataclass(frozen=True, slots=True)
class Landed:
    """A candidate that the target has already: its commit there, or empty, and words for people."""

    id: str
    label: str
    commit: str
    words: str


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of one thing, each once, in the order of `SCHEMES`, then as given.

    >>> in_order(["remote:origin/a", "branch:a", "worktree:x", "branch:a"])
    ('worktree:x', 'branch:a', 'remote:origin/a')
    """
    place = {kind: place for place, kind in enumerate(SCHEMES)}
    kinds = {name: place.get(name.partition(":")[0], len(place)) for name in names}
    return tuple(sorted(kinds, key=kinds.__getitem__))


def candidates_called(name: str, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidate with this id or label, or else all that have this name.

    Names are also the branch, the folder, the source's name for it, other names of the same thing,
    and the part of each that follows the colon.
    """
    every = list(candidates) if name else []
    meant = [candidate for candidate in every if name == candidate.id]
    meant = meant or [candidate for candidate in every if name == candidate.label]
    meant = meant or [candidate for candidate in every if name in _names(candidate)]
    if meant or name[:1] not in ("#", "!") or not name[1:].isdecimal():
        return meant
    request = re.compile(rf"(?:^|[/:#!]){name[1:]}(?:/\w+)?$")
    return [c for c in every if any(map(request.search, (c.label, *_names(c))))]


_LEAST = 3
"""Letters of a label that choose a candidate, where nothing is written."""


def candidates_meant(name: str, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Return the candidates with this name, or else those whose labels begin with it.

    That is for commands that only read. After ``#`` or ``!`` stands the whole number of a request.
    A number alone is that of a task, and begins no label.
    """
    every = list(candidates)
    if meant := candidates_called(name, every):
        return meant
    if len(name) < _LEAST or name.isdecimal():
        return []
    return [candidate for candidate in every if candidate.label.startswith(name)]


_NAME_SOME = "there is none: name branches by --git PATTERN, patches by --patches PATH"


def candidate_called(
    name: str, candidates: Sequence[Candidate], *, reads: bool = False
) -> Candidate:
    """Return the one candidate of this name, or of this beginning of a label: every door asks here.

    Raises SourceError if there is none, or several have it.

    - ``reads``: whether nothing is written, so that the beginning of a label suffices.
    """
    meant = (candidates_meant if reads else candidates_called)(name, candidates)
    if len(meant) == 1:
        return meant[0]
    if meant:
        labels = [c.label for c in meant]
        whole = (
            labels if len({*labels}) == len(meant) and name not in labels else [c.id for c in meant]
        )
        hint = f"name one of {first_few([shown_name(text) for text in whole])}"
        raise SourceError(f"{shown_name(name)} names {len(meant)} candidates", hint=hint)
    every = [text for c in candidates for text in (c.label, c.branch, c.given) if text]
    hint = did_you_mean(name, every) if candidates else _NAME_SOME
    if hint.startswith("there are"):
        hint = f"there are {first_few([shown_name(c.label) for c in candidates], 8)}"
    if not {*"*?["}.isdisjoint(name):
        hint = f"a pattern chooses branches by --git '{shown_name(name)}', or candidates by --only"
    raise SourceError(f"no candidate is called {shown_name(name)}", hint=hint)


def _names(candidate: Candidate) -> set[str]:
    ends = (name.partition(":")[2] for name in (candidate.id, *candidate.names))
    names = candidate.branch, candidate.folder, candidate.given
    return {*names, *candidate.names, *ends} - {""}


def digest_of(old: Mapping[str, Side], new: Mapping[str, Side]) -> str:
    """Return the SHA-256 of changes, in hexadecimal digits."""
    hashed = hashlib.sha256()
    for path in sorted(old.keys() | new.keys()):
        name = path.encode("utf-8", "surrogateescape")
        hashed.update(b"%d:%b" % (len(name), name))
        for side in (old.get(path), new.get(path)):
            if side is None:
                hashed.update(b"-,")
            else:
                content = hashlib.sha256(side.data).digest()
                hashed.update(b"%b %b," % (side.mode.encode(), content))
    return hashed.hexdigest()


def review_digest(origin: str, candidates: Iterable[Candidate]) -> str:
    """Return the SHA-256 of an origin and its candidates' edits, in hexadecimal digits.

    Two reviews with the same digest show the same hunks and variants.
    Neither the target's files in the working tree nor the order of the candidates is part of it.
    The set of candidates is, because hunks depend on it.

    - ``origin``: the commit that all edits are replayed onto, or the digest of the folder they
      started from.
    """
    hashed = hashlib.sha256(f"excise review 1\n{origin}\n".encode())
    for candidate in sorted(candidates, key=lambda candidate: candidate.id):
        name = candidate.id.encode("utf-8", "surrogateescape")
        hashed.update(b"%d:%b" % (len(name), name))
        hashed.update(digest_of(candidate.old, candidate.new).encode())
    return hashed.hexdigest()


def marked_identical(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates, each with the ids of those that make the same of the target."""
    by_result = defaultdict[object, list[str]](list)
    results = []
    for candidate in candidates:
        files = [(path, side.mode, side.data) for path, side in sorted(candidate.new.items())]
        results.append((tuple(files), frozenset(candidate.old.keys() - candidate.new.keys())))
        by_result[results[-1]].append(candidate.id)
    return tuple(
        replace(candidate, identical=tuple(i for i in by_result[result] if i != candidate.id))
        for candidate, result in zip(candidates, results, strict=True)
    )
