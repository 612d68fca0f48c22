"""The histories of commits: merge bases, what was made when, and where a candidate started.

Commits never change, so each question about two of them is asked once per process: an editor asks
about the same ones whenever a file changes. The cuts of a history (a shallow clone, grafts) are not
part of the commits, so they are part of the question.

A candidate's base is the merge base with the target, so that the commits of others do not count as
its edits. A worktree that was made on top of somebody's feature branch started later. Its reflog
says where, which is believed only if the histories agree.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, reduce, update_wrapper
from heapq import heappop, heappush
from itertools import takewhile
from operator import or_
from typing import Generic, NamedTuple, TypeVar

from excise_server.foundation.escape import visible
from excise_server.foundation.files import read_bytes
from excise_server.foundation.inputs import SourceError
from excise_server.git.command import GitError
from excise_server.git.repository import Repository, own_folder

Answer = TypeVar("Answer")

_KEPT = 5_000
"""Most answers that are kept for each kind of question."""

_TOGETHER = 25
"""Most questions that one git process answers: in the time that one may take."""

_MOST_LISTED = 20_000
"""Most commits of a target that are listed to count them."""

_CUTS = ("shallow", os.path.join("info", "grafts"))
_MOST_ISSUES = 3
_ISSUE = re.compile(r"(?<![\w/&#])(?:GH-|#)(\d{1,7})\b|/(?:issues|bugs)/(\d{1,7})\b")
_TRAILER = re.compile(r"(?im)^(?:co-authored-by|assisted-by):[^\n]*$")
_FIRST_LINE = re.compile(
    rb"(0{40,64}) (?P<commit>[0-9a-f]{40,64}) [^\n]*> (?P<time>\d{1,12}) [+-]\d{4}(?=[\t\n]|\Z)"
)


# --- questions about two commits -----------------------------------------------------------------


class AskedOnce(Generic[Answer]):
    """A question about two commits by their ids, with the answers so far. Errors are not kept."""

    def __init__(self, ask: Callable[[Repository, str, str], Answer]) -> None:
        self._ask, self._kept = ask, dict[tuple[object, ...], Answer]()
        update_wrapper(self, ask)

    def __call__(self, repository: Repository, first: str, second: str) -> Answer:
        """Return the answer, for which git is asked once."""
        question = (*_place(repository), first, second)
        with suppress(KeyError):
            return self._kept[question]
        answer = self._ask(repository, first, second)
        self._keep({question: answer})
        return answer

    def ask_together(
        self,
        repository: Repository,
        pairs: Iterable[tuple[str, str]],
        ask: Callable[[Repository, Sequence[tuple[str, str]]], Iterable[tuple[str, str, Answer]]],
    ) -> None:
        """Ask about several pairs at once. What that does not answer is left to single questions.

        So an error is that of its own pair alone.
        """
        place = _place(repository)
        questions = {pair: (*place, *pair) for pair in pairs if pair[0] != pair[1]}
        new = [pair for pair, question in questions.items() if question not in self._kept]
        for start in range(0, len(new), _TOGETHER):
            part = new[start : start + _TOGETHER]
            if len(part) > 1:
                with suppress(SourceError, ValueError):
                    answers = ask(repository, part)
                    self._keep({questions[first, second]: a for first, second, a in answers})

    def known(self, repository: Repository, first: str, second: str) -> Answer | None:
        """Return the answer if git was asked before."""
        return self._kept.get((*_place(repository), first, second))

    def _keep(self, answers: Mapping[tuple[object, ...], Answer]) -> None:
        if len(self._kept) + len(answers) > _KEPT:
            self._kept.clear()
        self._kept.update(answers)


def _place(repository: Repository) -> tuple[object, ...]:
    cuts = []
    for name in _CUTS:
        with suppress(OSError):
            status = os.stat(os.path.join(repository.common, name))
            cuts.append((name, status.st_mtime_ns, status.st_size))
    return (repository.common, *cuts)


@AskedOnce
def merge_bases(repository: Repository, first: str, second: str) -> tuple[str, ...]:
    """Return the best common ancestors of two commits, or none if the histories are unrelated."""
    if first == second:
        return (first,)
    arguments = ("merge-base", "--all", "--end-of-options", first, second)
    return tuple(repository.git.run(*arguments, status=(0, 1)).decode("ascii", "replace").split())


def _merge_bases(
    repository: Repository, pairs: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield pairs with their merge bases, as git prints a symmetric difference: ``B A ^BASE ..``.

    Both commands call the same function of git.
    """
    out = repository.git.run("rev-parse", *(f"{first}...{second}" for first, second in pairs))
    names = out.decode("ascii", "replace").split()
    for first, second in pairs:
        if names[:2] != [second, first]:
            raise SourceError("git rev-parse gave unexpected output")
        bases = tuple(name[1:] for name in takewhile(lambda name: name[0] == "^", names[2:]))
        yield first, second, bases
        del names[: 2 + len(bases)]


