"""The edits of pairs of revisions by hunk, computed for all pairs at once by a kernel."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from excise.errors import Cancelled
from excise.excision import Score, excision
from excise.hunks import Hunks
from excise.kernels._counts import Batch
from excise.kernels._walk import CancelFlag
from excise.preparation import Prepared, PreparedOrigin

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.bool_]
    Entries = npt.NDArray[np.void]

UNDEFINED = -1.0
_FIELDS: list[tuple[str, Any]] = [
    ("first", "i4"),
    ("second", "i4"),
    ("hunk", "i8"),
    ("value", "f8"),
    ("keep", "f8"),
    ("add", "f8"),
    ("delete", "f8"),
    ("share", "f8"),
]
"""The fields of an entry, in the order of `excise.kernels._counts`."""


class PairReading(NamedTuple):
    """Some pairs of revisions, and how they are read: as `excise.hunks.Key` has it.

    ``wanted`` is k x k.
    """

    asked: PreparedOrigin
    is_raw: bool
    revisions: Sequence[Prepared]
    wanted: Mask


@dataclass(frozen=True, slots=True)
class PairsInHunks:
    """The numbers of pairs of revisions, hunk by hunk.

    Attributes
    ----------
    order
        The compared revisions, by index.
    entries
        A structured array with an entry for each pair and each hunk that has regions of it, sorted
        by hunk, then by pair. ``first`` and ``second`` are indices in `order`, ``hunk`` the index
        of the hunk. ``value`` is the similarity of the two edits in it, ``keep``, ``add`` and
        ``delete`` its operations (-1 if not defined), ``share`` the part of all n-grams (orders 1
        to 4) of the pair's divergent regions that lie in it. Equal edits in different hunks are
        not counted here.
    bounds
        The first entry of each hunk, and the number of entries.
    """

    order: tuple[int, ...]
    entries: Entries
    bounds: tuple[int, ...]

    def __repr__(self) -> str:
        return f"<PairsInHunks {len(self.entries)} of {len(self.order)} revisions>"


def count_pairs(
    hunks: Hunks,
    order: Sequence[int],
    readings: Iterable[PairReading],
    cancel: CancelFlag | None = None,
) -> PairsInHunks:
    """Count the pairs whose regions the kernel can find: all except those of ``lcs=paper``.

    Raises excise.errors.Cancelled when the flag was raised by `cancel`.
    """
    import numpy as np

    counted = [np.frombuffer(_counted(hunks, reading, cancel), _FIELDS) for reading in readings]
    counted = [entries for entries in counted if len(entries)]
    if len(counted) == 1:  # in the order of the pairs already
        # NumPy copies entries whole if it knows of no fields.
        whole = counted[0].view(np.dtype((np.void, counted[0].itemsize)))
        # NumPy sorts integers of two bytes by counting.
        small = np.uint16 if len(hunks) <= 1 << 16 else np.int64
        by_hunk = whole[np.argsort(counted[0]["hunk"].astype(small), kind="stable")]
        return _bounded(hunks, order, by_hunk.view(counted[0].dtype))
    return _by_hunk(hunks, order, np.concatenate([*counted, np.empty(0, _FIELDS)]))


def _counted(hunks: Hunks, reading: PairReading, cancel: CancelFlag | None) -> bytes:
    import numpy as np

    prepared = reading.asked.raw() if reading.is_raw else reading.asked
    if not reading.wanted.any() or not hunks:
        return b""
    revisions = reading.revisions
    if reading.is_raw:
        rows = {place for pair in np.argwhere(reading.wanted).tolist() for place in pair}
        revisions = [
            prepared.revision(revision.text, cancel) if place in rows else prepared.origin
            for place, revision in enumerate(revisions)
        ]
    anchored = prepared.options.anchored
    units = prepared.origin.units
    batch = Batch(
        units.tokens,
        units.starts,
        [(r.slid if anchored else r.edits, r.units.tokens, r.units.starts) for r in revisions],
        prepared.origin_lines if anchored else None,
    )
    starts = array("i", hunks.first_tokens((reading.asked, reading.is_raw)))
    wanted = reading.wanted.view("u1")
    try:
        return batch.by_hunk(starts, wanted, cancel)
    except Cancelled:
        if cancel is None or not cancel.timed_out:
            raise
    # Out of time: the alignments took the shorter way, and these are their numbers.
    return batch.by_hunk(starts, wanted)


def count_scores(
    hunks: Hunks, order: Sequence[int], scores: Iterable[tuple[tuple[int, int], Score]]
) -> PairsInHunks:
    """Count pairs one by one, in plain view, each with its places in `order`."""
    import numpy as np

    entries = [
        (first, second, *entry) for (first, second), score in scores for entry in _of(hunks, score)
    ]
    return _by_hunk(hunks, order, np.array(entries, _FIELDS))


def _of(hunks: Hunks, score: Score) -> Iterator[tuple[float, ...]]:
    for home, counts, share in hunks.counts(score):
        operations = excision(counts)
        value = float(operations.value)
        if not counts.defined:  # 1 if both only reorder the tokens of the hunk, in the same way
            value = float(
                all(
                    region.a.tokens == region.b.tokens
                    for outline, region in zip(score.outlines, score.regions, strict=True)
                    if hunks.home(score, outline) == home
                )
            )
        parts = (UNDEFINED if part is None else float(part) for part in operations[:3])
        yield (home, value, *parts, share)


def _by_hunk(hunks: Hunks, order: Sequence[int], entries: Entries) -> PairsInHunks:
    import numpy as np

    sorted_entries = entries[np.lexsort((entries["second"], entries["first"], entries["hunk"]))]
    return _bounded(hunks, order, sorted_entries)


def _bounded(hunks: Hunks, order: Sequence[int], entries: Entries) -> PairsInHunks:
    import numpy as np

    entries.flags.writeable = False
    bounds = np.searchsorted(entries["hunk"], np.arange(len(hunks) + 1))
    return PairsInHunks(tuple(order), entries, tuple(bounds.tolist()))
