"""The facts of a review outside its tables: conflicts, notes, unranked candidates, order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from excise.excision import WHITESPACE_ONLY
from excise_server.candidates.worktrees import Worktrees
from excise_server.foundation.escape import printable, visible
from excise_server.foundation.inputs import first_few
from excise_server.report.candidate_rows import CHECKS_FIRST
from excise_server.report.order_words import DISAGREE, disagree, order_words
from excise_server.report.tables import plural

__all__ = ["rejected_names", "worktree_facts"]

_ATTACHED = "shares no code with its batch, but started from one commit with it, minutes apart"


def worktree_facts(worktrees: Worktrees) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines below the tables: their headings, and a sentence or names."""
    candidates = worktrees.candidates
    every = {c.id: printable(visible(c.label)) for c in candidates.found}
    for candidate in candidates.found:
        for path, reason in candidate.conflicts.items():
            yield "conflict", [f"{every[candidate.id]}: {printable(visible(path))}: {reason}"]
    for note in _notes(worktrees, every):
        yield "note", [note]
    if dirty := [f"{every[c.id]} ({c.uncommitted:,})" for c in candidates.found if c.uncommitted]:
        yield "uncommitted files", dirty
    if written := [every[c.id] for c in candidates.found if c.is_written]:
        yield "still being written", written
    for head, ids in (("landed already", candidates.landed), ("unchanged", candidates.unchanged)):
        if ids:
            yield head, [printable(identity.partition(":")[2] or identity) for identity in ids]
    if unknown := [printable(name) for name in worktrees.verdicts.unknown]:
        yield "verdicts on unknown candidates", [first_few(unknown, 10)]
    if worktrees.other_batches:
        count = sum(len(batch.members) for batch in worktrees.other_batches)
        several = "es" if len(worktrees.other_batches) > 1 else ""
        where = f"{len(worktrees.other_batches):,} other batch{several} (--batch all)"
        yield "not shown", [f"{plural(count, 'candidate')} of {where}"]
    how = f"{candidates.origin[:12]}, {worktrees.linkage} linkage, distance {worktrees.threshold:g}"
    yield "replayed onto", [how]
    yield from _orders(worktrees)


def _orders(worktrees: Worktrees) -> Iterator[tuple[str, list[str]]]:
    """Yield the rule of the order, and where it is worth nothing."""
    ranked = [(n, batch) for n, batch in enumerate(worktrees.batches, start=1) if batch.is_ranked]
    if not ranked:
        return
    first = CHECKS_FIRST if worktrees.verdicts else ""
    yield "order", [f"{first}{order_words(worktrees.intent)}; groups by their best candidate"]
    if worktrees.verdicts:
        return
    if apart := [str(n) for n, batch in ranked if disagree(batch.ranking)]:
        several = "es" if len(apart) > 1 else ""
        head, _, says = DISAGREE.partition(": ")
        of = f"in batch{several} {', '.join(apart)}, " if len(worktrees.batches) > 1 else ""
        yield head, [f"{of}{says}"]


def _notes(worktrees: Worktrees, labels: dict[str, str]) -> Iterator[str]:
    """Yield each note once, after its candidates, unless another line already says it."""
    about: dict[str, list[str]] = defaultdict(list)
    for batch in worktrees.batches:
        for ranked in batch.ranking:
            candidate = worktrees.candidates.found[ranked.index]
            stated = {f"{visible(path)}: {why}" for path, why in candidate.conflicts.items()}
            for note in ranked.notes:
                if note not in stated and note != WHITESPACE_ONLY:
                    about[note].append(labels[candidate.id])
        for identity in batch.batch.attached:
            about[_ATTACHED].append(labels[identity])
    for note, names in about.items():
        yield f"{', '.join(names)}: {printable(note)}"
    yield from map(printable, (*worktrees.candidates.notes, *worktrees.verdicts.notes))


def rejected_names(worktrees: Worktrees) -> list[str]:
    """Return the names of those that were left out: the last part of a path, if it is unique.

    Only ids that contain a path are longer than a name.
    """
    ids = [rejected.id for rejected in worktrees.candidates.rejected]
    ends = [identity.rpartition("/")[2] for identity in ids]
    return [
        end if ":/" in identity and end and ends.count(end) == 1 else identity
        for identity, end in zip(ids, ends, strict=True)
    ]
