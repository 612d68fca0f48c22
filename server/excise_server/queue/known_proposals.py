"""Proposals of a state: what was read before is weighed, and read again only to be shown."""

from __future__ import annotations

from functools import partial

from excise_server.duplicates.proposals import Proposal, proposals_of
from excise_server.queue.state import State

__all__ = ["known_proposals"]


def known_proposals(state: State) -> list[Proposal]:
    """Return the proposals of all messages that a state knows; those of one series are one.

    Raises
    ------
    SourceError
        If the state is damaged.
    """
    members = [(entry.id, entry.message) for entry in state.entries]
    kept = [
        (entry.patch_id, partial(state.whole, entry), counts) if entry.message.patch.files else None
        for entry, counts in zip(state.entries, state.changes(), strict=True)
    ]
    return proposals_of(members, kept)
