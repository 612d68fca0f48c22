"""A proposal: what one person sent to be merged, as one patch with one message."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from excise.patches import Message, Patch, joined, patch_id, postings
from excise.patches.evidence import ChangeCounts, Evidence, EvidenceReader

__all__ = ["Member", "Proposal", "proposals_of"]

_MAIL = re.compile(r"<([^<>]+)>\s*$")
_PICKED = re.compile(r"\(cherry picked from commit [0-9a-f]{7,64}\)")
_BACKPORT = re.compile(r"\bback-?port", re.I)

Member = tuple[str, Message]
"""The id of a message, and the message."""

Kept = tuple[str, Callable[[], Patch], ChangeCounts]
"""A patch that was read before: its patch-id, a function that reads it, and its counts."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A patch, a series or a pull request.

    Attributes
    ----------
    id
        Its unique id.
    title
        Its subject, without tags.
    text
        Its messages.
    author
        Its sender, according to the message.
    patch
        All of its files, of a series one patch after the other, or a function that reads them if
        they are seldom needed (`whole`).
    parts
        The patch-ids of its single patches.
    state
        ``merged`` or ``closed`` if that is known, else empty.
    commits
        The ids of its commits, if they are known.
    messages
        The ids of its messages, if it consists of messages.
    counts
        The counted features of its patches, if they were counted before.
    """

    id: str
    title: str
    text: str
    author: str
    patch: Patch | Callable[[], Patch]
    parts: frozenset[str] = frozenset()
    state: str = ""
    commits: frozenset[str] = frozenset()
    messages: frozenset[str] = frozenset()
    counts: tuple[ChangeCounts, ...] = ()

    @property
    def whole(self) -> Patch:
        """The patch, read if it has to be."""
        return self.patch() if callable(self.patch) else self.patch

    def evidence(self, reader: EvidenceReader) -> Evidence:
        """Return the evidence for the issue that it is about."""
        counts = self.counts or (reader.counted(self.whole),)
        return reader.weighed(counts, self.title, self.text)

    @property
    def who(self) -> str:
        """The identity of an author: the address in lower case, or else the name."""
        match = _MAIL.search(self.author)
        return (match[1] if match else self.author).strip().lower()

    def is_stacked_with(self, other: Proposal) -> bool:
        """Whether they share a commit, or one has all patches of the other one and more."""
        if self.commits & other.commits:
            return True
        return bool(self.parts and other.parts) and (
            self.parts < other.parts or other.parts < self.parts
        )

    @property
    def is_backport(self) -> bool:
        """Whether its message says that it carries a change to another branch."""
        return bool(_PICKED.search(self.text) or _BACKPORT.search(self.title))


def proposals_of(members: Sequence[Member], kept: Sequence[Kept | None] = ()) -> list[Proposal]:
    """Return the proposals in messages: one for each series, none without a patch.

    Parameters
    ----------
    members
        The messages and their ids, in the order in which they were sent.
    kept
        For each member, the stored counts of its patch. Its message then has files without hunks.
    """
    proposals = []
    for posting in postings([message for _, message in members]):
        if not posting.patch.files:
            continue
        ids, messages = zip(*(members[number] for number in posting.messages), strict=True)
        texts = [f"{m.title}\n{m.text}" if m.title not in m.text else m.text for m in messages]
        if kept:
            counted = [part for number in posting.messages if (part := kept[number]) is not None]
            patch: Patch | Callable[[], Patch] = partial(_read_again, counted)
            parts = frozenset(name for name, _, _ in counted)
        else:
            counted, patch = [], posting.patch
            parts = frozenset(patch_id(m.patch) for m in messages if m.patch.files)
        proposals.append(
            Proposal(
                ids[0],
                posting.title,
                "\n".join(texts),
                messages[0].author,
                patch,
                parts,
                messages=frozenset(ids),
                counts=tuple(counts for _, _, counts in counted),
            )
        )
    return proposals


def _read_again(counted: Sequence[Kept]) -> Patch:
    return joined(read() for _, read, _ in counted)
