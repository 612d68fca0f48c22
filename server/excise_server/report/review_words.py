"""The words that all views of a review share: who, how many, what happens to files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from excise_server.foundation.escape import printable, shortened
from excise_server.report.order_words import DISAGREE, order_words
from excise_server.report.review_lines import ORIGIN, Folding, HunkLines, ShownBlock
from excise_server.report.review_shapes import (
    FileChangeEntry,
    ReviewBatchEntry,
    ReviewDocument,
    ReviewFileEntry,
    ReviewGroupEntry,
    ReviewHunkEntry,
)
from excise_server.report.tables import plural

__all__ = [
    "NOTHING",
    "Names",
    "agreed",
    "batch_head",
    "file_facts",
    "file_head",
    "has_words",
    "heading",
    "idle",
    "is_deleted_by_all",
    "leave",
    "lines_changed",
    "order_lines",
    "places",
    "range_words",
    "rest_words",
]

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

    >>> from excise_server.report.review_shapes import ReviewHunkEntry
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


def has_words(block: ShownBlock, names: Names) -> str:
    """Say how many have a text, and whether it is empty or the origin's."""
    share = names.share(block.ids)
    if block.ids[0] == ORIGIN:
        return f"the origin, {share} {leave(len(block.ids) - 1)} it" if block.ids[1:] else "origin"
    if block.lines:
        return share
    return f"{share} delete{'' if len(block.ids) > 1 else 's'} it"


def leave(count: int) -> str:
    """Return the verb for so many that have the origin's lines."""
    return "leave" if count > 1 else "leaves"


def rest_words(hunk: ReviewHunkEntry, names: Names) -> str:
    """Say that all others have the origin's lines, or nothing if some have no text there."""
    count = len(hunk.unchanged)
    if count + sum(len(variant.ids) for variant in hunk.variants) < len(names.labels):
        return ""
    return f"the other {count:,} leave it" if count > 1 else "the other one leaves it"


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
    return f"{who} make the same change ({lines_changed(block)})"


def lines_changed(block: ShownBlock) -> str:
    """Return how many lines a block adds and deletes, as ``git`` counts them."""
    return f"+{block.added:,} -{block.deleted:,}"
