"""What the views of a review share: the lines of a hunk, and the words for who has what. Pure.

Lines that a variant shares with the reference are named, not repeated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import excise
from excise.lexical import tokenise
from excise.text import raw_lines
from excise_server.foundation.changes import differing_lines
from excise_server.foundation.escape import printable, shortened
from excise_server.foundation.inputs import first_few
from excise_server.report.families import MOST_SHOWN, FamilyBlock, family_blocks, listed_facts
from excise_server.report.words import DISAGREE, order_words, plural, relation_lines
from excise_server.wire import documents as d

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

    - ``against``: the id of a candidate, or `ORIGIN`.
    - ``is_whole``: whether to show everything: hunks on which all agree, generated files and long
      texts.
    """

    against: str = ORIGIN
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class ShownLine:
    r"""A line of a block.

    - ``sign``: empty for a line of the reference, ``+`` for one that differs from it, a blank for
      one that does not, ``=`` for several of these, which ``text`` names, and ``\`` for a remark.
    - ``number``: the number of a line of the origin, from 1, or 0 for other lines.
    - ``marks``: ranges (from, to, exclusive) of characters whose tokens the other text lacks, if it
      has other tokens of this line.
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

    - ``reference``: the text that all others are compared with.
    - ``agreed``: words for what all of several candidates do alike, if that is folded, or empty.
    """

    reference: ShownBlock
    others: tuple[ShownBlock, ...]
    agreed: str

    @property
    def is_against_origin(self) -> bool:
        """Whether the reference is the origin's text."""
        return self.reference.ids[0] == ORIGIN


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


class ShownBatch:
    """A batch as every view shows it: its lines, and the words for who has what."""

    def __init__(
        self, document: d.ReviewDocument, batch: d.ReviewBatchEntry, folding: Folding
    ) -> None:
        self.batch, self.folding = batch, folding
        self.labels = {
            c.id: shortened(printable(c.label), _LONGEST_LABEL) for c in batch.candidates
        }
        several, of_all = len(batch.candidates) > 1, len(document.batches)
        which = f"Task {batch.number} of {of_all}: " if of_all > 1 else ""
        task = f" for {batch.task}" if batch.task else ""
        families = f" in {plural(len(batch.families), 'family')}" if several else ""
        self.head = f"{which}{plural(len(batch.candidates), 'candidate')}{task}{families}"
        # The rule of the order of several candidates, and where it is worth nothing.
        self.order = [f"order: {order_words(document.intent)}"] * several
        self.order += [DISAGREE] * batch.disagree

    def each(self, ids: Sequence[str]) -> list[str]:
        """Return the labels of some candidates, in the order of the table, without the origin."""
        chosen = set(ids)
        return [label for identity, label in self.labels.items() if identity in chosen]

    def share(self, ids: Sequence[str]) -> str:
        """Say how many these are: ``2 of 5``."""
        count = sum(identity != ORIGIN for identity in ids)
        return f"{count:,} of {len(self.labels):,}"

    def families(self, most: int | None = MOST_SHOWN) -> list[FamilyBlock]:
        """Return the families of the batch, so many at most, and so many edits of each."""
        return family_blocks(self.batch.families, self.labels, listed_facts(self.batch), most)

    def file_head(self, file: d.ReviewFileEntry) -> str:
        """Say how many do what with a file."""
        share = self.share([change.id for change in file.changes])
        kind = "" if file.kind == "code" else f" ({file.kind})"
        verbs = {"create" if change.status == "created" else "change" for change in file.changes}
        verb = verbs.pop() if len(verbs) == 1 else "change"
        several = "" if len(file.changes) > 1 else "s"
        return f"{kind}: {share} {verb}{several} it"

    def file_facts(self, file: d.ReviewFileEntry) -> list[tuple[str, list[str]]]:
        """Return the changes other than text: a sentence, and the labels of its candidates."""
        ids_by_fact: dict[str, list[str]] = defaultdict(list)
        for change in file.changes:
            for fact in _facts(change):
                ids_by_fact[fact].append(change.id)
        for fact, ids in slot_facts(file.slots):
            ids_by_fact[fact] += ids
        return [(fact, self.each(ids)) for fact, ids in ids_by_fact.items()]

    def is_folded(self, file: d.ReviewFileEntry) -> bool:
        """Whether a file is generated, and its hunks are only counted."""
        return file.kind == "generated" and not self.folding.is_whole

    def deleted_lines(self, file: d.ReviewFileEntry) -> list[ShownLine]:
        """Return the lines of a file that some delete, unless all do: nothing is left to choose."""
        deletions = sum(change.status == "deleted" for change in file.changes)
        if not self.folding.is_whole and deletions == len(self.labels) > 1:
            return []
        return [
            ShownLine("", line.removesuffix("\n"), number)
            for number, line in enumerate(raw_lines(file.text or ""), start=1)
        ]

    def folded(self, lines: Sequence[ShownLine]) -> Iterator[ShownLine | int]:
        """Yield the lines of a text, or the first, the last and a count of those between."""
        hidden = len(lines) - 2 * _EDGE
        if len(lines) <= MAX_LINES or self.folding.is_whole:
            yield from lines
            return
        yield from lines[:_EDGE]
        yield hidden
        yield from lines[-_EDGE:]

    def hunk(self, hunk: d.ReviewHunkEntry) -> HunkLines:
        """Return a hunk against the origin, or the text of the candidate that was chosen."""
        texts = [((ORIGIN, *hunk.unchanged), hunk.origin)]
        texts += [(tuple(variant.ids), variant.text) for variant in hunk.variants]
        against = self.folding.against
        chosen = next((index for index, (ids, _) in enumerate(texts) if against in ids), 0)
        ids, reference = texts.pop(chosen)
        first = hunk.lo + 1 if chosen == 0 else 0
        others = [_block(who, reference, text, first) for who, text in texts]
        lost = {span for _, marks in others for span in marks}
        lines = _lines("", reference, frozenset(lost), first)
        agreed, count = "", len(self.labels)
        is_agreed = count > 1 and len(hunk.variants) == 1 and len(hunk.variants[0].ids) == count
        if is_agreed and not self.folding.is_whole:
            block, who = others[0][0], "both" if count == 2 else f"all {count:,}"
            agreed = f"{who} make the same change (+{block.added:,} -{block.deleted:,})"
        return HunkLines(
            ShownBlock(ids, tuple(lines), 0, 0), tuple(block for block, _ in others), agreed
        )

    def texts_beside(
        self, hunk: d.ReviewHunkEntry, shown: HunkLines
    ) -> Iterator[tuple[str, Sequence[str], Sequence[ShownLine]]]:
        """Yield each text but the reference: words for who has it, their ids, and how it differs.

        The last is of those that have the origin's lines. Words without ids name them all: the
        others.
        """
        for block in shown.others:
            yield self._has_words(block), block.ids, block.lines
        unchanged = hunk.unchanged
        if not shown.is_against_origin or not unchanged:
            return
        verb = "leave" if len(unchanged) > 1 else "leaves"
        if len(unchanged) + sum(len(variant.ids) for variant in hunk.variants) < len(self.labels):
            yield f"{self.share(unchanged)} {verb} it", unchanged, ()
        else:
            who = f"{len(unchanged):,}" if len(unchanged) > 1 else "one"
            yield f"the other {who} {verb} it", (), ()

    def _has_words(self, block: ShownBlock) -> str:
        """Say how many have a text, and whether it is empty or the origin's."""
        share = self.share(block.ids)
        if block.ids[0] == ORIGIN:
            verb = "leaves" if len(block.ids) == 2 else "leave"
            return f"the origin, {share} {verb} it" if block.ids[1:] else "origin"
        if block.lines:
            return share
        return f"{share} delete{'' if len(block.ids) > 1 else 's'} it"


