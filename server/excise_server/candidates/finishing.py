"""The end of a review: what was taken is committed, and worktrees that are done with are removed.

What is committed is read off the user's files (`review/decided`): those that have something of a
candidate, as they are, so also with what the user typed in them. Nothing else is touched.

A worktree is removed if nothing can be lost by it: git and its folder name each other, all work in
it is committed or was taken, its commits are on a branch, and the user agreed to what else goes. It
is looked at once more after its folder has another name, where nobody finds it. It is not removed
by git, because ``git worktree remove`` runs the filters that a repository's config names.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from excise_server.foundation.changes import Side
from excise_server.foundation.escape import shortened, shown_name, spelled, visible
from excise_server.foundation.inputs import SourceError, first_few
from excise_server.git.branches import CheckedOut, checked_out, commit_files
from excise_server.git.command import Git
from excise_server.git.conversions import filtered
from excise_server.git.repository import Repository, Worktree, own_folder, points_back
from excise_server.git.trees import listing_of
from excise_server.git.worktree import is_under_way, read_working
from excise_server.review.candidate import Candidate
from excise_server.review.decided import is_whole, taken_paths
from excise_server.review.git_patch import FileEdit
from excise_server.sources.reading import files_of, saved_target
from excise_server.wire import documents as d

_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")
_OWN_REFS = ("refs/bisect/", "refs/rewritten/", "refs/worktree/")
_SUBJECT = 60
"""Most characters of the labels in the first line of the message."""


def finish_document(
    repository: Repository, candidates: Sequence[Candidate], unsaved: Collection[str]
) -> d.FinishDocument:
    """Return what can be committed and removed. Nothing is written.

    Raises SourceError if git fails, or files of the checkout are in conflict.

    - ``unsaved``: paths of files that an editor has not saved.
    """
    on = checked_out(repository)
    target = saved_target(repository, on.commit)
    taken = {c.id: own for c in candidates if (own := taken_paths(c, target.saved))}
    taken_from = [
        d.TakenFromEntry(
            candidate=c.id, label=visible(c.label), whole=is_whole(c, taken[c.id]),
            paths=[spelled(path) for path in taken[c.id]],
        )
        for c in candidates if c.id in taken
    ]  # fmt: skip
    paths = sorted({path for own in taken.values() for path in own})
    files = {path: target.saved[path] for path in paths}
    whole = {entry.candidate for entry in taken_from if entry.whole}
    names, lines = list[str](), list[str]()
    agreed = {path for identity in whole for path in taken[identity]}
    for candidate in (c for c in candidates if c.id in taken):
        name, own = shown_name(candidate.label), taken[candidate.id]
        if candidate.id not in whole:  # what others have, too, is agreement, and was not taken
            own = {path: is_all for path, is_all in own.items() if path not in agreed}
        if not own:
            continue
        if candidate.id in whole or not whole:  # others often have a part of what is whole
            names.append(name)
        from_where = [candidate.branch] if candidate.branch and candidate.branch != name else []
        if candidate.commit and not candidate.uncommitted:
            from_where.append(candidate.commit[:12])
        known = f" ({', '.join(map(shown_name, from_where))})" if from_where else ""
        part = "" if candidate.id in whole else ", a part"
        shown = first_few([shown_name(path) for path in own], 6)
        lines.append(f"Taken from {name}{known}{part}: {shown}")
    hooks = os.path.join(repository.common, "hooks")
    elsewhere = repository.git.run("config", "--get", "core.hooksPath", status=(0, 1)).strip()
    there = [name for name in _HOOKS if os.access(os.path.join(hooks, name), os.X_OK)]
    has_hooks = there or elsewhere not in (b"", os.fsencode(os.devnull))
    named = f" ({first_few(there)})" if there else ""
    return d.FinishDocument(
        repository=visible(repository.top),
        branch=visible(on.branch),
        origin=on.commit,
        digest=_digest(on, files),
        taken=taken_from,
        files=[spelled(path) for path in files],
        others=[spelled(path) for path in sorted(target.saved) if path not in files],
        subject=f"Take {shortened(first_few(names), _SUBJECT)}" if names else "",
        message="\n".join(lines),
        worktrees=[*_worktrees(repository, candidates, taken, whole)],
        obstacle=_obstacle(repository, on, files, unsaved),
        notes=[f"no hook is run{named}, and nothing is signed"] if has_hooks else [],
    )


def files_to_commit(
    repository: Repository, plan: d.FinishDocument
) -> tuple[CheckedOut, dict[str, Side | None]]:
    """Return the branch and the files of a plan, as they are.

    Raises SourceError if they are not what the plan was made of, or it has an obstacle.
    """
    if plan.obstacle:
        raise SourceError(plan.obstacle)
    on = checked_out(repository)
    now = saved_target(repository, on.commit).saved
    files = {path: now[path] for path in sorted(now) if spelled(path) in plan.files}
    if _digest(on, files) != plan.digest:
        raise SourceError("the files have changed meanwhile", hint="look at them, and finish again")
    return on, files


def edits_of(
    repository: Repository, on: CheckedOut, files: Mapping[str, Side | None]
) -> list[FileEdit]:
    """Return the files as edits of the commit that is checked out."""
    before = files_of(repository, on.commit, files)
    return [FileEdit(path, path, before.get(path), side) for path, side in files.items()]


def commit_plan(repository: Repository, plan: d.FinishDocument, subject: str) -> str:
    """Commit the files of a plan, and return the id of the commit.

    Raises SourceError as `files_to_commit` and `commit_files`.
    """
    on, files = files_to_commit(repository, plan)
    first = " ".join(subject.split()) or plan.subject
    return commit_files(repository, on, files, f"{first}\n\n{plan.message}\n")


def remove_worktree(
    repository: Repository, entry: d.FinishedWorktreeEntry, *, agreed: bool
) -> None:
    """Remove a worktree of a plan, if nothing in it has changed meanwhile. Its branch stays.

    Raises SourceError if it cannot be removed: nothing is lost.

    - ``agreed``: whether the user agreed to what else goes.
    """
    if entry.obstacle:
        raise SourceError(entry.obstacle)
    if entry.also and not agreed:
        raise SourceError(f"also goes: {first_few(entry.also)}", hint="agree to that first")
    tree = next((t for t in repository.worktrees() if visible(t.path) == entry.folder), None)
    if tree is None:
        raise SourceError("it is not there any more")
    folder = os.path.realpath(tree.path)
    if reason := points_back(folder, repository.common):
        raise SourceError(reason)
    changed = SourceError("it has changed meanwhile", hint="look at it, and finish again")
    if _work(repository, tree, folder).state != entry.state:
        raise changed
    git_dir, aside = own_folder(folder), f"{folder}.removed-{os.getpid()}"
    link = os.path.join(git_dir, "gitdir")
    with open(link, "rb") as file:
        named = file.read()
    try:
        os.rename(folder, aside)  # in one step: whoever works in it notices
    except OSError as error:
        raise SourceError(f"its folder cannot be removed: {error.strerror}") from error
    try:
        is_same = _work(repository, tree, aside).state == entry.state
    except SourceError:
        is_same = False
    if not is_same:
        try:
            os.rename(aside, folder)
            with open(link, "wb") as file:  # git may have noted the other name
                file.write(named)
        except OSError as error:
            reason = f"it has changed meanwhile, and is in {visible(aside)}: {error.strerror}"
            raise SourceError(reason) from error
        raise changed
    shutil.rmtree(git_dir, ignore_errors=True)
    shutil.rmtree(aside, ignore_errors=True)
    if os.path.lexists(aside):
        raise SourceError(f"some of its files cannot be removed: they are in {visible(aside)}")


def _digest(on: CheckedOut, files: Mapping[str, Side | None]) -> str:
    parts = [repr(on)]
    for path, side in files.items():
        own = "" if side is None else f"{side.mode} {hashlib.sha256(side.data).hexdigest()}"
        parts.append(f"{path!r} {own}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _obstacle(
    repository: Repository,
    on: CheckedOut,
    files: Mapping[str, Side | None],
    unsaved: Collection[str],
) -> str:
    """Return why nothing can be committed, or an empty string."""
    if not files:
        return "nothing to commit: no saved file has anything of a candidate; take one first"
    if not on.branch:
        return "HEAD is detached, and a commit would be on no branch: git switch -c NAME makes one"
    if open_files := sorted(path for path in files if path in unsaved):
        return f"not saved: {first_few([shown_name(path) for path in open_files])}"
    if is_under_way(repository.top):
        return "a merge, rebase or the like is in progress: finish that first"
    if odd := filtered(repository.git, files):
        shown = first_few([shown_name(path) for path in odd])
        return f"git converts {shown} by a filter, which Excise never runs: commit by git itself"
    return ""


class _Work(NamedTuple):
    """What a worktree has that is in no commit of it.

    - ``changes``: its uncommitted files.
    - ``more``: what is not known of it, or is under way.
    - ``also``: what else is only there: staged, skipped or ignored files.
    - ``state``: a digest of it all.
    """

    changes: Collection[str]
    more: Sequence[str]
    also: list[str]
    state: str


def _work(repository: Repository, tree: Worktree, folder: str) -> _Work:
    head = listing_of(repository, tree.head)
    trees = {os.path.realpath(other.path) for other in repository.worktrees()}
    working = read_working(repository, folder, head, worktrees=trees)
    parts = [tree.head, tree.branch]
    for path, entry in sorted(working.changes.items()):
        parts.append(f"{path!r} {entry and (entry.mode, entry.blob, entry.refused)}")
    more = [*working.notes, *working.asides]
    more += [f"it has the submodule {visible(path)}" for path in working.submodules[:1]]
    # What no branch of the repository has, and goes with the worktree's own git dir.
    modules = os.path.join(own_folder(folder), "modules")
    if os.path.lexists(modules):
        more.append(f"{visible(modules)} has repositories of submodules")
    refs = repository.git.at(folder).run("for-each-ref", "--format=%(refname)", *_OWN_REFS)
    more += [f"it has refs of its own: {visible(os.fsdecode(ref))}" for ref in refs.split()[:1]]
    also = [f"{shown_name(path)} ({why})" for path, why in sorted(working.only_here.items())]
    options = ("--others", "--ignored", "--exclude-standard", "--directory", "-z")
    out = repository.git.at(folder).run("ls-files", *options)
    ignored = [os.fsdecode(path) for path in out.split(b"\0") if path]
    staged = repository.git.at(folder).run("ls-files", "--stage", "-z")
    for path in ignored:
        number, repositories = _counted(os.path.join(folder, path), parts)
        count = "1 file" if number == 1 else f"{number:,} files"
        inner = f", {repositories} with a .git" if repositories else ""
        also.append(f"{shown_name(path)}{f' ({count}{inner})' if path.endswith('/') else ''}")
    apart = tuple(os.path.join(folder, path.rstrip("/")) for path in ignored if path[-1:] == "/")
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if os.path.join(place, name) not in apart]
        if place != folder and ".git" in (*folders, *files):
            inside = shown_name(os.path.relpath(place, folder))
            more.append(f"{inside} is a repository of its own: move it away first")
            folders.clear()
        folders[:] = [name for name in folders if name != ".git"]
    parts += [hashlib.sha256(staged).hexdigest(), *also, *more]
    return _Work(
        working.changes.keys(), more, also, hashlib.sha256("\n".join(parts).encode()).hexdigest()
    )


def _counted(path: str, parts: list[str]) -> tuple[int, int]:
    """Return how many files and repositories are at a path, and add what tells of a change."""
    count, repositories = 0, 0
    places = [path]
    if os.path.isdir(path) and not os.path.islink(path):
        places = []
        for place, folders, files in os.walk(path):
            repositories += ".git" in (*folders, *files)
            links = [name for name in folders if os.path.islink(os.path.join(place, name))]
            places += [os.path.join(place, name) for name in (*files, *links)]
    for place in places:
        with suppress(OSError):
            status = os.lstat(place)
            parts.append(f"{os.path.relpath(place, path)!r} {status.st_size} {status.st_mtime_ns}")
        count += 1
    return count, repositories


def _worktrees(
    repository: Repository,
    candidates: Sequence[Candidate],
    taken: Mapping[str, Mapping[str, bool]],
    whole: Collection[str],
) -> Iterator[d.FinishedWorktreeEntry]:
    """Yield what is kept, and the linked worktrees of the repository but the user's own."""
    by_folder = {candidate.folder: candidate for candidate in candidates if candidate.folder}
    every = repository.worktrees()
    for tree in every[1:]:
        folder = os.path.realpath(tree.path)
        if folder == repository.top or tree.prunable or not os.path.isdir(folder):
            continue
        candidate = by_folder.get(folder)
        own = {} if candidate is None else taken.get(candidate.id, {})
        state, also = "", list[str]()
        obstacle = points_back(folder, repository.common)
        if not obstacle:
            inside = [repository.top, repository.common, os.path.expanduser("~"), os.getcwd()]
            inside += [os.path.realpath(other.path) for other in every if other is not tree]
            if any(os.path.realpath(path).startswith(f"{folder}{os.sep}") or
                   os.path.realpath(path) == folder for path in inside):  # fmt: skip
                obstacle = "another folder that is needed is inside of it"
        if not obstacle:
            try:
                changes, more, also, state = _work(repository, tree, folder)
                lost = sorted(path for path in changes if not own.get(path, False))
                is_taken = candidate is not None and candidate.id in whole
                if os.path.lexists(os.path.join(own_folder(folder), "locked")):
                    obstacle = "it is locked: git worktree unlock"
                elif lost:
                    names = first_few([shown_name(path) for path in lost])
                    obstacle = f"not committed, and not taken: {names}"
                elif more:
                    obstacle = more[0]
                elif not (is_taken or tree.branch or _is_on_a_branch(repository.git, tree.head)):
                    keeps = f"git branch NAME {tree.head[:12]} keeps them"
                    obstacle = f"its commits are on no branch: {keeps}"
            except SourceError as error:
                obstacle = error.reason
        yield d.FinishedWorktreeEntry(
            id=candidate.id if candidate else f"worktree:{visible(os.path.basename(folder))}",
            label=visible(candidate.label if candidate else os.path.basename(folder)),
            folder=visible(tree.path),
            obstacle=obstacle,
            also=also,
            state=state,
        )


def _is_on_a_branch(git: Git, commit: str) -> bool:
    with suppress(SourceError):
        return bool(git.run("for-each-ref", "--count=1", f"--contains={commit}", "refs/heads/"))
    return False
