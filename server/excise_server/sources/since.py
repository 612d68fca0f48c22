"""Two versions of a candidate by their names, both read and replayed onto the newer one's base.

A version is a commit under any name, a worktree as it lies there, patches in a file or a folder, or
what is remembered of a candidate that somebody looked at.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from excise.patches import Patch, joined
from excise_server.foundation.changes import Side
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.git.checkouts import Ref, Selection, find_checkouts, find_refs
from excise_server.git.command import GitError
from excise_server.git.history import History, commit_named, merge_bases
from excise_server.git.repository import Repository
from excise_server.git.trees import Sides
from excise_server.queue.reading import ENDINGS, STDIN, Queue, missing_notes, newest, read_queue
from excise_server.review.candidate import Candidate, candidates_called
from excise_server.review.since import Since, SinceFile, changes_since, patches_since
from excise_server.review.versions import PatchPair, SeriesPatch, groups_of, paired_patches
from excise_server.sources.candidates import SAVED, labelled, unrelated
from excise_server.sources.commits import MAX_COMMITS, read_commits
from excise_server.sources.reading import (
    ListedCandidate,
    Read,
    Target,
    is_edited,
    read_changes,
    read_worktrees,
    replayed,
)

WAYS = (
    "name OLD: a commit or tag, an entry of a reflog (topic@{1}), the old head of a push, patches"
    " (v1.mbox, a folder), or --reviewed"
)
_REFLOG = re.compile(r"(.*)@\{[^{}]*\}")
_MAINS = ("refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master")
_MOST_PATCHES = 1_000


@dataclass(frozen=True, slots=True)
class SeenVersion:
    """A version that somebody looked at: when (in seconds since the epoch), where, its files."""

    when: int
    door: str
    commit: str
    old: Mapping[str, Side]
    new: Mapping[str, Side]


@dataclass(frozen=True, slots=True)
class CandidateVersion:
    """One of two versions.

    - ``name``: as the user wrote it, or how it is known.
    - ``candidate``: its commit, folder and names, later with its base; of patches without any.
    - ``queue``: of patches, those of the newest version of their series.
    - ``remembered``: of a version that was looked at.
    """

    name: str
    candidate: Candidate
    queue: Queue | None = None
    remembered: SeenVersion | None = None

    @property
    def patch(self) -> Patch | None:
        """All of its patches as one, or None if it is none of patches."""
        if self.queue is None:
            return None
        return joined(member.message.patch for member in self.queue.patches)


@dataclass(frozen=True, slots=True)
class ComparedVersions:
    """What changed between two versions.

    - ``onto``: the base of the newer one, which both are replayed onto; empty without a tree.
    - ``pairs``: the patches of both, if one has several.
    - ``unread``: how many files of either could not be read, as the notes say.
    """

    old: CandidateVersion
    new: CandidateVersion
    onto: str
    since: Since
    pairs: Sequence[PatchPair] = ()
    notes: Sequence[str] = field(default_factory=list)
    unread: int = 0


def version_named(
    repository: Repository | None, name: str, *, has_files: bool = True
) -> CandidateVersion:
    """Return the version that has a name. Patches come first only if their name says so.

    Raises SourceError if there is none.

    - ``has_files``: whether it may be a path of patches, or ``-`` for standard input.
    """
    is_there = has_files and (name == STDIN or (bool(name) and os.path.exists(name)))
    if is_there and (name == STDIN or name.endswith(ENDINGS) or repository is None):
        return _of_patches(name)
    if repository is not None:
        found, _ = find_checkouts(repository, Selection(target=True))
        if not (meant := candidates_called(name, found)):
            meant = candidates_called(name, labelled(repository, found))
        if not meant and os.path.isdir(name):
            meant = [c for c in found if c.folder == os.path.realpath(name)]
        if len(meant) > 1:
            raise SourceError(f"{len(meant)} worktrees are called so", name=visible(name))
        if meant:
            return CandidateVersion(name, meant[0])
        own = repository.commit_of(f"refs/heads/{name}") if name else None
        if commit := own or repository.commit_of(name):  # as everywhere, a branch before a tag
            branch = name if own else ""
            names = (f"branch:{visible(branch)}",) if branch else (f"commit:{commit}",)
            return CandidateVersion(name, Candidate(names[0], "", branch, commit, names))
        if name and (ref := _ref(repository, name)):
            branch = ref.short if ref.scheme == "branch" else ""
            return CandidateVersion(name, Candidate(ref.name, "", branch, ref.commit, (ref.name,)))
    if is_there:
        return _of_patches(name)
    reason = "no commit, worktree or file of patches has this name"
    if repository is not None and os.path.exists(os.path.join(repository.common, "shallow")):
        reason += " in this shallow clone"
    hint = WAYS
    if re.fullmatch(r"[0-9a-f]{7,64}", name):
        hint = f"if a host still has it: git fetch origin {name}; or {WAYS}"
    raise SourceError(reason, name=visible(name), hint=hint)


def newer_of(repository: Repository, old: str) -> CandidateVersion:
    """Return what has become of a version: the branch of an entry of its reflog, or the checkout.

    Raises SourceError if there is none.
    """
    match = _REFLOG.fullmatch(old)
    branch = match[1] if match else ""
    if branch and branch != "HEAD" and repository.commit_of(f"refs/heads/{branch}"):
        return version_named(repository, branch)
    real = os.path.realpath(repository.top)
    for candidate in find_checkouts(repository, Selection(target=True))[0]:
        if candidate.folder == real:
            return CandidateVersion(candidate.branch or "HEAD", candidate)
    raise SourceError("no commits yet: nothing has changed since")


def compare_versions(
    repository: Repository | None, old: CandidateVersion, new: CandidateVersion, onto: str = ""
) -> ComparedVersions:
    """Replay the older version onto the base of the newer one, and compare them.

    Raises SourceError if one of them cannot be read, or has no history in common with the other.

    - ``onto``: what both are made for; empty: the main branch, as far as it can be told.
    """
    notes = [
        f"{visible(version.name)}: {visible(note)}"
        for version in (old, new)
        for _, note in (version.queue.notes if version.queue else ())
    ]
    if repository is None:
        pairs = paired_patches(_series(None, old), _series(None, new))
        return ComparedVersions(old, new, "", _of_pairs(pairs), pairs, notes)
    target = _target(repository, old, new, onto)
    new = _started(repository, new, target, old.candidate.commit)
    base = new.candidate.base or target
    old = _started(repository, old, target) if old.candidate.commit else old
    try:
        read = [_read(repository, version, base) for version in (old, new)]
        sides = [_replayed(repository, base, each) for each in read]
    except GitError:
        raise
    except SourceError as error:
        if old.queue is None or new.queue is None:
            raise
        notes.append(f"compared by what the patches show, as they do not apply: {error}")
        pairs = paired_patches(_series(None, old), _series(None, new))
        return ComparedVersions(old, new, "", _of_pairs(pairs), pairs, notes)
    notes += [f"{visible(old.name)}: {note}" for note in read[0].sides.notes]
    notes += [f"{visible(new.name)}: {note}" for note in read[1].sides.notes]
    series = [_series(repository, version) for version in (old, new)]
    pairs = paired_patches(*series) if all(series) and max(map(len, series)) > 1 else []
    since = changes_since(*sides)
    unread = len(read[0].sides.refused.keys() | read[1].sides.refused.keys())
    return ComparedVersions(old, new, base, since, pairs, notes, unread)


def own_changes(repository: Repository, new: CandidateVersion, onto: str = "") -> Candidate:
    """Return a version with its own changes since its base, as they are remembered.

    Raises SourceError if it cannot be read.
    """
    target = _target(repository, new, new, onto)
    new = _started(repository, new, target)
    return _replayed(repository, new.candidate.base or target, _read(repository, new, target))


# --- names ---------------------------------------------------------------------------------------


def _ref(repository: Repository, name: str) -> Ref | None:
    """Return the ref of a candidate's id (``branch:topic``), or as people write it (``#12``)."""
    refs, _ = find_refs(repository, [name.partition(":")[2] or name])
    return next((r for r in refs if name in (r.name, r.given, r.name.partition(":")[2])), None)


