"""Changes of files as patches: from two whole texts to hunks. Pure.

Lines are aligned canonically by their keys, as section 8 aligns the hunks of a patch, so that a
score does not depend on which tool would have made the diff.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from excise.alignment import align
from excise.errors import BinaryTextError, UndecodableTextError
from excise.patches import Binary, FilePair, Hunk
from excise.text import decode, line_key, normalise, raw_lines
from excise.tokens import Vocabulary

__all__ = [
    "LINK",
    "SUBMODULE",
    "Side",
    "changed_file",
    "differing_lines",
    "patch_files",
    "renamed_files",
]

LINK, SUBMODULE = "120000", "160000"
_RENAMED = 0.5
"""Share of equal lines from which a deleted and a created file are one that was renamed."""
_MAX_RENAMES = 200
"""The most deleted or created files among which renames with changes are searched."""

Span = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Side:
    """A file before or after: its mode as git writes it, its bytes, the name of its blob.

    Of a link the bytes are where it leads, of a submodule a sentence that names its commit.
    """

    mode: str
    data: bytes
    blob: str = ""

    @property
    def text(self) -> str | None:
        """The normalised text, or None for binary data. Bytes that are not UTF-8 are latin-1."""
        try:
            return normalise(decode(self.data))
        except UndecodableTextError:
            return None if b"\0" in self.data else normalise(self.data.decode("latin-1"))
        except BinaryTextError:
            return None


def patch_files(
    old: Mapping[str, Side], new: Mapping[str, Side], *, context: int = 0
) -> tuple[FilePair, ...]:
    """Return the changes between two sets of files, by path, with renamed files recognised.

    A difference in line ends or a byte order mark alone is not a change.
    """
    moved = renamed_files(old, new)
    pairs = []
    for path in sorted(old.keys() | new.keys()):
        if path in moved.values():
            continue
        before = moved.get(path, path)
        pair = changed_file(before, old.get(before), path, new.get(path), context=context)
        if pair is not None:
            pairs.append(pair)
    return tuple(pairs)


def changed_file(
    old_path: str, old: Side | None, new_path: str, new: Side | None, *, context: int = 0
) -> FilePair | None:
    """Return what happened to one file, or None if nothing did."""
    pair = FilePair(
        old_path if old else None,
        new_path if new else None,
        old_mode=old.mode if old else "",
        new_mode=new.mode if new else "",
        old_blob=old.blob if old else "",
        new_blob=new.blob if new else "",
        moved="rename" if old and new and old_path != new_path else "",
    )
    texts = [side.text if side else "" for side in (old, new)]
    before, after = texts
    if before is None or after is None:
        if old and new and old.data == new.data:
            return pair if pair.facts else None
        return replace(pair, binary=Binary(f"{_name(old)} {_name(new)}".encode()))
    pair = replace(pair, hunks=tuple(_hunks(raw_lines(before), raw_lines(after), context)))
    return pair if pair.hunks or pair.facts else None


def _name(side: Side | None) -> str:
    return hashlib.sha1(side.data, usedforsecurity=False).hexdigest() if side else ""


def _hunks(old: Sequence[str], new: Sequence[str], context: int) -> Iterator[Hunk]:
    group: list[Span] = []
    for span in differing_lines(old, new):
        if group and span[0] - group[-1][1] > 2 * context:
            yield _hunk(old, new, group, context)
            group = []
        group.append(span)
    if group:
        yield _hunk(old, new, group, context)


def differing_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[Span]:
    """Yield the separate runs of lines that differ: old from and to, new from and to.

    Lines keep their line ends, as `excise.text.raw_lines` returns them.
    """
    last: Span | None = None
    for span in _differing(old, new):
        if last is not None and last[1] == span[0] and last[3] == span[2]:
            last = (last[0], span[1], last[2], span[3])
            continue
        if last is not None:
            yield last
        last = span
    if last is not None:
        yield last


def _differing(old: Sequence[str], new: Sequence[str]) -> Iterator[Span]:
    """Yield the spans between lines of equal keys, and such lines if their ends differ."""
    head = _shared(old, new)
    o_lo, a_lo = head, head
    for o, a in [*_matched(old, new, head), (len(old), len(new))]:
        if old[o_lo:o] != new[a_lo:a]:
            gaps = old[o_lo:o], new[a_lo:a]
            front = _shared(*gaps)
            back = _shared(*(gap[front:][::-1] for gap in gaps))
            yield o_lo + front, o - back, a_lo + front, a - back
        if o < len(old) and old[o] != new[a]:
            yield o, o + 1, a, a + 1
        o_lo, a_lo = o + 1, a + 1


def _matched(old: Sequence[str], new: Sequence[str], head: int) -> Iterator[tuple[int, int]]:
    """Yield the canonical alignment of the lines that have a key, after so many equal lines."""
    sides = [
        [line for line in range(head, len(lines)) if line_key(lines[line])] for lines in (old, new)
    ]
    vocabulary = Vocabulary()
    o, a = (
        vocabulary.intern([line_key(lines[line]) for line in places])
        for lines, places in zip((old, new), sides, strict=True)
    )
    for o_line, a_line in align(o, a).pairs:
        yield sides[0][o_line], sides[1][a_line]


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many first lines are the same."""
    shortest = min(len(old), len(new))
    return next((index for index in range(shortest) if old[index] != new[index]), shortest)


