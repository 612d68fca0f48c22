"""Possible candidates: the worktrees of a repository, and refs by pattern, with their names.

Filters come before limits, and a limit cuts the oldest.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from excise_server.foundation.escape import visible
from excise_server.foundation.files import read_bytes
from excise_server.foundation.inputs import Rejected, SourceError, first_few, unique_ids
from excise_server.git.history import merge_bases, worktree_made
from excise_server.git.repository import Repository, points_back
from excise_server.review.candidate import Candidate, in_order
from excise_server.review.names import Roots, Traces, name_of

_REQUEST = re.compile(r"refs/(pull|merge-requests)/([^/]+)/head")
_TRIAL_MERGE = re.compile(r"refs/(pull|merge-requests)/[^/]+/merge")
_SHORT = {"#": "refs/pull/{}/head", "!": "refs/merge-requests/{}/head"}
_KINDS = {"refs/heads/": "branch", "refs/remotes/": "remote"}

_INCOMING = ("MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD")
_HEAD_NAMES = (("rebase-merge", "head-name"), ("rebase-apply", "head-name"))
_COMMIT = re.compile(rb"([0-9a-f]{40,64})\n?")
_BRANCH = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Ref:
    """A ref and its commit.

    - ``full``: ``refs/remotes/origin/topic``.
    - ``name``: under which a candidate is known: ``branch:topic``, ``remote:origin/topic``,
      ``ref:pull/12`` (the head of a pull request), ``ref:refs/x/y``.
    - ``time``: when that was committed, in seconds since the epoch.
    """

    full: str
    name: str
    commit: str
    time: int

    @property
    def scheme(self) -> str:
        """The kind of its name: ``branch``, ``remote`` or ``ref``."""
        return self.name.partition(":")[0]

    @property
    def short(self) -> str:
        """The ref as git abbreviates it, or its full name if it is not a branch."""
        return self.full.split("/", 2)[2] if self.scheme in ("branch", "remote") else self.full

    @property
    def given(self) -> str:
        """The way people write a request, ``#7521`` or ``!12``."""
        request = _REQUEST.fullmatch(self.full)
        return f"{'#' if request[1] == 'pull' else '!'}{visible(request[2])}" if request else ""


def find_refs(repository: Repository, patterns: Sequence[str]) -> tuple[list[Ref], list[Rejected]]:
    """Return the refs that match any of the patterns, the newest commit first.

    Raises SourceError if a pattern cannot be one.

    - ``patterns``: of branches (``agent/*``) and remote branches (``origin/pr-*``), of requests
      (``pull/75*``, ``#7521``, ``merge-requests/12``, ``!12``), or of full names (``refs/x/*``).
      The merges that a host makes of requests to try them out are taken by their full names alone.
    """
    named = [pattern for pattern in patterns if pattern and "\0" not in pattern]
    if not named:  # without any, git would list every ref
        raise SourceError("a branch pattern is empty or contains a NUL character")
    merges = [pattern for pattern in named if pattern.endswith("/merge")]
    refs, rejected = [], []
    for ref, kind in _listed(repository, *(f for p in named for f in _full_patterns(p))):
        is_named = any(fnmatchcase(ref.full, pattern) for pattern in merges)
        if _TRIAL_MERGE.fullmatch(ref.full) and not is_named:
            continue
        if kind == "commit":
            refs.append(ref)
        else:
            rejected.append(Rejected(ref.name, f"it is a {kind}, not a commit"))
    return refs, rejected


def _listed(
    repository: Repository, *patterns: str, options: Sequence[str] = ("--sort=-committerdate",)
) -> Iterator[tuple[Ref, str]]:
    """Yield the refs of patterns and the kinds of their objects, without links."""
    out = repository.git.run(
        "for-each-ref",
        "--format=%(objectname) %(objecttype) %(committerdate:unix) "
        "%(if)%(symref)%(then)link%(else)own%(end) %(refname)",
        *options,
        "--end-of-options",
        *patterns,
    )
    for line in os.fsdecode(out).split("\n")[:-1]:
        commit, kind, time, link, full = line.split(" ", 4)
        if link == "own":
            yield Ref(full, _name(full), commit, int(time or 0)), kind


def _full_patterns(pattern: str) -> Iterator[str]:
    if pattern.startswith("refs/"):
        yield pattern
    elif pattern[0] in _SHORT:
        yield _SHORT[pattern[0]].format(pattern[1:])
        yield f"refs/heads/{pattern}"
    else:
        yield from (f"{start}{pattern}" for start in _KINDS)
        if pattern.startswith(("pull/", "merge-requests/")):
            yield f"refs/{pattern.removesuffix('/head')}/head"


def _name(full: str) -> str:
    for start, scheme in _KINDS.items():
        if full.startswith(start):
            return f"{scheme}:{visible(full.removeprefix(start))}"
    request = _REQUEST.fullmatch(full)
    return f"ref:{visible(f'{request[1]}/{request[2]}' if request else full)}"


# --- the two sides of an unfinished merge, rebase or the like ------------------------------------


