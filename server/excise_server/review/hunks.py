"""The files of a review, hunk by hunk, with each candidate's variant of the origin's lines. Pure.

A file keeps the path that it has in the origin, also where a candidate renames it.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import excise
from excise import ChangeSet, Hunk, Options, Variant
from excise.bindings import HunkNames
from excise.patches import FilePair
from excise.patches.features import facts_of
from excise.preparation import Readings
from excise.reading import PARSER_SECONDS, read
from excise.units import Unit, slots_of, units_of
from excise_server.foundation.changes import LINK, SUBMODULE, Side, patch_files
from excise_server.review.candidate import Candidate
from excise_server.review.git_patch import FileEdit
from excise_server.review.kinds import FACETS, Kind, kind_of

_NAME = re.compile(r"([0-9]{1,9})(?:(\+)|-([0-9]{1,9}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class FileChange(FileEdit):
    """The change of a file by one candidate.

    - ``pair``: the change as a patch: its lines, and facts other than text.
    - ``kind``: what the file is for.
    - ``conflict``: what the target changed here as well, or empty.
    """

    id: str
    pair: FilePair
    kind: Kind
    conflict: str = ""

    @property
    def text(self) -> str | None:
        """The candidate's normalised text, or None for a deleted file and for binary data."""
        return self.new.text if self.new is not None else None


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    """A file that some candidate touches.

    - ``path``: its path in the origin, or where it is created.
    - ``origin``: the file in the origin, or None if it is created.
    - ``changes``: its changes, in the order of the candidates.
    - ``ids``: the candidates that have a text of it, in the review's order: not who deletes the
      file, or makes it binary.
    - ``hunks``: where the texts differ from the origin's, in the order of its lines, with ``ids``
      as members. A binary origin has no hunks.
    - ``readings``: what was read to find the hunks; None without hunks.
    """

    path: str
    origin: Side | None
    changes: tuple[FileChange, ...]
    ids: tuple[str, ...] = ()
    hunks: tuple[Hunk, ...] = ()
    readings: Readings | None = field(default=None, repr=False, compare=False)
    _names: dict[str, dict[int, HunkNames]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def kind(self) -> Kind:
        """What it is for: by its path, if candidates that change it leave it open."""
        kinds = {change.kind for change in self.changes}
        return kinds.pop() if len(kinds) == 1 else kind_of(self.path)

    @property
    def text(self) -> str | None:
        """The origin's normalised text, empty for a created file, or None for binary data."""
        return "" if self.origin is None else self.origin.text

    def variants(self, hunk: Hunk) -> list[tuple[tuple[str, ...], str]]:
        """Return the texts of a hunk that differ from the origin's, each with its candidates."""
        return [(self._named(v), v.text) for v in hunk.variants if v.text != hunk.text]

    def unchanged(self, hunk: Hunk) -> tuple[str, ...]:
        """Return the candidates that leave the origin's lines of a hunk."""
        return next((self._named(v) for v in hunk.variants if v.text == hunk.text), ())

    def changed(self, name: str) -> dict[int, tuple[int, int]]:
        """Return the hunks that a candidate changes, by their indices, with its own lines."""
        member = self.ids.index(name) if name in self.ids else -1
        return {
            index: hunk.spans[member]
            for index, hunk in enumerate(self.hunks)
            if any(member in v.members and v.text != hunk.text for v in hunk.variants)
        }

    def spans(self, name: str) -> Iterator[tuple[int, int, int, int]]:
        """Yield the hunks that a candidate changes: lines of the origin, and its own lines."""
        for index, own in self.changed(name).items():
            yield self.hunks[index].lo, self.hunks[index].hi, *own

    def fresh_names(self, name: str) -> dict[int, HunkNames]:
        """Return the fresh names of each hunk that a candidate changes (`excise.bindings`)."""
        if name not in self._names:
            change = next((change for change in self.changes if change.id == name), None)
            text, spans = change and change.text, self.changed(name)
            if not text or self.readings is None or self.text is None:
                names = [HunkNames.none()] * len(spans)
            else:
                path = None if change is None or _is_special(change) else self.path
                reading = read([self.text, text], None, path, Options(), PARSER_SECONDS)
                names = self.readings.fresh_names(self.text, text, reading, [*spans.values()])
            self._names[name] = dict(zip(spans, names, strict=True))
        return self._names[name]

    def units(self, name: str) -> tuple[Unit, ...]:
        """Return a candidate's hunks, by their indices, in units that belong together."""
        names = self.fresh_names(name)
        indices = list(names)
        return tuple(
            unit._replace(hunks=tuple(indices[i] for i in unit.hunks))
            for unit in units_of([*names.values()])
        )

    def slots(self) -> tuple[tuple[int, ...], ...]:
        """Return the hunks, by their indices, in decisions among the candidates' units."""
        if len(self.hunks) < 2:  # no names are needed
            return ((0,),) * len(self.hunks)
        return slots_of([unit for name in self.ids for unit in self.units(name)])

    def _named(self, variant: Variant) -> tuple[str, ...]:
        return tuple(self.ids[member] for member in variant.members)


def review_files(
    candidates: Sequence[Candidate],
    cancel: excise.CancelFlag | None = None,
    readings: Readings | None = None,
    pairs: Mapping[str, Sequence[FilePair]] | None = None,
    *,
    with_hunks: bool = True,
) -> tuple[ReviewedFile, ...]:
    """Return every file that some of the candidates touch, by path.

    The hunks depend on the candidates: another set of them has other hunks.

    Raises excise.errors.Cancelled if the flag is raised meanwhile.

    - ``candidates``: changes of one origin. Every one has a text of each file, whatever it touches.
    - ``readings``: those of an `excise.ScoreMatrix` of them.
    - ``pairs``: by id, the `patch_files` of candidates, where they are known.
    - ``with_hunks``: whether the files have their ``ids`` and ``hunks``, for which texts are read.
    """
    changes: dict[str, list[FileChange]] = defaultdict(list)
    origins: dict[str, Side | None] = {}
    for candidate in candidates:
        known = None if pairs is None else pairs[candidate.id]
        for pair in patch_files(candidate.old, candidate.new) if known is None else known:
            change = FileChange(
                path=pair.path,
                old_path=pair.old or pair.path,
                old=None if pair.old is None else candidate.old[pair.old],
                new=None if pair.new is None else candidate.new[pair.new],
                id=candidate.id,
                pair=pair,
                kind=candidate.kind_of(pair.old or pair.path),
                conflict=candidate.conflicts.get(pair.path, ""),
            )
            changes[change.old_path].append(change)
            origins[change.old_path] = change.old
    ids = [candidate.id for candidate in candidates]
    hunks_of = partial(_hunks, origins=origins, ids=ids, cancel=cancel, readings=readings)
    return tuple(
        ReviewedFile(
            path,
            origins[path],
            tuple(file_changes),
            *(hunks_of(path, file_changes) if with_hunks else ()),
        )
        for path, file_changes in sorted(changes.items())
    )


def _hunks(
    path: str,
    changes: Sequence[FileChange],
    *,
    origins: Mapping[str, Side | None],
    ids: Sequence[str],
    cancel: excise.CancelFlag | None,
    readings: Readings | None,
) -> tuple[tuple[str, ...], tuple[Hunk, ...], Readings | None]:
    """Return who has a text, the hunks of the texts and what was read, equal texts once."""
    origin = origins[path]
    text = "" if origin is None else origin.text
    texts = {c.id: revised for c in changes if (revised := c.text) is not None}
    apart = {c.id for c in changes} - texts.keys()
    staying = tuple(name for name in ids if name not in apart)
    distinct = list(dict.fromkeys(revised for revised in texts.values() if revised != text))
    if text is None or not distinct:
        return staying, (), None
    special = any(map(_is_special, changes))
    matrix = excise.ScoreMatrix.from_texts(
        text, distinct, path=None if special else path, cancel=cancel, timeout=PARSER_SECONDS,
        readings=readings,
    )  # fmt: skip
    index_of = {revised: index for index, revised in enumerate(distinct)}
    members = [index_of.get(texts.get(name, text)) for name in staying]
    hunks = tuple(_of_all(hunk, members) for hunk in matrix.hunks(cancel=cancel))
    return staying, hunks, matrix.readings


def _is_special(change: FileChange) -> bool:
    """Whether it is a link or a submodule, before or after."""
    return any(
        side is not None and side.mode in (LINK, SUBMODULE) for side in (change.old, change.new)
    )


def _of_all(hunk: Hunk, distinct: Sequence[int | None]) -> Hunk:
    """Return a hunk of distinct texts as one of candidates, of whom None has the origin's text."""
    text_of = {index: v.text for v in hunk.variants for index in v.members}
    members_by_text: dict[str, list[int]] = defaultdict(list)
    for member, index in enumerate(distinct):
        members_by_text[hunk.text if index is None else text_of[index]].append(member)
    variants = [Variant(tuple(members), text) for text, members in members_by_text.items()]
    variants.sort(key=lambda variant: -len(variant.members))
    own = (hunk.lo, hunk.hi)
    spans = tuple(own if index is None else hunk.spans[index] for index in distinct)
    return replace(hunk, variants=tuple(variants), spans=spans)


def hunk_name(lo: int, hi: int) -> str:
    """Name lines of the origin as people count them: from 1, the last one included.

    A gap is named by the line before it.
    """
    if lo == hi:
        return f"{lo}+"
    return f"{lo + 1}-{hi}" if hi > lo + 1 else str(hi)


def lines_named(name: str) -> tuple[int, int] | None:
    """Return the lines (from, to, exclusive, from 0) in a name of a hunk, or None without any."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    first, gap, last = int(match[1]), match[2], match[3]
    if gap:
        return first, first
    stop = int(last) if last else first
    return (first - 1, stop) if 0 < first <= stop else None


# --- candidates as change sets of the target: what the library compares ---


def change_set(
    old: Mapping[str, Side],
    new: Mapping[str, Side],
    pairs: Sequence[FilePair],
    kind: Callable[[str], Kind] = kind_of,
) -> tuple[dict[str, str], ChangeSet]:
    """Return the target's texts that a candidate edits, and its change set, by the same paths.

    - ``old``, ``new``: the target's files that it changes, before and after, by path.
    - ``pairs``: the files that count, in pairs: a renamed file keeps the target's path.
    - ``kind``: what a file is for, if more is known of it than its path.
    """
    origin, texts, facts, facets = {}, {}, {}, {}
    for pair in pairs:
        before = None if pair.old is None else old.get(pair.old)
        after = None if pair.new is None else new.get(pair.new)
        key = pair.old or pair.path
        if any(side is not None and side.mode in (LINK, SUBMODULE) for side in (before, after)):
            key = f"{key}\0link"  # without an extension to read it by
        elif (facet := kind(key)) in FACETS and kind(pair.path) == facet:
            facets[key] = facet
        if pair.hunks:
            texts[key] = (after.text or "") if after is not None else ""
            if before is not None:
                origin[key] = before.text or ""
        # Where only bytes differ, the same words need not mean the same bytes.
        data = after.data if after is not None and pair.beside and not pair.hunks else b""
        facts[key] = (
            # Beside lines of code, other line ends or another encoding make no other edit.
            *facts_of(replace(pair, beside=()) if pair.hunks else pair),
            *([f"to {pair.new}"] if pair.moved else []),
            *([hashlib.sha256(data).hexdigest()] if data else []),
        )
    # Texts and facts leave out line ends beside changed lines, and ignored files.
    sides = [(path, side.mode, hashlib.sha256(side.data).digest()) for path, side in new.items()]
    whole = sorted(sides), sorted(old.keys() - new.keys())
    return origin, ChangeSet(texts, facts, facets, hashlib.sha256(repr(whole).encode()).hexdigest())
