"""What the views of a review share: the lines of a hunk, and the words for who has what. Pure.

Lines that a variant shares with the reference are named, not repeated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import excise
from excise.lexical import tokenise
from excise.text import raw_lines
from excise_server.foundation.changes import differing_lines
from excise_server.foundation.escape import printable, shortened
from excise_server.report.review import (
    FileChangeEntry,
    ReviewBatchEntry,
    ReviewDocument,
    ReviewFileEntry,
    ReviewGroupEntry,
    ReviewHunkEntry,
)
from excise_server.report.words import DISAGREE, order_words, plural

__all__ = ["MAX_LINES", "NOTHING", "ORIGIN", "Folding", "HunkLines", "Names", "ShownLine"]
__all__ += ["agreed", "batch_head", "differing_tokens", "file_facts", "file_head"]
__all__ += ["file_lines", "folded", "heading", "hunk_lines", "idle"]
__all__ += ["is_deleted_by_all", "order_lines", "places", "range_words", "texts_beside"]

ORIGIN = ""
"""The id of the origin, which is not a candidate."""

MAX_LINES = 400
"""Most lines of one text of a hunk that is shown completely."""

_EDGE = 10
"""The number of lines shown at the start and at the end of a longer text."""

MAX_MARKED = 200_000
"""Most characters of a reference and a variant together whose differing tokens are marked."""

_SHORT = 2
"""Most lines in common that are repeated, because naming them would take as much room."""

Marks = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Folding:
    """What to fold, and the candidate to compare texts with.

    Attributes
    ----------
    against
        The id of a candidate, or `ORIGIN`.
    is_whole
        Whether to show everything: hunks on which all agree, generated files and long texts.
    """

    against: str = ORIGIN
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class ShownLine:
    r"""A line of a block.

    Attributes
    ----------
    sign
        Empty for a line of the reference, ``+`` for one that differs from it, a blank for one that
        does not, ``=`` for several of these, which ``text`` names, and ``\`` for a remark.
    number
        The number of a line of the origin, from 1, or 0 for other lines.
    text
        The line without its line end.
    marks
        Ranges (from, to, exclusive) of characters whose tokens the other text lacks, if it has
        other tokens of this line.
    """

    sign: str
    text: str
    number: int = 0
    marks: Marks = ()


@dataclass(frozen=True, slots=True)
class ShownBlock:
    """One text of a hunk and the ids of its candidates, with `ORIGIN` if the origin has it."""

    ids: tuple[str, ...]
    lines: tuple[ShownLine, ...]
    added: int
    deleted: int


@dataclass(frozen=True, slots=True)
class HunkLines:
    """A hunk as it is shown.

    Attributes
    ----------
    reference
        The text that all others are compared with.
    others
        The other texts, most candidates first.
    is_agreed
        Whether all of several candidates have the same text here.
    """

    reference: ShownBlock
    others: tuple[ShownBlock, ...]
    is_agreed: bool


def hunk_lines(hunk: ReviewHunkEntry, members: Sequence[str], against: str = ORIGIN) -> HunkLines:
    """Return a hunk as it is shown, against the origin or the text of a candidate.

    Parameters
    ----------
    members
        The ids of all candidates of the batch.
    against
        The id of a candidate; if it is in no variant, the origin's text is the reference.
    """
    texts = [((ORIGIN, *hunk.unchanged), hunk.origin)]
    texts += [(tuple(variant.ids), variant.text) for variant in hunk.variants]
    chosen = next((index for index, (ids, _) in enumerate(texts) if against in ids), 0)
    ids, reference = texts.pop(chosen)
    first = hunk.lo + 1 if chosen == 0 else 0
    others = [_block(who, reference, text, first) for who, text in texts]
    lost = {span for _, marks in others for span in marks}
    lines = _lines("", reference, frozenset(lost), first)
    is_agreed = len(members) > 1 and len(hunk.variants) == 1
    return HunkLines(
        ShownBlock(ids, tuple(lines), 0, 0),
        tuple(block for block, _ in others),
        is_agreed and len(hunk.variants[0].ids) == len(members),
    )


def folded(lines: Sequence[ShownLine], folding: Folding) -> Iterator[ShownLine | int]:
    """Yield the lines of a text, or the first, the last and a count of those between."""
    hidden = len(lines) - 2 * _EDGE
    if len(lines) <= MAX_LINES or folding.is_whole:
        yield from lines
        return
    yield from lines[:_EDGE]
    yield hidden
    yield from lines[-_EDGE:]


def file_lines(text: str) -> list[ShownLine]:
    """Return the lines of a file that some candidate deletes."""
    return [
        ShownLine("", line.removesuffix("\n"), number)
        for number, line in enumerate(raw_lines(text), start=1)
    ]


Spans = frozenset[tuple[int, int]]


def _block(ids: tuple[str, ...], reference: str, text: str, first: int) -> tuple[ShownBlock, Spans]:
    """Return a variant compared with the reference, and the tokens of the reference it lacks."""
    old, new = raw_lines(reference), raw_lines(text)
    missing, gained = differing_tokens(reference, text)
    every = _lines("+", text, gained, 0)
    shown: list[ShownLine] = []
    position = before = added = deleted = 0
    for o_lo, o_hi, a_lo, a_hi in differing_lines(old, new):
        shown += _common(every[position:a_lo], before, first)
        shown += every[a_lo:a_hi]
        added, deleted = added + a_hi - a_lo, deleted + o_hi - o_lo
        position, before = a_hi, o_hi
    shown += _common(every[position : len(new)], before, first)
    if old and new and old[-1].endswith("\n") != new[-1].endswith("\n"):
        ending = "with" if new[-1].endswith("\n") else "without"
        shown.append(ShownLine("\\", f"{ending} a line end at the end of the file"))
    return ShownBlock(ids, tuple(shown), added, deleted), missing


def _common(lines: Sequence[ShownLine], before: int, first: int) -> Iterator[ShownLine]:
    """Yield lines in common with the reference, the first of them after so many of its lines."""
    if len(lines) <= _SHORT:
        for index, line in enumerate(lines):
            yield ShownLine(" ", line.text, first + before + index if first else 0)
    elif first:
        yield ShownLine("=", f"{first + before}-{first + before + len(lines) - 1}")
    else:
        yield ShownLine("=", f"{len(lines)} lines")


def _lines(sign: str, text: str, spans: Spans, first: int) -> list[ShownLine]:
    """Return the lines of a text, with the characters in the spans marked."""
    ordered = sorted(spans)
    lines, start, position = [], 0, 0
    for number, line in enumerate(raw_lines(text)):
        stop = start + len(line)
        marks = []
        while position < len(ordered) and ordered[position][0] < stop:
            marks.append((ordered[position][0] - start, ordered[position][1] - start))
            position += 1
        shown = line.removesuffix("\n")
        lines.append(ShownLine(sign, shown, first + number if first else 0, _partial(shown, marks)))
        start = stop
    return lines


def _partial(line: str, marks: Sequence[tuple[int, int]]) -> Marks:
    """Join marks that are separated only by blanks, or return none if they cover the whole line."""
    joined: list[tuple[int, int]] = []
    for lo, hi in marks:
        if joined and not line[joined[-1][1] : lo].strip():
            joined[-1] = joined[-1][0], hi
        else:
            joined.append((lo, hi))
    outside = "".join(
        line[lo:hi]
        for lo, hi in zip([0, *(hi for _, hi in joined)], [*(lo for lo, _ in joined), len(line)],
                          strict=True)
    )  # fmt: skip
    return tuple(joined) if outside.strip() else ()


def differing_tokens(reference: str, text: str) -> tuple[Spans, Spans]:
    """Return the spans of tokens that the other text lacks: in the reference, and in the text."""
    if not reference or not text or len(reference) + len(text) > MAX_MARKED:
        return frozenset(), frozenset()
    old, new = tokenise(reference), tokenise(text)
    lost: set[tuple[int, int]] = set()
    gained: set[tuple[int, int]] = set()
    for edit in excise.align(reference, text).edits:
        lost.update(zip(old.starts[edit.o_lo : edit.o_hi], old.ends[edit.o_lo : edit.o_hi],
                        strict=True))  # fmt: skip
        gained.update(zip(new.starts[edit.a_lo : edit.a_hi], new.ends[edit.a_lo : edit.a_hi],
                          strict=True))  # fmt: skip
    return frozenset(lost), frozenset(gained)


_LONGEST_LABEL = 120
NOTHING = "No candidate changes anything: there is nothing to review."


@dataclass(frozen=True, slots=True)
class Names:
    """The labels of a batch's candidates, by id."""

    labels: Mapping[str, str]

    @classmethod
    def of(cls, batch: ReviewBatchEntry) -> Names:
        """Return those of a batch."""
        return cls({c.id: shortened(printable(c.label), _LONGEST_LABEL) for c in batch.candidates})

    def each(self, ids: Sequence[str]) -> list[str]:
        """Return the labels of some candidates, in the order of the table, without the origin."""
        chosen = set(ids)
        return [label for identity, label in self.labels.items() if identity in chosen]

    def share(self, ids: Sequence[str]) -> str:
        """Say how many these are: ``2 of 5``."""
        count = sum(identity != ORIGIN for identity in ids)
        return f"{count:,} of {len(self.labels):,}"


