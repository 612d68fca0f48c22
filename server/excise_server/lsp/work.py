"""The work on a snapshot: a worker analyses it while a thread waits."""

from __future__ import annotations

import gc
from functools import cached_property

from excise_server.editor.analysis import Analysis
from excise_server.editor.decisions import with_kept
from excise_server.editor.findings import MAX_HUNKS, find
from excise_server.editor.snapshot import Snapshot
from excise_server.foundation.cancellation import StopFlag
from excise_server.lsp.publishing import Outcome
from excise_server.workers.pool import Pool, room_for_two
from excise_server.workers.quarantine import Quarantine, cache_folder

__all__ = ["Work"]


class Work:
    """The crew of workers, and their tasks.

    Attributes
    ----------
    most
        The largest number of marks in one document.
    """

    def __init__(self) -> None:
        """Start no worker yet."""
        self.most = MAX_HUNKS

    @cached_property
    def crew(self) -> Pool:
        """The workers, which start when there is something to do."""
        return Pool(Quarantine(cache_folder()), two=self.two)

    @cached_property
    def two(self) -> bool:
        """Whether there is a second worker, for documents out of view."""
        return room_for_two()

    def prepare(self) -> None:
        """Start the worker, which loads NumPy and the grammars."""
        self.crew.first.warm()
        # The loaded modules stay: a full collection over them would delay a keystroke.
        gc.collect()
        gc.freeze()

    def first(self, snapshot: Snapshot, cancel: StopFlag) -> Outcome:
        """Analyse a document in view."""
        return self._outcome(self.crew.first.analyse(snapshot, cancel))

    def beside(self, snapshot: Snapshot, cancel: StopFlag) -> Outcome:
        """Analyse another document."""
        return self._outcome(self.crew.second.analyse(snapshot, cancel))

    def _outcome(self, analysis: Analysis) -> Outcome:
        analysis = with_kept(analysis)
        return Outcome(analysis, find(analysis, self.most))