@AskedOnce
def _commits_between(repository: Repository, older: str, newer: str) -> int:
    if older == newer:
        return 0
    return int(repository.git.run("rev-list", "--count", f"{older}..{newer}"))


def _counted_between(
    repository: Repository, pairs: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str, int]]:
    """Yield ancestors of one commit with that, and the number of commits between them.

    The commits since the oldest are listed. Any other ancestor that has the oldest in its own
    history has those of them that are not in that history, too.
    """
    newer = pairs[0][1]
    commits = "".join(f"{older}\n" for older, _ in pairs).encode()
    oldest = repository.git.run("rev-list", "--no-walk", "--stdin", stdin=commits).split()[-1]
    options = ("--topo-order", "--parents", f"--max-count={_MOST_LISTED}")
    since = f"{oldest.decode()}..{newer}"
    lines = repository.git.run("rev-list", *options, since).split(b"\n")[:-1]
    if len(lines) == _MOST_LISTED:
        return
    # By commit, a bit for each ancestor that has it. Children come before their parents.
    having = {older.encode(): 1 << place for place, (older, _) in enumerate(pairs)}
    counted = Counter[int]()
    for line in lines:
        commit, *parents = line.split()
        if bits := having.get(commit, 0):
            counted[bits] += 1
            for parent in parents:
                having[parent] = having.get(parent, 0) | bits
    for place, (older, _) in enumerate(pairs):
        if having[oldest] & 1 << place:
            both = sum(count for bits, count in counted.items() if bits & 1 << place)
            yield older, newer, len(lines) - both


class OwnCommits(NamedTuple):
    """What the commits say that a candidate has and its base has not.

    - ``time``: that of the first, in seconds since the epoch; None without any.
    - ``trailers``: the trailer lines of all.
    - ``issues``: the issues that they name.
    """

    time: int | None = None
    trailers: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()


@AskedOnce
def own_commits(repository: Repository, base: str, commit: str) -> OwnCommits:
    """Read the commits that a candidate has and its base has not."""
    if base == commit:
        return OwnCommits()
    return _own_of(_commits(repository, [f"{base}..{commit}"]).values())


def ask_own_commits(repository: Repository, target: str, pairs: Iterable[tuple[str, str]]) -> None:
    """Ask for the own commits of several candidates at once, by their bases and commits.

    Only of those whose base is their one merge base with the target: all that such a candidate has
    of the target's history, and so of the other bases', is what its own base has.
    """
    single = [p for p in pairs if merge_bases.known(repository, target, p[1]) == p[:1]]
    own_commits.ask_together(repository, single, _own_commits)


def _own_commits(
    repository: Repository, pairs: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str, OwnCommits]]:
    listed = _commits(repository, [f"{base}..{commit}" for base, commit in pairs])
    for base, commit in pairs:
        if commit not in listed:
            continue  # a graft may have made a circle
        # In git's order: the newest of those whose children came, and of equal ones the first.
        own = list[_OwnCommit]()
        queue = [(-listed[commit].time, 0, commit)]
        seen = {commit}
        while queue:
            own.append(listed[heappop(queue)[2]])
            for parent in own[-1].parents:
                if parent in listed and parent not in seen:
                    seen.add(parent)
                    heappush(queue, (-listed[parent].time, len(seen), parent))
        yield base, commit, _own_of(own)


class _OwnCommit(NamedTuple):
    """A commit; of a ``time`` that git cannot read, it was made at 0."""

    parents: Sequence[str]
    time: int
    message: str


def _commits(repository: Repository, ranges: Iterable[str]) -> dict[str, _OwnCommit]:
    """Read the commits of ranges that no base of theirs has, in git's order."""
    asked = "".join(f"{name}\n" for name in ranges).encode()
    options = ("--format=%H%x00%P%x00%ct%x00%B%x00", "--stdin")
    out = repository.git.run("rev-list", *options, stdin=asked)
    fields = out.decode("utf-8", "replace").split("\0")
    rows = zip(*(fields[start:-1:4] for start in range(4)), strict=True)
    return {
        heading.rpartition("\n")[2]: _OwnCommit(parents.split(), int(time or 0), message)
        for heading, parents, time, message in rows
    }