def _hunk(old: Sequence[str], new: Sequence[str], spans: Sequence[Span], context: int) -> Hunk:
    o_lo, a_lo = max(spans[0][0] - context, 0), max(spans[0][2] - context, 0)
    lines: list[str] = []
    o, a = o_lo, a_lo
    for o_start, o_stop, a_start, a_stop in spans:
        lines += [f" {line}" for line in old[o:o_start]]
        lines += [f"-{line}" for line in old[o_start:o_stop]]
        lines += [f"+{line}" for line in new[a_start:a_stop]]
        o, a = o_stop, a_stop
    o_hi, a_hi = min(o + context, len(old)), min(a + context, len(new))
    lines += [f" {line}" for line in old[o:o_hi]]
    return Hunk(
        o_lo + (o_hi > o_lo),
        a_lo + (a_hi > a_lo),
        b"\n".join(line.removesuffix("\n").encode() for line in lines),
        line=0,
        old_open=_is_open(old, o_hi),
        new_open=_is_open(new, a_hi),
    )


def _is_open(lines: Sequence[str], stop: int) -> bool:
    return stop == len(lines) > 0 and not lines[-1].endswith("\n")


def renamed_files(old: Mapping[str, Side], new: Mapping[str, Side]) -> dict[str, str]:
    """Return the old path of each renamed file: equal data first, then the most equal lines."""
    deleted = {path: side for path, side in old.items() if path not in new}
    created = {path: side for path, side in new.items() if path not in old}
    renames: dict[str, str] = {}
    by_data = {(side.mode, side.data): path for path, side in deleted.items() if side.data}
    for path, side in created.items():
        if (before := by_data.pop((side.mode, side.data), None)) is not None:
            renames[path] = before
            del deleted[before]
    created = {path: side for path, side in created.items() if path not in renames}
    if len(deleted) > _MAX_RENAMES or len(created) > _MAX_RENAMES:
        return renames
    for share, path, before in sorted(_alike(deleted, created), reverse=True):
        if share >= _RENAMED and path not in renames and before not in renames.values():
            renames[path] = before
    return renames


def _alike(
    deleted: Mapping[str, Side], created: Mapping[str, Side]
) -> Iterator[tuple[float, str, str]]:
    """Yield the share of the longer file's lines that each deleted and created file share."""
    lines = [
        {path: set(raw_lines(side.text or "")) for path, side in files.items()}
        for files in (deleted, created)
    ]
    for path, after_lines in lines[1].items():
        for before, before_lines in lines[0].items():
            longer = max(len(after_lines), len(before_lines))
            if longer:
                yield len(after_lines & before_lines) / longer, path, before