def _of_patches(name: str) -> CandidateVersion:
    queue = newest(read_queue([name], sys.stdin.buffer))
    if not queue.patches:
        reason = queue.rejected[0].reason if queue.rejected else "no diff in it"
        if queue.covers:
            reason = "a cover letter without patches"
        raise SourceError(reason, name=visible(name), hint="name the file of the whole series")
    if len(queue.patches) > _MOST_PATCHES:
        raise SourceError(f"over {_MOST_PATCHES:,} patches", name=visible(name))
    left_out = tuple((each.id, f"{each.id} is left out: {each.reason}") for each in queue.rejected)
    queue = replace(queue, notes=(*queue.notes, *left_out, *missing_notes(queue)))
    return CandidateVersion(name, Candidate(f"patch:{visible(name)}", "", "", ""), queue)


def _target(repository: Repository, old: CandidateVersion, new: CandidateVersion, onto: str) -> str:
    """Return what both versions are made for, which has neither of them."""
    if onto and onto != SAVED:
        return commit_named(repository, onto, "--onto")

    def has(commit: str, other: str) -> bool:
        return bool(other) and merge_bases(repository, commit, other) == (other,)

    commits = [version.candidate.commit for version in (old, new)]
    mains = [commit for name in _MAINS if (commit := repository.commit_of(name))]
    main, *others = mains or [repository.worktrees()[0].head]
    for other in others:  # what is merged there and not pushed
        if has(other, main) and not any(has(other, commit) for commit in commits):
            main = other
    held = [has(main, commit) for commit in commits]
    if not held[1]:
        return main
    # It has landed, or it is the main branch itself, unless its files tell another story.
    if not held[0] and is_edited(repository, main, ListedCandidate(new.candidate)):
        return main
    common = merge_bases(repository, *commits) if commits[0] else ()
    return common[0] if common else commits[1]


