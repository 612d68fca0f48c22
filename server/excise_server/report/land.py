"""The page and the JSON document of ``excise land``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from excise_server.foundation.escape import spelled, visible
from excise_server.foundation.inputs import first_few
from excise_server.report.blocks import Cell, PageBlock, words
from excise_server.report.take import take_document
from excise_server.report.words import plural
from excise_server.wire import documents as d

if TYPE_CHECKING:
    from excise_server.foundation.inputs import Rejected
    from excise_server.review.candidate import Candidate
    from excise_server.review.landing import Landing, Obstacle

MOST = 8
"""Most candidates of a kind, and notes, that the page shows."""

_MOST_PATHS = 3
_WIDEST = 24
"""Columns of the labels."""


def land_document(
    top: str,
    landing: Landing,
    rejected: Iterable[Rejected] = (),
    *,
    undo: str | None = None,
    branch: str | None = None,
    commits: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> d.LandDocument:
    """Return what lands, what does not, and the union.

    - ``undo``: the command that undoes the change, or None if nothing was written.
    - ``branch``, ``commits``: what was made of it.
    - ``notes``: more of them.
    """
    taken = landing.taken
    return d.LandDocument.of(
        take_document(top, taken, undo),
        landed=[_entry(candidate) for candidate in landing.order],
        left_out=[_entry(each.candidate, each.obstacles) for each in landing.left_out],
        undecided=[list(map(_entry, members)) for members in landing.undecided],
        branch=branch,
        commits=[*commits],
        rejected=[d.RejectedEntry.of(each) for each in rejected],
        notes=[*map(visible, (*landing.notes, *taken.notes, *notes))],
    )


def _entry(candidate: Candidate, obstacles: Iterable[Obstacle] = ()) -> d.LandingEntry:
    paths = sorted(candidate.old.keys() | candidate.new.keys())
    return d.LandingEntry(
        id=candidate.id,
        label=visible(candidate.label),
        paths=[*map(spelled, paths)],
        obstacles=[
            d.ObstacleEntry(
                word=each.word,
                message=visible(each.message),
                other=each.other or None,
                path=spelled(each.path) if each.path else None,
                line=each.line or None,
            )
            for each in obstacles
        ],
    )


def land_blocks(document: d.LandDocument, most: int = MOST) -> Iterator[PageBlock]:
    """Yield the page.

    - ``most``: most candidates of a kind that are shown.
    """
    landed, left_out = document.landed, document.left_out
    count = len(landed) + len(left_out) + sum(map(len, document.undecided))
    onto = document.origin[:8]
    yield words(_heading(len(landed), count, onto), "head", kind="title")
    width = min(_WIDEST, max((len(each.label) for each in (*landed, *left_out)), default=0))

    def row(label: str, text: str) -> PageBlock:
        return PageBlock("text", (Cell(label, "name"), Cell(text)), 1, gutter=width)

    for each in landed[:most]:
        yield row(each.label, first_few(each.paths, _MOST_PATHS))
    yield from _more(landed, most, "candidate")
    if left_out:
        yield words(f"{len(left_out)} left out")
    for each in left_out[:most]:
        messages = [obstacle.message for obstacle in each.obstacles]
        yield row(each.label, messages[0])
        yield from (row("", message) for message in messages[1:2])
        if (more := len(messages) - 2) > 0:
            yield row("", f"and {plural(more, 'more reason')} (-v)")
    yield from _more(left_out, most, "candidate")
    if document.undecided:
        tasks = plural(len(document.undecided), "task")
        yield words(f"{tasks} undecided: name all that should land, or --verdicts")
    for members in document.undecided[:most]:
        yield words(f"one of {first_few([each.label for each in members], 6)}", depth=1)
    yield from _more(document.undecided, most, "task")
    yield from (words(f"note: {note}") for note in document.notes[:most])
    yield from _more(document.notes, most, "note", 0)
    if not landed:
        return
    if document.branch is not None:
        yield words(
            f"branch {document.branch}: {plural(len(document.commits), 'commit')} on {onto}"
        )
    elif document.undo is not None:
        yield words(f"written: {plural(len(document.files), 'file')}; to undo: {document.undo}")
    else:
        files = plural(len(document.files), "file")
        yield words(f"{files} changed: excise land | git apply, or --write, or --branch NAME")


def _heading(landed: int, count: int, onto: str) -> str:
    if not count:
        return f"No candidate changes {onto}"
    if landed in (0, 1):
        some = f"{landed or 'None'} of {count:,} candidates"
        which = "The only candidate" if count == 1 else some
        verb = "does not land" if count == 1 and not landed else "lands"
        return f"{which} {verb} onto {onto}"
    which = "All" if landed == count else f"{landed:,} of"
    return f"{which} {count:,} candidates land together onto {onto}, in this order"


def _more(every: Sequence[object], most: int, what: str, depth: int = 1) -> Iterator[PageBlock]:
    if len(every) > most:
        yield words(f"and {plural(len(every) - most, f'more {what}')} (-v)", depth=depth)
