"""What an author changed between two versions of a candidate, both on one base. Pure.

The older version was replayed onto the base of the newer one, so that what others did meanwhile is
on both sides. How many commits a version has does not matter: only the files that it leaves count.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import NamedTuple

from excise.patches import FilePair, Patch
from excise.patches.blocks import CONTEXT, Span, text_of
from excise.patches.features import facts_of
from excise.text import raw_lines
from excise_server.foundation.changes import Side, differing_lines, renamed_files
from excise_server.foundation.file_bytes import byte_facts
from excise_server.review.candidate import Candidate
from excise_server.review.replayed import SAME_LINES

SAME, CHANGED, NEW, DROPPED, CONFLICT = "same", "changed", "new", "dropped", "conflict"
"""What became of a hunk. In a conflict the base changed its lines, too."""

_FILE = "100644"
_HEADING = re.compile(r"[A-Za-z_$]|@@ ")
_OPEN = "\\ No newline at end of file"


class SinceFact(NamedTuple):
    """What became of something that no line shows: a mode, a name, binary data, line ends."""

    status: str
    text: str


@dataclass(frozen=True, slots=True)
class ChangedHunk:
    """Lines in which two versions differ.

    - ``status``: any but `SAME`.
    - ``old``, ``new``: these lines (from, to; 0-based, exclusive) of the older version as it was
      replayed, and of the newer one. Of a conflict the older lines are those of the base.
    - ``heading``: the nearest line above that begins a function or the like, by git's rule, or
      empty.
    - ``lines``: with up to three lines around, each behind its sign (blank, ``-``, ``+``).
    """

    status: str
    old: tuple[int, int]
    new: tuple[int, int]
    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SinceFile:
    """A file that at least one of the versions changes.

    - ``path``, ``base_path``: in the newer version (or in the older one, if only that has the
      file), and in the base.
    - ``counts``: how many of its hunks, facts included, have which status.
    """

    path: str
    base_path: str
    counts: Counter[str]
    facts: tuple[SinceFact, ...] = ()
    hunks: tuple[ChangedHunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Since:
    """What changed from one version of a candidate to another, by path."""

    files: tuple[SinceFile, ...]

    @property
    def counts(self) -> Counter[str]:
        """How many hunks have which status."""
        return sum((file.counts for file in self.files), Counter[str]())

    def of(self, globs: Sequence[str]) -> Since:
        """Return the files of these names, before or after."""
        return Since(
            tuple(
                file
                for file in self.files
                if any(fnmatchcase(p, glob) for glob in globs for p in (file.path, file.base_path))
            )
        )


class _Version(NamedTuple):
    """A file as one version has it; ``dispute`` says what the base changed there, too."""

    path: str
    side: Side | None
    dispute: str = ""
    disputed: tuple[tuple[int, int], ...] = ()


def changes_since(old: Candidate, new: Candidate) -> Since:
    """Compare two versions of a candidate, which are changes of one target.

    - ``old``: the older one, replayed, with what it disputes with the target.
    """
    renames = renamed_files(new.old, new.new) | renamed_files(old.old, old.new)
    versions = [_versions(candidate, renames) for candidate in (old, new)]
    files = []
    for path in sorted(versions[0].keys() | versions[1].keys()):
        base = new.old.get(path, old.old.get(path))
        before, after = (own.get(path, _Version(path, base)) for own in versions)
        files.append(_file(path, base, before, after))
    return Since(tuple(file for file in files if file.counts))


def _versions(candidate: Candidate, renames: Mapping[str, str]) -> dict[str, _Version]:
    """Return the files that a version changes, by their paths in the base."""
    old, new = candidate.old, candidate.new
    own = {
        after: before
        for after, before in renames.items()
        if after in new and before in old and before not in new
    }
    gone = set(own.values())
    versions = {}
    for path in sorted((old.keys() | new.keys() | candidate.conflicts.keys()) - gone):
        dispute = candidate.conflicts.get(path, "")
        disputed = candidate.disputed.get(path, ())
        versions[own.get(path, path)] = _Version(path, new.get(path), dispute, disputed)
    return versions


def _status(base: object, old: object, new: object) -> str:
    """Return what became of a change of one value, or nothing if neither changes it."""
    if old == new:
        return "" if old == base else SAME
    return NEW if old == base else DROPPED if new == base else CHANGED


def _file(path: str, base: Side | None, old: _Version, new: _Version) -> SinceFile:
    facts = []
    before, after = old.side, new.side
    if old.dispute and old.dispute != SAME_LINES:
        facts.append(SinceFact(CONFLICT, old.dispute))
        before = base
    texts = ["" if side is None else side.text for side in (base, before, after)]
    is_deleted = base is not None and (before is None or after is None)
    hunks: list[ChangedHunk] = []
    counts = Counter[str]()
    unshown = 0
    if is_deleted or None in texts or not any(texts):
        contents = [side and (side.data, side.mode) for side in (base, before, after)]
        status = _status(*contents)
        if after is None:
            words = "no longer creates the file" if base is None else "deletes the file"
        elif before is None and base is not None:
            words = "no longer deletes the file"
        else:
            words = "is binary" if None in texts else "is empty"
        facts += [SinceFact(status, words)] if status else []
    else:
        lines = [raw_lines(text or "") for text in texts]
        counts, hunks, unshown = _hunks(lines, () if facts else old.disputed)
        if facts:  # all of it is one conflict
            counts = Counter()
            hunks = [replace(hunk, status=CONFLICT) for hunk in hunks]
        if before and after and before.data != after.data:
            other = byte_facts(before.data, after.data)
            if not (other or hunks):
                other = ("changes bytes that its text does not show",)
            facts += [SinceFact(NEW if before == base else CHANGED, words) for words in other]
    if before and after:
        modes = base.mode if base else _FILE, before.mode, after.mode
        names = path, old.path, new.path
        for status, words in (
            (_status(*modes), f"mode {after.mode}"),
            (_status(*names), "is renamed" if new.path != path else "is no longer renamed"),
        ):
            facts += [SinceFact(status, words)] if status and not is_deleted else []
    counts += Counter(fact.status for fact in facts)
    shown = (*(fact for fact in facts if fact.status != SAME), *_left_to_base(unshown))
    now = new.path if after is not None else old.path
    return SinceFile(now, path, counts, shown, tuple(hunks))


def _left_to_base(count: int) -> list[SinceFact]:
    """Say that nothing can be shown of so many conflicts, which are counted as hunks already."""
    words = f"{count:,} of the hunks that the base changed, too; NEW has what the base has"
    return [SinceFact(CONFLICT, words)] if count else []


# --- lines ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class _EditedRegion:
    """Touching edits of the base's lines, with the lines that the versions have there."""

    lo: int
    hi: int
    is_disputed: bool = False
    edited: list[bool] = field(default_factory=lambda: [False, False])
    is_different: bool = False

    @property
    def status(self) -> str:
        if self.is_disputed:
            return CONFLICT
        if not self.is_different:
            return SAME
        return CHANGED if all(self.edited) else NEW if self.edited[1] else DROPPED


