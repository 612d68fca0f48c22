"""The header of a file in a patch: names, modes, blobs, and the facts that follow."""

from __future__ import annotations

from dataclasses import dataclass, field

from excise.patches.model import Binary, FilePair, Hunk

__all__ = ["EXTENDED", "Header", "pair_of", "take_index", "text_of"]

EXTENDED = (
    (b"index ", "index"),
    (b"old mode ", "old_mode"),
    (b"new mode ", "new_mode"),
    (b"new file mode ", "created"),
    (b"deleted file mode ", "deleted"),
    (b"rename from ", "rename_from"),
    (b"rename to ", "rename_to"),
    (b"copy from ", "copy_from"),
    (b"copy to ", "copy_to"),
)
"""Lines of git's extended headers, and the names of what they say."""


@dataclass(slots=True)
class Header:
    """The header of a file, before its hunks are read."""

    old: bytes = b""
    new: bytes = b""
    line: int = 0
    git: bool = False
    end: int = 0
    """Behind the last line of git's extended header, .."""
    says_more: bool = False
    """.. and whether it has any."""
    facts: dict[str, str] = field(default_factory=dict)
    hunks: list[Hunk] = field(default_factory=list)
    binary: Binary | None = None
    created: bool = False
    deleted: bool = False
    named: bool = False
    """Whether ``---`` and ``+++`` were seen."""


def take_index(header: Header, value: bytes) -> None:
    """Take the names of both blobs, and the mode, of an ``index`` line."""
    blobs, _, mode = value.partition(b" ")
    old, dots, new = blobs.partition(b"..")
    if dots:
        header.facts.update(old_blob=text_of(old), new_blob=text_of(new), mode=text_of(mode))


def pair_of(header: Header) -> FilePair:
    """Return what the header and its hunks add up to."""
    facts = header.facts
    moved = next((kind for kind in ("rename", "copy") if f"{kind}_to" in facts), "")
    old = text_of(header.old)
    new = old if header.new == header.old else text_of(header.new)  # mostly one: held once
    if moved:
        old, new = facts.get(f"{moved}_from", old), facts[f"{moved}_to"]
    created = header.created or "created" in facts
    deleted = header.deleted or "deleted" in facts
    mode = facts.get("mode", "")
    return FilePair(
        old=None if created or old == "/dev/null" else old,
        new=None if deleted or new == "/dev/null" else new,
        hunks=tuple(header.hunks),
        old_mode=facts.get("old_mode") or facts.get("deleted") or mode,
        new_mode=facts.get("new_mode") or facts.get("created") or mode,
        old_blob=facts.get("old_blob", ""),
        new_blob=facts.get("new_blob", ""),
        moved=moved,
        binary=header.binary,
    )


def text_of(name: bytes) -> str:
    """Decode a path, with surrogates for undecodable bytes."""
    return name.decode("utf-8", "surrogateescape")
