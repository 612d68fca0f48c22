"""Patches and their groups: what tables, documents and pages show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from excise import Cluster
from excise.patches import Patch, Pool
from excise.patches.evidence import Evidence, EvidenceReader
from excise_server.foundation.forks import Map
from excise_server.queue.reading import Queue

__all__ = ["Grouped"]


@dataclass(frozen=True, slots=True)
class Grouped:
    """Patches and their groups.

    ``patch_of`` gives a patch with its hunks. Of a queue that is watched ``new`` are the ids that
    came with this run (else None), and ``about`` says how much is known. ``map`` is for work by the
    thousand.
    """

    queue: Queue
    pool: Pool
    clusters: tuple[Cluster, ...]
    threshold: float
    linkage: str
    patch_of: Callable[[int], Patch]
    new: frozenset[str] | None = None
    about: tuple[str, ...] = ()
    map: Map = map
    reader: EvidenceReader = field(default_factory=EvidenceReader)

    def evidence(self, index: int) -> Evidence:
        """Return what a patch says about its issue, to tell whether two patches are related."""
        message = self.queue.patches[index].message
        return self.reader.evidence(self.patch_of(index), message.title, message.text)