def _hunks(
    texts: Sequence[Sequence[str]], disputed: Sequence[tuple[int, int]]
) -> tuple[Counter[str], list[ChangedHunk], int]:
    """Return how many hunks of a file have which status, and where the versions differ.

    Last comes in how many conflicts NEW has the base's lines, so that nothing is shown of them.

    Which lines differ is asked of the two versions alone: what they have in common is the same,
    wherever an alignment with the base might put it.

    - ``texts``: the lines of the base, of the older and of the newer version.
    """
    base, old, new = texts
    edits = [list(differing_lines(base, lines)) for lines in (old, new)]
    sided = [(span[0], span[1], side) for side, own in enumerate(edits) for span in own]
    regions: list[_EditedRegion] = []
    for lo, hi, side in sorted([*sided, *((lo, hi, -1) for lo, hi in disputed)]):
        if not regions or lo > regions[-1].hi:
            regions.append(_EditedRegion(lo, hi))
        region = regions[-1]
        region.hi = max(region.hi, hi)
        if side < 0:
            region.is_disputed = True
        else:
            region.edited[side] = True
    # In a conflict the lines of the base are the older ones.
    lines, position = list[str](), 0
    for region in (region for region in regions if region.is_disputed):
        lo, hi = _moved(region.lo, edits[0], 0), _moved(region.hi, edits[0], 1)
        lines += [*old[position:lo], *base[region.lo : region.hi]]
        position = hi
    if any(region.is_disputed for region in regions):
        old = [*lines, *old[position:]]
        edits[0] = list(differing_lines(base, old))
    spans = list(differing_lines(old, new))
    places = [
        (
            [_moved(region.lo, own, 0) for region in regions],
            [_moved(region.hi, own, 1) for region in regions],
        )
        for own in edits
    ]
    touched = [_touched(places, span) for span in spans]
    for number in {number for own in touched for number in own}:
        regions[number].is_different = True
    words = []
    for own in touched:
        statuses = {regions[number].status for number in own}
        mixed = CONFLICT if CONFLICT in statuses else CHANGED
        words.append(statuses.pop() if len(statuses) == 1 else mixed)
    shown = list(_shown(old, new, spans, words))
    unshown = sum(region.is_disputed and not region.is_different for region in regions)
    return Counter(region.status for region in regions), shown, unshown