@dataclass(frozen=True, slots=True)
class MergeSide:
    """One side.

    - ``commit``: its commit, or empty if git does not tell, as for a stash.
    - ``branch``: the branch at that commit, or the one that is rebased; may be empty.
    - ``names``: the names of the refs at the commit, as in `Ref`.
    """

    commit: str = ""
    branch: str = ""
    names: tuple[str, ...] = ()


def sides_of(repository: Repository) -> tuple[MergeSide, MergeSide]:
    """Return our side and theirs; the other's commit is empty if there is none, or several."""
    incoming = (_COMMIT.fullmatch(_read(repository, name)) for name in _INCOMING)
    ours = repository.head() or ""
    theirs = next((match[1].decode() for match in incoming if match), "")
    at = [f"--points-at={commit}" for commit in (ours, theirs) if commit]
    listed = _listed(repository, *_KINDS, options=at) if at else ()  # local branches first
    refs = [ref for ref, kind in listed if kind == "commit"]
    checked_out = _line(repository, "HEAD").removeprefix("ref: ")
    rebased = next((name for part in _HEAD_NAMES if (name := _line(repository, *part))), "")
    return _side(ours, refs, checked_out), _side(theirs, refs, rebased, is_named=True)


def _side(commit: str, refs: list[Ref], first: str, *, is_named: bool = False) -> MergeSide:
    """Return a side, named by the first ref (``is_named``: also from elsewhere)."""
    if not commit:
        return MergeSide()
    refs_there = sorted(
        (ref for ref in refs if ref.commit == commit), key=lambda ref: ref.full != first
    )
    branch = refs_there[0].short if refs_there else ""
    if is_named and first.startswith(_BRANCH):
        branch = first.removeprefix(_BRANCH)
    return MergeSide(commit, branch, tuple(ref.name for ref in refs_there))


def _line(repository: Repository, *names: str) -> str:
    return os.fsdecode(_read(repository, *names)).removesuffix("\n")


def _read(repository: Repository, *names: str) -> bytes:
    try:
        git_dir = repository.git_dir
        return read_bytes(os.path.join(git_dir, *names), [git_dir], limit=8192)
    except SourceError:
        return b""


MAX_WORKTREES = 200
"""Most worktrees that are compared: those made last."""

MAX_REFS = 200
"""Most refs that are compared: those with the newest commits."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The candidates to compare.

    - ``worktrees``: every worktree, uncommitted changes included.
    - ``chosen``: what is chosen of other sources, by their settings: patterns of refs
      (``git``, `find_refs`), or files and folders (``patches``).
    - ``optional``: those of them that may match nothing, because they are settings and were not
      typed.
    - ``only``: globs of any name of a candidate (folder, branch, request, the tool's name); none:
      all.
    - ``onto``: a revision to replay them on instead of HEAD of the checkout, or ``saved`` for its
      files.
    - ``bases``: names of candidates, and the revisions that they started from, if git's answer is
      wrong.
    - ``remembered``: earlier settings of the same kind, for candidates that may be gone.
    - ``target``: whether the checkout itself, with its uncommitted changes, is a candidate as well.
    """

    worktrees: bool = True
    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    optional: Collection[str] = ()
    only: tuple[str, ...] = ()
    onto: str = ""
    bases: tuple[tuple[str, str], ...] = ()
    remembered: tuple[tuple[str, str], ...] = ()
    target: bool = False


def find_checkouts(
    repository: Repository, selection: Selection
) -> tuple[list[Candidate], list[Rejected]]:
    """Return the chosen worktrees and refs, with unique ids, and those that are left out.

    A local branch that is checked out in one of the worktrees is a name of that.

    Raises SourceError if a pattern cannot be one.
    """
    rejected: list[Rejected] = []
    listed: list[Candidate] = []
    if selection.worktrees:
        listed += _worktrees(repository, selection, rejected)
    if selection.chosen.get("git"):
        shown = {name for candidate in listed for name in candidate.names}
        listed += _refs(repository, selection, shown, rejected)
    ids = unique_ids([candidate.id for candidate in listed])
    return [
        replace(candidate, id=name, names=(name, *candidate.names[1:]))
        for candidate, name in zip(listed, ids, strict=True)
    ], rejected


def _worktrees(
    repository: Repository, selection: Selection, rejected: list[Rejected]
) -> list[Candidate]:
    candidates = []
    worktrees = repository.worktrees()
    main = worktrees[0].path if worktrees else repository.top
    for tree in worktrees:
        real = os.path.realpath(tree.path)
        branch, name = tree.branch.removeprefix("refs/heads/"), visible(os.path.basename(tree.path))
        names = (f"worktree:{name}", *([f"branch:{visible(branch)}"] if branch else []))
        candidate = Candidate(names[0], real, branch, tree.head, names)
        if real == repository.top and not selection.target:
            continue
        if not is_chosen(selection, main, candidate, [name]):
            continue
        reason = f"prunable: {tree.prunable}" if tree.prunable else ""
        if not reason and not tree.head.strip("0"):
            reason = "it has no commits yet"
        if reason := reason or points_back(real, repository.common):
            rejected.append(Rejected(f"worktree:{visible(tree.path)}", reason))
        else:
            candidates.append(candidate)
    if len(candidates) > MAX_WORKTREES:
        creations = {c.folder: worktree_made(repository, c.folder) for c in candidates}
        age = {folder: entry.time if entry else 0 for folder, entry in creations.items()}
        candidates.sort(key=lambda c: age[c.folder], reverse=True)
        rejected.append(_cut("worktrees", [c.id for c in candidates], MAX_WORKTREES, "made last"))
    return candidates[:MAX_WORKTREES]