def idle(document: ReviewDocument) -> Iterator[tuple[str, list[str]]]:
    """Yield why candidates have nothing to review, and the ids of those."""
    if document.landed:
        yield "Landed already", document.landed
    if document.unchanged:
        yield "Unchanged", document.unchanged


def heading(document: ReviewDocument) -> str:
    """Return the title of a review."""
    count = sum(len(batch.candidates) for batch in document.batches)
    return f"{plural(count, 'candidate')} for {document.repository}"


def batch_head(document: ReviewDocument, batch: ReviewBatchEntry) -> str:
    """Say which batch this is, and how many candidates in how many groups it has."""
    count = len(document.batches)
    which = f"Batch {batch.number} of {count}: " if count > 1 else ""
    task = f" for {batch.task}" if batch.task else ""
    groups = f" in {plural(len(batch.groups), 'group')}" if len(batch.candidates) > 1 else ""
    return f"{which}{plural(len(batch.candidates), 'candidate')}{task}{groups}"


def order_lines(document: ReviewDocument, batch: ReviewBatchEntry) -> Iterator[str]:
    """Yield the rule of the order of several candidates, and where it is worth nothing."""
    if len(batch.candidates) > 1:
        yield f"order: {order_words(document.intent)}"
    if batch.disagree:
        yield DISAGREE