def _touched(places: Sequence[tuple[Sequence[int], Sequence[int]]], span: Span) -> set[int]:
    """Return the regions that a span overlaps in either version, or else those that it touches."""
    (old_starts, old_ends), (new_starts, new_ends) = places
    sides = (old_starts, old_ends, *span[:2]), (new_starts, new_ends, *span[2:])
    inside = {
        region
        for starts, ends, lo, hi in sides
        for region in range(bisect_right(ends, lo), bisect_left(starts, hi))
    }
    return inside or {
        region
        for starts, ends, lo, hi in sides
        for region in range(bisect_left(ends, lo), bisect_right(starts, hi))
    }


def _moved(line: int, edits: Sequence[Span], end: int) -> int:
    """Return where a line of the base is in a version, at the end of edits if it is one (1)."""
    place = bisect_right(edits, line if end else line - 1, key=lambda span: span[0])
    if not place:
        return line
    last = edits[place - 1]
    return max(line - last[1], 0) + last[3]


def _shown(
    old: Sequence[str], new: Sequence[str], spans: Sequence[Span], words: Sequence[str]
) -> Iterator[ChangedHunk]:
    """Yield the hunks that are shown: near spans of one status are one, and no line is in two."""
    groups: list[tuple[str, list[Span]]] = []
    for span, word in zip(spans, words, strict=True):
        if groups and groups[-1][0] == word and span[0] - groups[-1][1][-1][1] <= 2 * CONTEXT:
            groups[-1][1].append(span)
        else:
            groups.append((word, [span]))
    shown = above = 0
    heading = ""
    for number, (word, group) in enumerate(groups):
        following = groups[number + 1][1][0][0] if number + 1 < len(groups) else len(old)
        start = max(group[0][0] - CONTEXT, shown)
        shown = min(group[-1][1] + CONTEXT, following)
        for line in new[above : (above := group[0][2])]:
            if _HEADING.match(line):
                heading = line.removeprefix("@@ ").rstrip()
        lines, position = list[str](), start
        for o_lo, o_hi, a_lo, a_hi in [*group, (shown, shown, 0, 0)]:
            lines += [f" {line}" for line in old[position:o_lo]]
            lines += [f"-{line}" for line in old[o_lo:o_hi]]
            lines += [f"+{line}" for line in new[a_lo:a_hi]]
            position = o_hi
        texts = [
            text
            for line in lines
            for text in ([line[:-1]] if line.endswith("\n") else [line, _OPEN])
        ]
        own = (group[0][0], group[-1][1]), (group[0][2], group[-1][3])
        yield ChangedHunk(word, *own, heading, tuple(texts))


# --- patches without a tree ----------------------------------------------------------------------


def patches_since(old: Patch, new: Patch) -> Since:
    """Compare two patches by what they show, where the files that they were made from are unknown.

    Of each file the lines are put together that either patch shows of it before its edits: those of
    both stand there once. So context that only one of them shows, or that has changed meanwhile,
    makes no difference. An edit of lines that the other one does not show is a conflict.
    """
    files = []
    pairs: list[dict[str, list[FilePair]]] = [{}, {}]
    for patch, own in zip((old, new), pairs, strict=True):
        for pair in patch.files:
            own.setdefault(pair.old or pair.path, []).append(pair)
    for path in sorted(pairs[0].keys() | pairs[1].keys()):
        counts, hunks, unshown = _of_fragments(*(_shown_lines(own.get(path, ())) for own in pairs))
        facts = [[fact for pair in own.get(path, ()) for fact in _facts(pair)] for own in pairs]
        differing = [
            SinceFact(NEW if fact in facts[1] else DROPPED, fact)
            for fact in dict.fromkeys((*facts[0], *facts[1]))
            if (fact in facts[0]) != (fact in facts[1])
        ]
        counts += Counter(fact.status for fact in differing)
        counts[SAME] += len(set(facts[0]) & set(facts[1]))
        now = (pairs[1].get(path) or pairs[0][path])[-1].path
        facts_shown = (*differing, *_left_to_base(unshown))
        files.append(SinceFile(now, path, +counts, facts_shown, tuple(hunks)))
    return Since(tuple(file for file in files if file.counts))


