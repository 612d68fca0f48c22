"""Branches and pull requests as proposals: heads of a repository, and what the host says of them.

Each head is compared with its own merge base. Git writes its patch as that of a commit or a mail,
so that a pair has the same score from files and from a repository. Text conversions, drivers and
submodules are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from excise.patches import PatchError, parse, patch_id
from excise_server.duplicates.find import Proposal, proposals_of
from excise_server.foundation.files import file_error
from excise_server.foundation.inputs import Rejected, SourceError
from excise_server.git.checkouts import Ref, find_refs
from excise_server.git.history import commit_named, merge_bases
from excise_server.git.repository import Repository
from excise_server.sources.commits import PATCH_OPTIONS, read_commits

_MAX_LIST = 100_000_000
_HINT = "give what gh pr list --json number,title,body,author,state prints"


class _Account(msgspec.Struct):
    login: str = ""


class PullFacts(msgspec.Struct):
    """The facts of the host about a pull request that are read."""

    number: int
    title: str = ""
    body: str | None = ""
    author: _Account | None = None
    user: _Account | None = None
    state: str = ""
    merged_at: str | None = None

    @property
    def heading(self) -> str:
        """The title, in one line."""
        return " ".join(self.title.split())

    @property
    def who(self) -> str:
        """The account, which ``gh`` and the API name differently."""
        account = self.author or self.user
        return account.login if account is not None else ""

    @property
    def outcome(self) -> str:
        """``merged`` or ``closed``, or empty while it is open or unknown."""
        state = "merged" if self.merged_at else self.state.lower()
        return state if state in ("merged", "closed") else ""


def read_pull_list(path: str) -> dict[str, PullFacts]:
    """Read the facts about pull requests from a file, by ids such as ``#12``.

    Raises SourceError if it cannot be read, is too large, or is not such a list.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_LIST + 1)
    except (OSError, ValueError) as error:
        raise file_error(path, error).named(path) from error
    if len(data) > _MAX_LIST:
        raise SourceError(f"over {_MAX_LIST // 1_000_000} MB", name=path, hint=_HINT)
    try:
        pulls = msgspec.json.decode(data, type=list[PullFacts])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SourceError(f"not a list of pull requests: {error}", name=path, hint=_HINT) from error
    return {f"#{pull.number}": pull for pull in pulls}


def with_pull_facts(
    proposals: Iterable[Proposal], pulls: Mapping[str, PullFacts]
) -> list[Proposal]:
    """Return the proposals with the host's facts about them.

    The host's title and author are used. Its body is added to the messages of the commits.
    """
    return [
        proposal
        if (pull := pulls.get(proposal.id)) is None
        else replace(
            proposal,
            title=pull.heading or proposal.title,
            text="\n\n".join(part for part in (pull.body or "", proposal.text) if part),
            author=pull.who or proposal.author,
            state=proposal.state or pull.outcome,
        )
        for proposal in proposals
    ]


MAX_HEADS = 20_000
"""Most heads that are read: the newest."""

MAX_COMMITS = 100
"""Most commits of a head whose messages are read: the newest."""


@dataclass(slots=True)
class Requests:
    """The proposals of heads, those that were refused, and notes."""

    proposals: list[Proposal] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_requests(
    repository: Repository,
    patterns: Sequence[str],
    onto: str = "",
    advance: Callable[[float], None] = lambda done: None,
) -> Requests:
    """Read what each head changed since it left the main line.

    A head that the main line has merged is compared with that line as it was before the merge.

    Raises SourceError if git fails, or the commit does not exist.

    - ``onto``: the main line, or empty for HEAD.
    - ``advance``: called with the share that is done.
    """
    main = main_line(repository, onto)
    refs, rejected = find_refs(repository, patterns)
    requests = Requests(rejected=list(rejected))
    if len(refs) > MAX_HEADS:
        requests.notes.append(f"only the newest {MAX_HEADS:,} of {len(refs):,} heads are read")
        refs = refs[:MAX_HEADS]
    first: dict[str, Ref] = {}  # one for each commit
    for ref in sorted(refs, key=lambda ref: (not ref.given, ref.name)):
        representative = first.setdefault(ref.commit, ref)
        if representative is not ref:
            requests.notes.append(f"{_id(ref)} is the commit of {_id(representative)}")
    heads = [ref for ref in refs if first[ref.commit] is ref]
    merged = _merged(repository, main)
    for done, ref in enumerate(heads, start=1):
        try:
            proposal = _proposal(repository, _id(ref), ref.commit, main, merged)
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