def _own_of(commits: Collection[_OwnCommit]) -> OwnCommits:
    trailers = (line for commit in commits for line in _TRAILER.findall(commit.message))
    issues = issues_named("\n".join(commit.message for commit in commits))
    return OwnCommits(min((c.time for c in commits), default=None), tuple(trailers), issues)


def issues_named(message: str) -> tuple[str, ...]:
    """Return the issues that a message names, in order, or none if it lists more than a few.

    The number of a merged request at the end of the first line is none of them.

    >>> issues_named("Fix it (#7)\\n\\nFixes #12, see https://host/a/b/issues/34")
    ('#12', '#34')
    """
    text = re.sub(r"(?m)^(.*\S) \(#\d+\)$|^Merge (?:pull|merge) request \S+", r"\1", message)
    found = dict.fromkeys(f"#{a or b}" for a, b in _ISSUE.findall(text))
    return tuple(found) if len(found) <= _MOST_ISSUES else ()


def commit_named(repository: Repository, name: str, option: str) -> str:
    """Return the commit of a revision that the user named.

    Raises SourceError if there is none.
    """
    if (commit := repository.commit_of(name)) is None:
        raise SourceError(f"unknown revision {visible(name)!r}", hint=f"check {option}")
    return commit


# --- reflogs: their first line says when a worktree or branch was made ---------------------------


class Made(NamedTuple):
    """The commit that something was made at, and when, in seconds since the epoch."""

    commit: str
    time: int


def worktree_made(repository: Repository, folder: str) -> Made | None:
    """Return where and when a linked worktree was made, or None if its reflog does not say."""
    try:
        git_dir = own_folder(folder)
    except SourceError:
        return None
    if os.path.dirname(git_dir) != os.path.join(repository.common, "worktrees"):
        return None  # the main checkout, whose reflog begins with the clone
    return _first_entry(os.path.join(git_dir, "logs", "HEAD"), git_dir)


def branch_made(repository: Repository, branch: str) -> Made | None:
    """Return where and when a local branch was made, or None if its reflog does not say."""
    path = os.path.join(repository.common, "logs", "refs", "heads", *branch.split("/"))
    return _first_entry(path, repository.common)


def _first_entry(path: str, root: str) -> Made | None:
    """Return the first entry of a reflog, or None if it expired or does not exist."""
    try:
        first = _FIRST_LINE.match(read_bytes(path, [root]))
    except SourceError:
        return None
    return Made(first["commit"].decode(), int(first["time"])) if first else None


# --- bases ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Start:
    """The commit that a candidate started from, how far the target is ahead of it, and notes."""

    base: str
    behind: int = 0
    notes: tuple[str, ...] = ()


class History:
    """Questions about the commits of a repository and one target, each of which is asked once."""

    def __init__(self, repository: Repository, target: str) -> None:
        self._repository, self._target = repository, target
        self._holding: dict[str, frozenset[str]] = {}

    def ask_together(self, commits: Iterable[str]) -> None:
        """Ask git in one go where several candidates started: most of them are not worktrees.

        `own_base` then returns each of them, or raises its error.
        """
        repository, target = self._repository, self._target
        commits = dict.fromkeys(commits)
        merge_bases.ask_together(repository, [(target, c) for c in commits], _merge_bases)
        found = (merge_bases.known(repository, target, c) for c in commits)
        pairs = [(bases[0], target) for bases in found if bases]
        _commits_between.ask_together(repository, pairs, _counted_between)

    def own_base(
        self,
        commit: str,
        *,
        folder: str = "",
        branch: str = "",
        is_edited: Callable[[], bool] = lambda: False,
    ) -> Start | None:
        """Return where a candidate started, or None if it shares no history with the target.

        - ``folder``, ``branch``: its worktree and local branch, or empty.
        - ``is_edited``: tells whether the worktree has uncommitted changes; rarely called.
        """
        bases = merge_bases(self._repository, self._target, commit)
        if not bases:
            return None
        notes = ("several merge bases: the first one is used",) if len(bases) > 1 else ()
        base = bases[0]
        if folder:
            base = self._stacked_on(base, commit, folder, branch, is_edited) or base
        return Start(base, _commits_between(self._repository, base, self._target), notes)

    def start_at(self, base: str) -> Start:
        """Return the start that the user named."""
        return Start(base, _commits_between(self._repository, base, self._target))

    def _stacked_on(
        self, base: str, commit: str, folder: str, branch: str, is_edited: Callable[[], bool]
    ) -> str | None:
        """Return the commit at which a worktree was made, if it is another person's branch.

        It must lie between the merge base and the worktree's commit, something must have changed
        since, and a ref other than the worktree's own branch and its upstream must hold it. So a
        worktree made *of* a branch keeps that branch's edits, and one made on top of it does not
        count them.
        """
        first = worktree_made(self._repository, folder)
        if first is None or first.commit == base:
            return None
        start = first.commit
        try:
            between = (base, start), (start, commit)
            if any(merge_bases(self._repository, *pair) != pair[:1] for pair in between):
                return None
        except SourceError:
            return None  # an object is missing
        own = f"refs/heads/{branch}"
        own_refs = {own, self._upstreams.get(own, "")} if branch else set()
        if start not in self._holding:
            arguments = ("for-each-ref", f"--contains={start}", "--format=%(refname)")
            out = self._repository.git.run(*arguments)
            self._holding[start] = frozenset(os.fsdecode(r) for r in out.split(b"\n") if r)
        if not self._holding[start] - own_refs:
            return None
        return start if start != commit or is_edited() else None

    @cached_property
    def _upstreams(self) -> dict[str, str]:
        """The upstreams of local branches, by their full names."""
        arguments = ("for-each-ref", "--format=%(refname) %(upstream)", "refs/heads")
        lines = os.fsdecode(self._repository.git.run(*arguments)).split("\n")
        return {line.partition(" ")[0]: line.partition(" ")[2] for line in lines}