def places(batch: ReviewBatchEntry, group: ReviewGroupEntry) -> Iterator[tuple[str, list[str]]]:
    """Yield the places in the order that members of a group have: rank and why, and their ids."""
    ids_by_place: dict[str, list[str]] = defaultdict(list)
    for candidate in batch.candidates:
        if candidate.id in group.members and candidate.rank is not None:
            place = f"rank {candidate.rank:,}, {'; '.join(candidate.why)}"
            ids_by_place[place].append(candidate.id)
    yield from ids_by_place.items()


def range_words(hunk: ReviewHunkEntry) -> str:
    """Say which lines of the origin a hunk is.

    >>> from excise_server.report.review import ReviewHunkEntry
    >>> at = dict(origin="", variants=[], unchanged=[])
    >>> range_words(ReviewHunkEntry(name="7+", lo=7, hi=7, **at))
    'after line 7'
    """
    if hunk.lo == hunk.hi:
        return f"after line {hunk.lo:,}" if hunk.lo else "at the start"
    if hunk.hi == hunk.lo + 1:
        return f"line {hunk.hi:,}"
    return f"lines {hunk.lo + 1:,} to {hunk.hi:,}"


def file_head(file: ReviewFileEntry, names: Names) -> str:
    """Say how many do what with a file."""
    share = names.share([change.id for change in file.changes])
    kind = "" if file.kind == "code" else f" ({file.kind})"
    verbs = {"create" if change.status == "created" else "change" for change in file.changes}
    verb = verbs.pop() if len(verbs) == 1 else "change"
    several = "" if len(file.changes) > 1 else "s"
    return f"{kind}: {share} {verb}{several} it"


def texts_beside(
    hunk: ReviewHunkEntry, shown: HunkLines, names: Names
) -> Iterator[tuple[str, Sequence[str], Sequence[ShownLine]]]:
    """Yield each text but the reference: words for who has it, their ids, and how it differs.

    The last is of those that have the origin's lines. Words without ids name them all: the others.
    """
    for block in shown.others:
        yield _has_words(block, names), block.ids, block.lines
    unchanged = hunk.unchanged
    if shown.reference.ids[0] != ORIGIN or not unchanged:
        return
    verb = "leave" if len(unchanged) > 1 else "leaves"
    if len(unchanged) + sum(len(variant.ids) for variant in hunk.variants) < len(names.labels):
        yield f"{names.share(unchanged)} {verb} it", unchanged, ()
    else:
        who = f"{len(unchanged):,}" if len(unchanged) > 1 else "one"
        yield f"the other {who} {verb} it", (), ()


def _has_words(block: ShownBlock, names: Names) -> str:
    """Say how many have a text, and whether it is empty or the origin's."""
    share = names.share(block.ids)
    if block.ids[0] == ORIGIN:
        verb = "leaves" if len(block.ids) == 2 else "leave"
        return f"the origin, {share} {verb} it" if block.ids[1:] else "origin"
    if block.lines:
        return share
    return f"{share} delete{'' if len(block.ids) > 1 else 's'} it"


def is_deleted_by_all(file: ReviewFileEntry, names: Names, folding: Folding) -> bool:
    """Whether all of several candidates delete the file, which leaves nothing to choose."""
    deletions = sum(change.status == "deleted" for change in file.changes)
    return not folding.is_whole and deletions == len(names.labels) > 1


def file_facts(file: ReviewFileEntry, names: Names) -> Iterator[tuple[str, list[str]]]:
    """Yield the changes other than text: a sentence, and the labels of its candidates."""
    ids_by_fact: dict[str, list[str]] = defaultdict(list)
    for change in file.changes:
        for fact in _facts(change):
            ids_by_fact[fact].append(change.id)
    for fact, ids in ids_by_fact.items():
        yield fact, names.each(ids)


def _facts(change: FileChangeEntry) -> Iterator[str]:
    if change.status == "deleted":
        yield "deletes the file"
    elif change.status == "renamed":
        yield f"renames it to {change.path}"
    for fact in change.facts:
        if fact == "binary":
            yield f"binary, SHA-256 {(change.binary or 'of nothing')[:12]}"
        elif fact not in ("created", "deleted") and not fact.startswith("rename from "):
            yield fact
    if change.conflict:
        yield f"conflict: {change.conflict}"


def agreed(shown: HunkLines, count: int) -> str:
    """Say that all make the same change, and how much of one it is."""
    block = shown.others[0]
    who = "both" if count == 2 else f"all {count:,}"
    return f"{who} make the same change (+{block.added:,} -{block.deleted:,})"
