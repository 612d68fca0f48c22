"""The host's list of pull requests: title, body, author, state, from ``gh`` or its API.

``gh pr list --state all --limit 1000 --json number,title,body,author,state`` prints such a list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import msgspec

from excise_server.duplicates.proposals import Proposal
from excise_server.foundation.files import file_error
from excise_server.foundation.inputs import SourceError

__all__ = ["PullFacts", "read_pull_list", "with_pull_facts"]

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

    Raises
    ------
    SourceError
        If it cannot be read, is too large, or is not such a list.
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
        proposal if (pull := pulls.get(proposal.id)) is None else _told(proposal, pull)
        for proposal in proposals
    ]


def _told(proposal: Proposal, pull: PullFacts) -> Proposal:
    text = "\n\n".join(part for part in (pull.body or "", proposal.text) if part)
    return replace(
        proposal,
        title=pull.heading or proposal.title,
        text=text,
        author=pull.who or proposal.author,
        state=proposal.state or pull.outcome,
    )
