"""The commits of a range as patches, as `git format-patch` would send them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from excise.patches import Message, Patch
from excise_server.foundation.changes import patch_files
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.foundation.paths import visible
from excise_server.git.repository import Repository
from excise_server.git.trees import commit_trees, read_sides
from excise_server.queue.reading import Member, Queue

__all__ = ["MAX_COMMITS", "is_range", "read_commits"]

MAX_COMMITS = 5_000
"""Most commits of a range that are read: the newest."""

CONTEXT = 3
"""Lines of context of a hunk, as git shows them."""

_TOGETHER = 50
"""The number of commits whose files one git process reads."""

_DIGITS = 12


@dataclass(frozen=True, slots=True)
class _Commit:
    id: str
    parents: int
    author: str
    date: str
    subject: str


def is_range(text: str) -> bool:
    """Whether a name is one of a range of commits.

    >>> is_range("main..topic"), is_range("agent/*")
    (True, False)
    """
    return ".." in text


def read_commits(
    repository: Repository, name: str, advance: Callable[[float], None] = lambda done: None
) -> Queue:
    """Read every commit of a range, the oldest first. Merges have no diff and become covers.

    Parameters
    ----------
    advance
        Called with the share that is done.

    Raises
    ------
    SourceError
        If git does not know the range, or fails.
    """
    commits = _listed(repository, name)
    notes: list[tuple[str, str]] = []
    if len(commits) > MAX_COMMITS:
        commits = commits[-MAX_COMMITS:]
        notes.append((visible(name), f"only the newest {MAX_COMMITS:,} commits are read"))
    sent: list[Member] = []
    rejected: list[Rejected] = []
    for start in range(0, len(commits), _TOGETHER):
        part = commits[start : start + _TOGETHER]
        for commit, content in zip(part, _patches(repository, part), strict=True):
            member = _member(commit, content, notes)
            if isinstance(content, SourceError):
                rejected.append(Rejected(member.id, content.reason, content.hint))
            else:
                sent.append(member)
        advance((start + len(part)) / len(commits))
    patches = tuple(member for member in sent if member.message.patch.files)
    covers = tuple(member for member in sent if not member.message.patch.files)
    return Queue(patches, covers, tuple(rejected), 0, tuple(notes), tuple(sent))


def _listed(repository: Repository, name: str) -> list[_Commit]:
    try:
        out = repository.git.run(
            "rev-list",
            "--topo-order",
            f"--max-count={MAX_COMMITS + 1}",
            "--format=%x00%P%x00%an <%ae>%x00%aI%x00%s",
            "--end-of-options",
            name,
            "--",
        )
    except SourceError as error:
        raise SourceError(f"{visible(name)!r} is not a range of commits: {error.reason}") from error
    commits = []
    lines = out.split(b"\n")
    for head, body in zip(lines[::2], lines[1::2], strict=False):
        _, parents, *rest = (part.decode("utf-8", "replace") for part in body.split(b"\0", 4))
        author, date, subject = rest
        name = head.decode().removeprefix("commit ")
        commits.append(_Commit(name, len(parents.split()), author, date, subject))
    return commits[::-1]


def _patches(
    repository: Repository, commits: Sequence[_Commit]
) -> list[tuple[Patch, tuple[str, ...]] | SourceError]:
    """Return what each commit changed, or why that cannot be read."""
    plain = [commit.id for commit in commits if commit.parents < 2]
    try:
        trees = commit_trees(repository, plain)
    except SourceError as error:
        if len(commits) == 1:
            return [error]
        return [_patches(repository, [commit])[0] for commit in commits]
    sides = dict(zip(trees, read_sides(repository, list(trees.values())), strict=True))
    patches: list[tuple[Patch, tuple[str, ...]] | SourceError] = []
    for commit in commits:
        if (read := sides.get(commit.id)) is None:
            patches.append((Patch(), ()))
        else:
            files = patch_files(read.old, read.new, context=CONTEXT)
            patches.append((Patch(files), read.notes))
    return patches


def _member(
    commit: _Commit,
    content: tuple[Patch, tuple[str, ...]] | SourceError,
    notes: list[tuple[str, str]],
) -> Member:
    name = commit.id[:_DIGITS]
    patch = Patch()
    if not isinstance(content, SourceError):
        patch = content[0]
        notes += [(name, note) for note in content[1]]
    message = Message(
        1,
        author=commit.author,
        date=commit.date,
        subject=commit.subject,
        title=commit.subject,
        patch=patch,
    )
    return Member(name, message)