def slot_facts(slots: Sequence[d.SlotEntry]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield which hunks are one decision, and which belong together, each with its candidates.

    >>> unit = d.UnitEntry(hunks=["3", "9+"], names=["x"])
    >>> variant = d.SlotVariantEntry(ids=["ada"], units=[unit])
    >>> list(slot_facts([d.SlotEntry(hunks=["3", "9+"], variants=[variant])]))
    [('2 hunks that belong together: 3, 9+ (x)', ['ada'])]
    """
    for slot in slots:
        if len(slot.variants) > 1:
            ways = f"one decision, made in {len(slot.variants):,} ways"
            everyone = [identity for variant in slot.variants for identity in variant.ids]
            yield f"{ways}: {first_few(slot.hunks, 12)}", everyone
        for variant in slot.variants:
            for unit in variant.units:
                if len(unit.hunks) > 1:
                    names = f" ({first_few(unit.names)})" if unit.names else ""
                    count = f"{len(unit.hunks):,} hunks that belong together"
                    yield f"{count}: {first_few(unit.hunks, 12)}{names}", variant.ids


def idle(document: d.ReviewDocument) -> Iterator[tuple[str, list[str]]]:
    """Yield why candidates have nothing to review, and the ids of those."""
    if document.landed:
        yield "Landed already", document.landed
    if document.unchanged:
        yield "Unchanged", document.unchanged


def between_tasks(document: d.ReviewDocument) -> Iterator[str]:
    """Yield what candidates of different tasks are to each other."""
    labels = {c.id: c.label for batch in document.batches for c in batch.candidates}
    yield from relation_lines(document.relations, labels)


def heading(document: d.ReviewDocument) -> str:
    """Return the title of a review."""
    count = sum(len(batch.candidates) for batch in document.batches)
    return f"{plural(count, 'candidate')} for {document.repository}"


def _facts(change: d.FileChangeEntry) -> Iterator[str]:
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
