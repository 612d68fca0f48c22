"""Heads of branches and pull requests as proposals: each against its own merge base.

Git's output for a head equals the patch that a host offers for it, so that a pair has the same
score from files and from a repository. Text conversions, drivers and submodules are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from excise.patches import PatchError, parse, patch_id
from excise_server.duplicates.proposals import Proposal
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.git.history import commit_named, merge_bases
from excise_server.git.refs import Ref, find_refs
from excise_server.git.repository import Repository

__all__ = ["MAX_HEADS", "Requests", "read_requests"]

MAX_HEADS = 20_000
"""Most heads that are read: the newest."""

MAX_COMMITS = 100
"""Most commits of a head whose messages are read: the newest."""

_DIFF = (
    "diff-tree",
    "-r",
    "-p",
    "--unified=3",
    "--full-index",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--find-renames=50%",
    "--submodule=short",
    "--diff-algorithm=myers",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--end-of-options",
)


@dataclass(slots=True)
class Requests:
    """The proposals of heads, those that were refused, and notes."""

    proposals: list[Proposal] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Commit:
    id: str
    author: str
    message: str


def read_requests(
    repository: Repository,
    patterns: Sequence[str],
    onto: str = "",
    advance: Callable[[float], None] = lambda done: None,
) -> Requests:
    """Read what each head changed since it left the main line.

    A head that the main line has merged is compared with that line as it was before the merge.

    Parameters
    ----------
    patterns
        Patterns as for `excise_server.git.refs.find_refs`.
    onto
        The main line, or empty for HEAD.
    advance
        Called with the share that is done.

    Raises
    ------
    SourceError
        If git fails, or there is no such commit.
    """
    main = commit_named(repository, onto, "--onto") if onto else repository.head()
    if main is None:
        raise SourceError("no commit yet: there is nothing to compare with")
    refs, rejected = find_refs(repository, patterns)
    requests = Requests(rejected=list(rejected))
    if len(refs) > MAX_HEADS:
        requests.notes.append(f"only the newest {MAX_HEADS:,} of {len(refs):,} heads are read")
        refs = refs[:MAX_HEADS]
    heads = _one_each(refs, requests)
    merged = _merged(repository, main)
    for done, ref in enumerate(heads, start=1):
        try:
            proposal = _proposal(repository, ref, main, merged)
        except (SourceError, PatchError) as error:
            hint = error.hint if isinstance(error, SourceError) else ""
            requests.rejected.append(Rejected(_id(ref), error.reason, hint))
            continue
        if isinstance(proposal, str):
            requests.notes.append(f"{_id(ref)}: {proposal}")
        else:
            requests.proposals.append(proposal)
        advance(done / len(heads))
    return requests


def _id(ref: Ref) -> str:
    return ref.given or ref.name.partition(":")[2]


def _one_each(refs: Sequence[Ref], requests: Requests) -> list[Ref]:
    """Return one ref for each commit, and name the others."""
    first: dict[str, Ref] = {}
    for ref in sorted(refs, key=lambda ref: (not ref.given, ref.name)):
        representative = first.setdefault(ref.commit, ref)
        if representative is not ref:
            requests.notes.append(f"{_id(ref)} is the commit of {_id(representative)}")
    return [ref for ref in refs if first[ref.commit] is ref]


def _merged(repository: Repository, main: str) -> dict[str, str]:
    """Return, by merged head, the commit that the main line was at before."""
    arguments = ("rev-list", "--first-parent", "--merges", "--parents", "--end-of-options", main)
    before: dict[str, str] = {}
    for line in repository.git.run(*arguments).decode("ascii").split("\n"):
        parents = line.split(" ")[1:]
        before |= dict.fromkeys(parents[1:], *parents[:1])
    return before


def _proposal(
    repository: Repository, ref: Ref, main: str, merged: dict[str, str]
) -> Proposal | str:
    """Return the proposal of a head, or why it has none.

    Raises
    ------
    SourceError
        If git cannot determine the head's own changes.
    PatchError
        If its patch cannot be read.
    """
    state = "merged" if ref.commit in merged else ""
    bases = merge_bases(repository, merged.get(ref.commit, main), ref.commit)
    if not bases:
        raise SourceError("its history has nothing in common with the main line")
    if ref.commit in bases:
        return "the main line has all of it, and no merge says what was new"
    patch = parse(repository.git.run(*_DIFF, bases[0], ref.commit))
    commits = list(_commits(repository, merged.get(ref.commit, main), ref.commit))
    if not patch.files or not commits:
        return "it changes nothing"
    first = commits[-1]
    return Proposal(
        _id(ref),
        first.message.partition("\n")[0].strip(),
        "\n".join(commit.message for commit in reversed(commits)),
        first.author,
        patch,
        frozenset({patch_id(patch)}),
        state,
        frozenset(commit.id for commit in commits),
    )


def _commits(repository: Repository, main: str, head: str) -> Iterator[_Commit]:
    """Yield the commits that a head has and the main line has not, the newest first."""
    out = repository.git.run(
        "rev-list",
        "--no-merges",
        f"--max-count={MAX_COMMITS}",
        "--format=%H%x00%an <%ae>%x00%B%x00",
        f"{main}..{head}",
    )
    fields = [field.decode("utf-8", "replace") for field in out.split(b"\0")]
    for heading, author, message in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        yield _Commit(heading.rpartition("\n")[2], author, message.strip())
