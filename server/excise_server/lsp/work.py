"""What is done with a snapshot: a worker analyses it, a thread waits for that."""

from __future__ import annotations

import gc
from functools import cached_property

from excise_server.editor.analysis import Analysis
from excise_server.editor.decisions import with_kept
from excise_server.editor.findings import MAX_HUNKS, find
from excise_server.editor.snapshot import Snapshot
from excise_server.foundation.cancellation import StopFlag
from excise_server.lsp.publishing import Outcome
from excise_server.workers.crew import Crew, room_for_two
from excise_server.workers.quarantine import Quarantine, cache_folder

__all__ = ["Work"]


class Work:
    """The crew of workers, and what it is asked for.

    Attributes
    ----------
    most
        Most marks of one document.
    """

    def __init__(self) -> None:
        """Start no worker yet."""
        self.most = MAX_HUNKS

    @cached_property
    def crew(self) -> Crew:
        """The workers; none is started before there is something to do."""
        return Crew(Quarantine(cache_folder()), two=self.two)

    @cached_property
    def two(self) -> bool:
        """Whether there is a worker for what nobody looks at."""
        return room_for_two()

    def prepare(self) -> None:
        """Start the worker; it loads numpy and the grammars."""
        self.crew.warm()
        # What is loaded now stays: a full collection over it would hold up a keystroke.
        gc.collect()
        gc.freeze()

    def first(self, snapshot: Snapshot, cancel: StopFlag) -> Outcome:
        """Analyse what is looked at."""
        return self._outcome(self.crew.analyse(snapshot, cancel))

    def beside(self, snapshot: Snapshot, cancel: StopFlag) -> Outcome:
        """Analyse another document."""
        return self._outcome(self.crew.analyse_beside(snapshot, cancel))

    def _outcome(self, analysis: Analysis) -> Outcome:
        analysis = with_kept(analysis)
        return Outcome(analysis, find(analysis, self.most))
