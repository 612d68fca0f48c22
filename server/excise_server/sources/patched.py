"""The result of a patch on one document, for clients that send a pasted or picked patch. Pure.

Such a patch need not name the text that it was made from, so only the lines in its hunks prove the
result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from excise.patches import FilePair, apply, read
from excise.text import normalise
from excise_server.foundation.changes import LINK, SUBMODULE
from excise_server.foundation.inputs import SourceError, check_text

__all__ = ["Patched", "patched"]


@dataclass(frozen=True, slots=True)
class Patched:
    """The document after a patch, the subject of the patch's mail, and notes."""

    text: str
    label: str
    notes: tuple[str, ...]


def patched(origin: str, patch: str, path: str) -> Patched:
    """Apply the part of a patch that is about a document: a diff, a mail, a series of mails.

    Parameters
    ----------
    origin
        The text of the document.
    path
        Its path. The file of the patch with the longest common end is used, or the only one.

    Raises
    ------
    SourceError
        If the patch cannot be read, or is not about the document.
    excise.patches.PatchError
        If it does not apply.
    """
    messages = read(normalise(check_text(patch)).encode(), as_utf8=True)
    for message in messages:
        if message.error:
            raise SourceError(message.error)
    text = normalise(origin).encode()
    notes: list[str] = []
    for pair in _about(path, [pair for message in messages for pair in message.patch.files]):
        if {pair.old_mode, pair.new_mode} & {LINK, SUBMODULE}:
            raise SourceError("a link or a submodule, not a text file")
        applied = apply(pair, None if pair.old is None else text)
        if applied.text is None:
            raise SourceError("it deletes the file")
        text = applied.text
        notes += _moved(applied.offsets)
    subject = next((message.subject for message in messages if message.patch.files), "")
    return Patched(text.decode("utf-8", "replace"), subject, tuple(notes))


def _about(path: str, pairs: Sequence[FilePair]) -> list[FilePair]:
    """Return what a patch does to a document, in its order."""
    if not pairs:
        raise SourceError("it holds no unified diff")
    names = {pair.path for pair in pairs}
    if len(names) == 1:
        return list(pairs)
    common = [max(_common(path, name) for name in (pair.old, pair.new)) for pair in pairs]
    chosen = [pair for pair, parts in zip(pairs, common, strict=True) if parts == max(common)]
    name = path.rpartition("/")[2]
    if not max(common):
        raise SourceError(f"it does not change {name}")
    if len({pair.path for pair in chosen}) > 1:
        raise SourceError(f"it changes several files called {name}")
    return chosen


def _common(path: str, name: str | None) -> int:
    """Return how many parts at the end two paths have in common, or 0 if not even the file's
    name.
    """
    parts = 0
    for mine, theirs in zip(path.split("/")[::-1], (name or "").split("/")[::-1], strict=False):
        if mine != theirs:
            break
        parts += 1
    return parts


def _moved(offsets: Sequence[int]) -> Iterator[str]:
    for number, offset in enumerate(offsets, start=1):
        if offset:
            lines = "1 line" if abs(offset) == 1 else f"{abs(offset)} lines"
            where = "down" if offset > 0 else "up"
            yield f"hunk {number} applied {lines} further {where} than it says"