def _refs(
    repository: Repository, selection: Selection, shown: set[str], rejected: list[Rejected]
) -> list[Candidate]:
    patterns = selection.chosen["git"]
    refs, unusable = find_refs(repository, patterns)
    commits = [*_commits(repository, patterns, refs)]
    if "git" not in selection.optional and not (refs or unusable or commits):
        shown_patterns = ", ".join(map(visible, patterns))
        rejected.append(Rejected("git", f"none matches {shown_patterns}"))
    rejected += unusable
    candidates = [
        each for each in commits if is_chosen(selection, repository.top, each, (each.given,))
    ]
    tagged = _tags(repository, patterns)
    for ref in refs:
        branch = ref.short if ref.scheme in ("branch", "remote") else ""
        names = in_order([ref.name])
        candidate = Candidate(ref.name, "", branch, ref.commit, names, ref.given)
        if ref.scheme == "branch" and branch in tagged:
            name = visible(branch)
            note = f"{name} is ambiguous: this is the branch, and refs/tags/{name} the tag"
            candidate = replace(candidate, notes=(note,))
        if ref.name not in shown and is_chosen(
            selection, repository.top, candidate, (ref.short, ref.full, ref.given)
        ):
            candidates.append(candidate)
    if len(candidates) > MAX_REFS:
        cut = _cut("git", [c.id for c in candidates], MAX_REFS, "with the newest commits")
        rejected.append(cut)
    return candidates[:MAX_REFS]


def _tags(repository: Repository, patterns: Sequence[str]) -> set[str]:
    """Return the tags that are called as a pattern that is a whole name."""
    names = [p for p in patterns if not set("*?[:\n") & set(p) and not p.startswith("refs/")]
    if not names:
        return set()
    full = [f"refs/tags/{name}" for name in names]
    out = repository.git.run("for-each-ref", "--format=%(refname)", "--end-of-options", *full)
    return {os.fsdecode(line).removeprefix("refs/tags/") for line in out.split(b"\n") if line}


def _commits(
    repository: Repository, patterns: Sequence[str], refs: Sequence[Ref]
) -> Iterator[Candidate]:
    """Yield what patterns name that match no ref: tags, commits and ranges, which have a base."""
    for pattern in patterns:
        full = [*_full_patterns(pattern)]
        if set("*?[:\n") & set(pattern) or any(
            ref.full == name or ref.full.startswith(f"{name}/") for ref in refs for name in full
        ):
            continue
        start, dots, end = pattern.partition("..")
        ends = [start or "HEAD", end.removeprefix(".") or "HEAD"] if dots else [pattern]
        found = [repository.commit_of(name) for name in ends]
        commits = [commit for commit in found if commit is not None]
        if len(commits) < len(ends):
            continue
        base = commits[0] if dots else ""
        if end.startswith("."):
            base = next(iter(merge_bases(repository, *commits)), "")
        name = f"commit:{visible(pattern)}"
        yield Candidate(name, "", "", commits[-1], (name,), visible(pattern), base=base)


def _cut(name: str, ids: Sequence[str], limit: int, which: str) -> Rejected:
    whom = first_few(ids[limit:])
    reason = f"only the {limit} of {len(ids)} {which} are compared, without {whom}"
    return Rejected(name, reason, "choose with --only GLOB")


def is_chosen(selection: Selection, main: str, candidate: Candidate, names: Iterable[str]) -> bool:
    """Whether a candidate is chosen by any of its names."""
    if not selection.only:
        return True
    forms = name_of(traces_of(candidate, main), roots()).forms
    short = (name.partition(":")[2] for name in candidate.names)
    spelled = [name for name in (*names, candidate.branch, *short, *forms) if name]
    return any(
        fnmatchcase(name, glob)
        for glob in selection.only
        for name in (candidate.names if ":" in glob else spelled)
    )


def roots() -> Roots:
    """Return the folders of the user in which tools keep worktrees."""
    return Roots(os.path.expanduser("~"), os.environ.get("CODEX_HOME", ""))


def traces_of(candidate: Candidate, main: str) -> Traces:
    """Return the known facts about a candidate's name (``main``: the main checkout)."""
    is_remote = not candidate.folder and any(n.startswith("remote:") for n in candidate.names)
    is_local = candidate.folder or any(n.startswith("branch:") for n in candidate.names)
    given = "" if is_local else candidate.given
    if candidate.kind == "patch":
        given = candidate.id.partition(":")[2]
    return Traces(
        folder=candidate.folder,
        branch="" if not is_local else candidate.branch,
        remote=candidate.branch if is_remote and not is_local else "",
        commit=candidate.commit,
        given=given,
        repository=main,
    )