# --- the branch that a candidate was made for ----------------------------------------------------


def made_for(repository: Repository, target: str, heads: Mapping[str, str]) -> dict[str, str]:
    """Return the branch that commits were made for, where that is not the target, by commit.

    It shares commits with them that the target has not. Of several, the one on top of which the
    fewest commits are; if two branches are equally near, none.

    Where git cannot walk a history, nothing is said.

    - ``heads``: by commit, the name of its own branch, or empty. That is no answer, here or at a
      remote, nor is its upstream or a branch at one of these commits.
    """
    try:
        return _made_for(repository, target, heads)
    except GitError:
        return {}


def _made_for(repository: Repository, target: str, heads: Mapping[str, str]) -> dict[str, str]:
    out = repository.git.run(
        "for-each-ref", f"--no-merged={target}", "refs/heads", "refs/remotes",
        "--format=%(objectname) %(upstream) %(symref) %(refname)",
    )  # fmt: skip
    rows = [line.split(" ", 3) for line in os.fsdecode(out).split("\n") if line]
    own = {branch for branch in heads.values() if branch}
    upstreams = {up for _, up, _, ref in rows if up and branch_of(ref) in own}
    tips = {
        ref: tip
        for tip, _, link, ref in rows
        if not link and tip not in heads and ref not in upstreams and branch_of(ref) not in own
    }
    if not tips or not heads:
        return {}
    asked = "".join(f"{name}\n" for name in (*heads, *tips.values(), f"^{target}")).encode()
    options = ("--topo-order", "--parents", f"--max-count={_MOST_LISTED}", "--stdin")
    lines = repository.git.run("rev-list", *options, stdin=asked).decode("ascii").split("\n")
    parents = {line.split(" ")[0]: line.split(" ")[1:] for line in lines if line}
    bits = Counter[str]()  # by commit, the branches that have it
    for place, tip in enumerate(tips.values()):
        bits[tip] |= 1 << place
    for commit, above in parents.items():  # children come before their parents
        for parent in above if bits[commit] else ():
            bits[parent] |= bits[commit]
    refs, found = list(tips), dict[str, str]()
    for head in heads:
        having = [bits[commit] for commit in _reached(head, parents)]
        shared = reduce(or_, having, 0) & ~bits[head]
        counts: dict[int, list[str]] = {}
        while shared:
            bit = shared & -shared
            shared ^= bit
            lacking = sum(not each & bit for each in having)
            counts.setdefault(lacking, []).append(refs[bit.bit_length() - 1])
        nearest = counts[min(counts)] if counts else []
        if len({branch_of(ref) for ref in nearest}) == 1:
            found[head] = max(nearest)  # a remote's
    return found


def branch_of(ref: str) -> str:
    """Return the name of a branch without its remote.

    >>> branch_of("refs/heads/a/b"), branch_of("refs/remotes/origin/a/b")
    ('a/b', 'a/b')
    """
    return ref.split("/", 2 if ref.startswith("refs/heads/") else 3)[-1]


def _reached(head: str, parents: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the commits that one has in its history, as far as they are listed."""
    reached, waiting = set[str](), [head]
    while waiting:
        if (commit := waiting.pop()) in parents and commit not in reached:
            reached.add(commit)
            waiting += parents[commit]
    return reached