def read_named(repository: Repository, name: str, onto: str = "") -> Proposal:
    """Read what a branch, a pull request or a commit changes, as `read_requests` does.

    A commit that the main line has is read alone.

    Raises SourceError if it is none of these, or changes nothing.
    """
    refs, _ = find_refs(repository, [name])
    if len({ref.commit for ref in refs}) > 1:
        raise SourceError(f"{len(refs):,} branches have this name", name=name, hint="name one")
    commit = refs[0].commit if refs else repository.commit_of(name)
    if commit is None:
        raise SourceError("no file, branch, request or commit has this name", name=name)
    main = main_line(repository, onto)
    own = _id(refs[0]) if refs else name
    proposal = _proposal(repository, own, commit, main, _merged(repository, main))
    if isinstance(proposal, Proposal):
        return proposal
    alone = read_commits(repository, f"{commit}^!")
    if not alone.patches:
        why = alone.rejected[0].reason if alone.rejected else "it changes nothing"
        raise SourceError(why, name=name)
    return proposals_of([(own, alone.patches[0].message)])[0]


def main_line(repository: Repository, onto: str) -> str:
    """Return the commit that heads are made for: the one that was named, or HEAD.

    Raises SourceError if there is none.
    """
    main = commit_named(repository, onto, "--onto") if onto else repository.head()
    if main is None:
        raise SourceError("no commits yet: nothing to compare with")
    return main


def _id(ref: Ref) -> str:
    return ref.given or ref.name.partition(":")[2]


def _merged(repository: Repository, main: str) -> dict[str, str]:
    """Return, by merged head, the commit that the main line was at before."""
    arguments = ("rev-list", "--first-parent", "--merges", "--parents", "--end-of-options", main)
    before: dict[str, str] = {}
    for line in repository.git.run(*arguments).decode("ascii").split("\n"):
        parents = line.split(" ")[1:]
        before |= dict.fromkeys(parents[1:], *parents[:1])
    return before


def _proposal(
    repository: Repository, name: str, head: str, main: str, merged: dict[str, str]
) -> Proposal | str:
    """Return the proposal of a head, or why it has none.

    Raises SourceError if git cannot determine the head's own changes. Raises PatchError if its
    patch cannot be read.
    """
    state = "merged" if head in merged else ""
    bases = merge_bases(repository, merged.get(head, main), head)
    if not bases:
        raise SourceError("its history has nothing in common with the main line")
    if head in bases:
        return "the main line has all of it, and no merge says what was new"
    patch = parse(
        repository.git.run("diff-tree", *PATCH_OPTIONS, "--end-of-options", bases[0], head)
    )
    commits = list(_commits(repository, merged.get(head, main), head))
    if not patch.files or not commits:
        return "it changes nothing"
    ids, authors, messages = zip(*reversed(commits), strict=True)
    return Proposal(
        name,
        messages[0].partition("\n")[0].strip(),
        "\n".join(messages),
        authors[0],
        patch,
        frozenset({patch_id(patch)}),
        state,
        frozenset(ids),
        (bases[0], head),
        frozenset({name}),
    )


def _commits(repository: Repository, main: str, head: str) -> Iterator[tuple[str, str, str]]:
    """Yield id, author and message of a head's commits that the main line has not, newest first."""
    out = repository.git.run(
        "rev-list",
        "--no-merges",
        f"--max-count={MAX_COMMITS}",
        "--format=%H%x00%an <%ae>%x00%B%x00",
        f"{main}..{head}",
    )
    fields = [field.decode("utf-8", "replace") for field in out.split(b"\0")]
    for heading, author, message in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        yield heading.rpartition("\n")[2], author, message.strip()
