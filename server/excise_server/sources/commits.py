"""The commits of a range as patches, as `git format-patch` would send them.

Git itself writes the hunks, and they are read like those of a mail. Hunks of our own would have
other lines around their blocks, and one pair two numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from excise.patches import Message, Patch, PatchError, parse
from excise.patches.model import MAX_TEXT
from excise_server.foundation.changes import SUBMODULE
from excise_server.foundation.escape import visible
from excise_server.foundation.inputs import MAX_BYTES, Rejected, SourceError, megabytes, too_large
from excise_server.git.repository import AbsentError, Repository
from excise_server.git.trees import Tree, commit_trees
from excise_server.queue.reading import Member, Queue

MAX_COMMITS = 5_000
"""Most commits of a range that are read: the newest."""

MAX_COMMIT = 100_000_000
"""Most bytes, before and after, of the files that a commit changes: 100 MB."""

_TOGETHER = 50
"""The number of commits whose patches one git process writes."""

_DIGITS = 12
# What `git format-patch` does where no configuration says otherwise. Plumbing heeds little of that.
PATCH_OPTIONS = (
    *("-r", "--root", "--always", "--patch", "--binary", "--no-color", "--no-ext-diff"),
    *("--no-textconv", "--find-renames", "-l1000", "--diff-algorithm=default", "--unified=3"),
    *("--inter-hunk-context=0", "--indent-heuristic", "--src-prefix=a/", "--dst-prefix=b/"),
    *("--submodule=short", "--ignore-submodules=none"),
)
# A line of hexadecimal digits alone: any line of a patch begins otherwise, and none of its binary
# data has 40 or 64 characters.
_COMMIT = re.compile(rb"^([0-9a-f]{40}|[0-9a-f]{64})\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Commit:
    """A commit as a message without its patch."""

    id: str
    is_merge: bool
    message: Message


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

    Raises SourceError if git does not know the range, or fails. Raises UnansweredError if git was
    given up: nothing is grouped then.

    - ``advance``: called with the share that is done.
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
            if isinstance(content, SourceError):
                rejected.append(Rejected(commit.id[:_DIGITS], content.reason, content.hint))
            else:
                sent.append(Member(commit.id[:_DIGITS], replace(commit.message, patch=content)))
        advance((start + len(part)) / len(commits))
    return Queue(tuple(sent), tuple(rejected), 0, tuple(notes))


def _listed(repository: Repository, name: str) -> list[_Commit]:
    try:
        out = repository.git.run(
            "rev-list",
            "--topo-order",
            f"--max-count={MAX_COMMITS + 1}",
            "--format=%x00%P%x00%an <%ae>%x00%aI%x00%s%x00%b%x00",
            "--end-of-options",
            name,
            "--",
        )
    except SourceError as error:
        raise SourceError(f"{visible(name)!r} is not a range of commits: {error.reason}") from error
    fields = [field.decode("utf-8", "replace") for field in out.split(b"\0")]
    commits = []
    # The last field is the end of the last line.
    for head, parents, *rest in zip(*(fields[start:-1:6] for start in range(6)), strict=True):
        author, date, subject, text = rest
        message = Message(
            1, author=author, date=date, subject=subject, title=subject, text=text[:MAX_TEXT]
        )
        name = head.strip().removeprefix("commit ")
        commits.append(_Commit(name, len(parents.split()) > 1, message))
    return commits[::-1]


def _patches(repository: Repository, commits: Sequence[_Commit]) -> list[Patch | SourceError]:
    """Return what each commit changed, or why that cannot be read."""
    plain = [commit.id for commit in commits if not commit.is_merge]
    try:
        trees = commit_trees(repository, plain)
        refused = _refused(repository, trees)
        patches = _written(repository, [name for name in trees if name not in refused])
    except (SourceError, PatchError) as error:
        if len(commits) == 1:
            return [error if isinstance(error, SourceError) else SourceError(str(error))]
        return [_patches(repository, [commit])[0] for commit in commits]
    return [refused.get(commit.id) or patches.get(commit.id, Patch()) for commit in commits]


def _refused(repository: Repository, trees: Mapping[str, Tree]) -> dict[str, SourceError]:
    """Return of which commits git is not asked for a patch, by the sizes of their files."""
    entries = {
        name: [
            (path, entry.blob)
            for side in (tree.old, tree.new)
            for path, entry in side.items()
            if entry.mode != SUBMODULE
        ]
        for name, tree in trees.items()
    }
    blobs = list({blob: None for files in entries.values() for _, blob in files})
    sizes = dict(zip(blobs, repository.sizes(blobs), strict=True))
    refused: dict[str, SourceError] = {}
    for name, files in entries.items():
        total = 0
        for path, blob in files:
            size = sizes[blob]
            if isinstance(size, AbsentError):
                error = SourceError("its content is not in this clone")
            elif isinstance(size, SourceError):
                error = size
            else:
                total += size
                if size <= MAX_BYTES:
                    continue
                error = too_large(size)
            refused.setdefault(name, SourceError(f"{visible(path)}: {error.reason}"))
        if total > MAX_COMMIT:
            reason = f"{megabytes(total)} in the files that it changes"
            limit = f"limit {MAX_COMMIT // 1_000_000} MB"
            refused.setdefault(name, SourceError(f"{reason}, {limit}"))
    return refused


def _written(repository: Repository, names: Sequence[str]) -> dict[str, Patch]:
    """Return the patches of commits, written by git."""
    if not names:
        return {}
    lines = "".join(f"{name}\n" for name in names).encode()
    out = repository.git.run("diff-tree", "--stdin", *PATCH_OPTIONS, stdin=lines)
    heads = list(_COMMIT.finditer(out))
    if [head[1].decode() for head in heads] != list(names):
        raise SourceError("git diff-tree gave unexpected output")
    stops = [*(head.start() for head in heads[1:]), len(out)]
    return {
        name: parse(out[head.end() : stop])
        for name, head, stop in zip(names, heads, stops, strict=True)
    }
