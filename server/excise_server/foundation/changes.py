"""Changes of files as patches: from two whole texts to hunks. Pure.

Lines are aligned canonically by their keys, as section 8 aligns the hunks of a patch, so that
nothing depends on which tool would have made the diff.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from excise.alignment import align
from excise.patches import Binary, FilePair
from excise.patches.blocks import Span, hunks_between
from excise.text import line_key, raw_lines, shared_lines
from excise.tokens import Vocabulary
from excise_server.foundation.file_bytes import ByteLines, byte_facts, text_of_bytes

LINK, SUBMODULE = "120000", "160000"
_RENAMED = 0.5
"""Share of equal lines from which a deleted and a created file are one that was renamed."""
_MAX_RENAMES = 200
"""The most deleted or created files among which renames with changes are searched."""

_OTHER_BYTES = "changes bytes that its text does not show"


@dataclass(frozen=True, slots=True)
class Side:
    """A file before or after: its mode as git writes it, its bytes, the name of its blob.

    Of a link the bytes are where it leads, of a submodule a sentence that names its commit, which
    is its blob.
    """

    mode: str
    data: bytes
    blob: str = ""

    @property
    def text(self) -> str | None:
        """The normalised text, or None for binary data. A line that is not UTF-8 is latin-1."""
        return text_of_bytes(self.data)

    @property
    def lines(self) -> ByteLines | None:
        """The lines that can be taken or replaced by themselves; None if there are none."""
        return None if self.mode in (LINK, SUBMODULE) else ByteLines.of(self.data)


def patch_files(old: Mapping[str, Side], new: Mapping[str, Side]) -> tuple[FilePair, ...]:
    """Return the changes between two sets of files, by path, with renamed files recognised.

    A difference of bytes is a change, even if the texts are equal.
    """
    moved = renamed_files(old, new)
    gone = set(moved.values())
    pairs = []
    for path in sorted(old.keys() | new.keys()):
        if path in gone:
            continue
        before = moved.get(path, path)
        pair = changed_file(before, old.get(before), path, new.get(path))
        if pair is not None:
            pairs.append(pair)
    return tuple(pairs)


def changed_file(
    old_path: str, old: Side | None, new_path: str, new: Side | None
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
    if before != after:
        spans = differing_lines(raw_lines(before), raw_lines(after))
        pair = replace(pair, hunks=tuple(hunks_between(before.encode(), after.encode(), spans)))
    facts = tuple(_facts_beside(pair, old, new))
    if old and new and old.data != new.data and not (pair.hunks or facts):
        facts = (_OTHER_BYTES,)
    only = len(facts) == 1 and old is not None and not (pair.hunks or pair.facts)
    pair = replace(pair, beside=(f"only {facts[0]}",) if only else facts)
    return pair if pair.hunks or pair.facts else None


def _facts_beside(pair: FilePair, old: Side | None, new: Side | None) -> Iterator[str]:
    """Yield what changes beside lines and mode: what the bytes tell, or a submodule's commit."""
    commits = [side.blob if side and side.mode == SUBMODULE else "" for side in (old, new)]
    if commits[0] != commits[1]:
        # So many digits, from 7, that the two differ.
        old_id, new_id = commits
        same = (n for n in range(7, len(old_id)) if old_id[:n] != new_id[:n])
        digits = next(same, len(old_id) or 7)
        shown = old_id[:digits], new_id[:digits]
        if not commits[0]:
            yield f"makes {pair.path} a submodule at {shown[1]}"
        elif not commits[1]:
            yield f"removes submodule {pair.path} at {shown[0]}"
        else:
            yield f"moves submodule {pair.path} from {shown[0]} to {shown[1]}"
    elif new is not None and new.mode not in (LINK, SUBMODULE):
        yield from byte_facts(old.data if old and old.mode != LINK else None, new.data)


def _name(side: Side | None) -> str:
    return hashlib.sha1(side.data, usedforsecurity=False).hexdigest() if side else ""


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
    head = shared_lines(old, new)
    o_lo, a_lo = head, head
    for o, a in [*_matched(old, new, head), (len(old), len(new))]:
        if old[o_lo:o] != new[a_lo:a]:
            gaps = old[o_lo:o], new[a_lo:a]
            front = shared_lines(*gaps)
            back = shared_lines(*(gap[front:][::-1] for gap in gaps))
            yield o_lo + front, o - back, a_lo + front, a - back
        if o < len(old) and old[o] != new[a]:
            yield o, o + 1, a, a + 1
        o_lo, a_lo = o + 1, a + 1


def _matched(old: Sequence[str], new: Sequence[str], head: int) -> Iterator[tuple[int, int]]:
    """Yield the canonical alignment of the lines that have a key, after so many equal lines."""
    sides = [
        {at: key for at in range(head, len(lines)) if (key := line_key(lines[at]))}
        for lines in (old, new)
    ]
    vocabulary = Vocabulary()
    o, a = (vocabulary.intern(list(keys.values())) for keys in sides)
    o_lines, a_lines = map(list, sides)
    for o_line, a_line in align(o, a).pairs:
        yield o_lines[o_line], a_lines[a_line]


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
    gone = set(renames.values())
    for share, path, before in sorted(_alike(deleted, created), reverse=True):
        if share >= _RENAMED and path not in renames and before not in gone:
            renames[path] = before
            gone.add(before)
    return renames


def _alike(
    deleted: Mapping[str, Side], created: Mapping[str, Side]
) -> Iterator[tuple[float, str, str]]:
    """Yield the share of the longer file's lines that files have in common, if it is large enough.

    Of the lines in common, one is among the rarest of each file: so many that fewer than the
    wanted share are left. Only files with such a line in common are compared.
    """
    sets = [
        {path: set(raw_lines(side.text or "")) for path, side in files.items()}
        for files in (deleted, created)
    ]
    every = [lines for files in sets for lines in files.values()]
    spread = Counter(line for lines in every for line in lines)
    rare = [
        {
            path: sorted(lines, key=lambda line: (spread[line], line))[
                : len(lines) - math.ceil(len(lines) * _RENAMED) + 1
            ]
            for path, lines in files.items()
        }
        for files in sets
    ]
    # What all files have in common, such as a licence, is counted and looked up once.
    shared = {line for line, count in spread.items() if count == len(every)}
    own = [{path: lines - shared for path, lines in files.items()} for files in sets]
    having: dict[str, list[str]] = defaultdict(list)
    for before, lines in rare[0].items():
        for line in lines:
            if line not in shared:
                having[line].append(before)
    for path, lines in rare[1].items():
        after_lines = own[1][path]
        with_one = {before for line in lines for before in having.get(line, ())}
        for before in with_one if shared.isdisjoint(lines) else deleted:
            longer = max(len(after_lines), len(own[0][before])) + len(shared)
            equal = len(after_lines & own[0][before]) + len(shared)
            yield equal / longer, path, before
