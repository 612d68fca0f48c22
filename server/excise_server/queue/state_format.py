"""How a message and its features are written down: JSON and plain ints, nothing that is run."""

from __future__ import annotations

import json
import zlib
from array import array
from dataclasses import replace

import msgspec

from excise.patches.evidence import ChangeCounts
from excise.patches.features import BLOCK, MOST_LINES, NO_HEADING, NO_NAME, Edits
from excise.patches.model import Message

__all__ = ["BadStateError", "checked", "pack_changes", "pack_message", "packed"]
__all__ += ["unpack_changes", "unpack_message", "unpacked"]


class BadStateError(ValueError):
    """The stored data are inconsistent."""


def pack_message(message: Message) -> str:
    """Return all of a message but its hunks, as ASCII."""
    files = tuple(replace(pair, hunks=()) for pair in message.patch.files)
    fields = msgspec.to_builtins(replace(message, patch=replace(message.patch, files=files)))
    return json.dumps(fields)  # not msgspec's: a text may hold lone surrogates


def unpack_message(text: str) -> Message:
    """Return a message whose files have no hunks.

    Raises
    ------
    BadStateError
        If this is none.
    """
    try:
        return msgspec.convert(json.loads(text), Message)
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise BadStateError(f"unreadable message: {error}") from error


def pack_changes(counts: ChangeCounts) -> bytes:
    """Return what a patch changes, compressed."""
    fields = [
        *(dict(counts.added), dict(counts.deleted), sorted(counts.context), counts.facts),
        *(dict(counts.where), counts.is_aside),
    ]
    return zlib.compress(json.dumps(fields).encode(), 1)


def unpack_changes(data: bytes) -> ChangeCounts:
    """Return what a patch changes.

    Raises
    ------
    BadStateError
        If this is none.
    """
    try:
        shape = tuple[dict[str, int], dict[str, int], list[str], list[str], dict[str, float], bool]
        read = msgspec.convert(json.loads(zlib.decompress(data)), shape)
    except (msgspec.ValidationError, ValueError, RecursionError, zlib.error) as error:
        raise BadStateError(f"unreadable changes: {error}") from error
    added, deleted, context, facts, where, is_aside = read
    if min((*added.values(), *deleted.values()), default=1) < 1:
        raise BadStateError("a word that occurs less than once")
    return ChangeCounts(added, deleted, frozenset(context), tuple(facts), where, is_aside)


def packed(ints: array[int]) -> bytes:
    """Return ints as bytes, four each, compressed."""
    return zlib.compress(ints.tobytes(), 1)


def unpacked(data: bytes) -> array[int]:
    """Return the ints of `packed`.

    Raises
    ------
    BadStateError
        If these are none.
    """
    try:
        return array("i", zlib.decompress(data))
    except (zlib.error, ValueError, TypeError) as error:
        raise BadStateError(f"unreadable ints: {error}") from error


def checked(edits: Edits, words: int, names: int, lines: int) -> Edits:
    """Return features whose ints all stand for something: a kernel trusts them.

    Raises
    ------
    BadStateError
        If one does not.
    """
    tokens, blocks, around = edits.tokens, edits.blocks, edits.around
    columns = [blocks[at::BLOCK] for at in range(BLOCK)]
    ordered = all(
        0 <= o_lo <= o_hi and 0 <= a_lo <= a_hi and max(o_hi, a_hi) <= len(tokens)
        for o_lo, o_hi, a_lo, a_hi in zip(*columns[1:5], strict=False)
    ) and all(0 <= lo <= hi <= len(tokens) for lo, hi in zip(*columns[8:], strict=False))
    headings = array("i", (heading for heading in columns[5] if heading != NO_HEADING))
    functions = array("i", (name for name in columns[7] if name != NO_NAME))
    inside = (
        _below(tokens, words)
        and _below(functions, words)
        and _below(edits.names, names)
        and all(_below(ints, lines) for ints in (headings, around[::2], edits.context))
        and _below(columns[6], MOST_LINES + 1)
        and len(around) == 2 * sum(columns[6])
        and _below(around[1::2], 2**31)
    )
    if len(blocks) % BLOCK or not (ordered and inside):
        raise BadStateError("features that point nowhere")
    return edits


def _below(ints: array[int], limit: int) -> bool:
    return not ints or (min(ints) >= 0 and max(ints) < limit)