def _started(
    repository: Repository, version: CandidateVersion, target: str, old: str = ""
) -> CandidateVersion:
    """Return a version with the commit that it started from.

    - ``old``: the commit of the older version. What it has is no other person's branch that a
      worktree was made on.
    """
    candidate = version.candidate
    if not candidate.commit:
        return version
    entry = ListedCandidate(candidate)
    history = History(repository, target)
    start = history.own_base(
        candidate.commit,
        folder=candidate.folder,
        branch=candidate.branch,
        is_edited=lambda: is_edited(repository, target, entry),
    )
    if start and old and merge_bases(repository, old, start.base) == (old,):
        start = history.own_base(candidate.commit)
    if start is None:
        reason, hint = unrelated(repository)
        raise SourceError(reason, name=visible(version.name), hint=hint.partition(", or ")[0])
    return replace(version, candidate=replace(candidate, base=start.base, notes=start.notes))


# --- files ---------------------------------------------------------------------------------------


def _read(repository: Repository, version: CandidateVersion, base: str) -> Read:
    """Read the changes of a version since its base, which patches and memories take from others.

    Raises SourceError if they cannot be read.
    """
    candidate, rejected = version.candidate, list[Rejected]()
    if remembered := version.remembered:
        sides = Sides(dict(remembered.old), dict(remembered.new))
        candidate = replace(candidate, base=base, commit=base)
        older = sides.old.keys() | sides.new.keys()
        return Read(candidate, sides, not older, older=older)
    patch = version.patch
    if patch is not None:
        candidate = replace(candidate, base=base, commit=base)
    listed = [ListedCandidate(candidate, patch=patch)]
    listed = read_worktrees(repository, base, listed, rejected)
    for read in read_changes(repository, listed, time.time, rejected):
        return read
    raise SourceError(rejected[0].reason, name=visible(version.name), hint=rejected[0].hint)


def _replayed(repository: Repository, base: str, read: Read) -> Candidate:
    rejected = list[Rejected]()
    for each in replayed(repository, Target(base), [read], rejected):
        return each.candidate
    raise SourceError(rejected[0].reason, name=read.candidate.id, hint=rejected[0].hint)


def _series(repository: Repository | None, version: CandidateVersion) -> list[SeriesPatch]:
    """Return the patches of a version, none of one that is a single change of files."""
    queue = version.queue
    candidate = version.candidate
    if queue is None and repository is not None and candidate.base and not version.remembered:
        if candidate.base == candidate.commit:
            return []
        queue = read_commits(repository, f"{candidate.base}..{candidate.commit}")
        if len(queue.patches) > min(_MOST_PATCHES, MAX_COMMITS):
            return []
    patches = queue.patches if queue else ()
    return [
        SeriesPatch(number, member.message.title, partial(getattr, member.message, "patch"))
        for number, member in enumerate(patches, start=1)
    ]


def _of_pairs(pairs: Sequence[PatchPair]) -> Since:
    """Return what changed between patches, each compared with its own older version.

    What was squashed or split is compared as one.
    """
    files = list[SinceFile]()
    for before, after in groups_of(pairs):
        older, newer = (joined(each.patch for each in side) for side in (before, after))
        files += patches_since(older, newer).files
    return Since(tuple(files))