def _facts(pair: FilePair) -> Iterator[str]:
    for fact in facts_of(pair):
        if fact not in ("created", "deleted") or not pair.hunks:
            yield fact
    if pair.binary is not None:
        yield f"binary {pair.new_blob}"


class _Line(NamedTuple):
    """A line of a patch: its sign, its text, and the number of its hunk."""

    sign: str
    text: str
    hunk: int


def _shown_lines(pairs: Iterable[FilePair]) -> list[_Line]:
    """Return the lines of a file's patches, a heading in front of each hunk."""
    shown = []
    for number, hunk in enumerate(hunk for pair in pairs for hunk in pair.hunks):
        shown.append(_Line(" ", f"@@ {text_of([hunk.heading])[0]}\n", number))
        lines = text_of(hunk.lines)
        shown += [_Line(line[:1], f"{line[1:].rstrip(chr(13))}\n", number) for line in lines]
    return shown


def _of_fragments(
    old: Sequence[_Line], new: Sequence[_Line]
) -> tuple[Counter[str], list[ChangedHunk], int]:
    """Compare what two patches show of one file."""
    befores = [[line for line in lines if line.sign != "+"] for lines in (old, new)]
    texts = [[line.text for line in lines] for lines in befores]
    base, results, disputed = list[str](), (list[str](), list[str]()), list[tuple[int, int]]()
    positions = [0, 0]
    spans = [*differing_lines(*texts), (len(texts[0]), len(texts[0]), len(texts[1]), len(texts[1]))]
    # Hunks that show a line in common, by their numbers. A line that either patch shows several
    # times of the file may be another one of its kind.
    counts = [Counter(lines) for lines in texts]
    near, ends = set(), (0, 0)
    for o_lo, o_hi, a_lo, a_hi in spans:
        for o, a in zip(range(ends[0], o_lo), range(ends[1], a_lo), strict=True):
            text = texts[0][o]
            is_one = counts[0][text] == counts[1][text] == 1
            if is_one and text.strip() and not text.startswith("@@ "):
                near.add((befores[0][o].hunk, befores[1][a].hunk))
        ends = o_hi, a_hi
    walks = [_walk(old), _walk(new)]
    for o_lo, o_hi, a_lo, a_hi in spans:
        for _ in range(o_lo - positions[0]):
            base.append(texts[0][positions[0]])
            for side, walk in enumerate(walks):
                results[side].extend((*walk[positions[side]].inserted, *walk[positions[side]].kept))
                positions[side] += 1
        # What is inserted behind a line of both comes before the lines that only one shows.
        start, stops = len(base), (o_hi, a_hi)
        for side, walk in enumerate(walks):
            results[side].extend(walk[positions[side]].inserted)
            walk[positions[side]].inserted.clear()
        for side, walk in enumerate(walks):
            for position in range(positions[side], stops[side]):
                base.append(texts[side][position])
                results[1 - side].append(texts[side][position])
                results[side].extend((*walk[position].inserted, *walk[position].kept))
            positions[side] = stops[side]
        own = [
            [line for line in lines if not line.text.startswith("@@ ")]
            for lines in (befores[0][o_lo:o_hi], befores[1][a_lo:a_hi])
        ]
        is_edited = any(line.sign == "-" for lines in own for line in lines)
        if is_edited and any((a.hunk, b.hunk) in near for a in own[0] for b in own[1]):
            disputed.append((start, len(base)))
    return _hunks((base, *results), disputed)


class _Step(NamedTuple):
    """What a patch inserts in front of a line that it shows, and what it has in its place."""

    inserted: list[str]
    kept: list[str]


def _walk(lines: Sequence[_Line]) -> list[_Step]:
    """Return what a patch makes of each line that it shows of the file, and behind the last one."""
    steps = [_Step([], [])]
    is_deleted = False
    for line in lines:
        if line.sign == "+":
            (steps[-2].kept if is_deleted else steps[-1].inserted).append(line.text)
            continue
        is_deleted = line.sign == "-"
        steps[-1].kept.extend([] if is_deleted else [line.text])
        steps.append(_Step([], []))
    return steps
