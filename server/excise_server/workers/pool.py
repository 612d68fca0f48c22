"""The workers of a server: one for the document that is looked at, one for all else.

A machine with one core, or little memory, has one for everything.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from excise_server.foundation.cancellation import StopFlag
from excise_server.workers.quarantine import Quarantine
from excise_server.workers.surveys import arguments_of
from excise_server.workers.worker import FailedInWorkerError, Worker

__all__ = ["Pool", "room_for_two"]

IDLE = 300.0
"""Seconds after which the worker for all else ends, if nobody asked it for anything."""

_MEMORY = 2 << 30
"""Bytes of memory from which a machine has room for two workers."""


def room_for_two() -> bool:
    """Tell whether this machine has two cores, and memory for two workers."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        memory = _MEMORY
    return (os.cpu_count() or 1) >= 2 and memory >= _MEMORY


class Pool:
    """The worker for what is looked at, and the one for all else (which may be the same).

    Parameters
    ----------
    quarantine : Quarantine
        Texts that no parser gets.
    two : bool
        Whether there are two of them.
    """

    def __init__(self, quarantine: Quarantine, *, two: bool) -> None:
        """Start nothing yet."""
        self.first = Worker(quarantine)
        self.second = Worker(quarantine, idle=IDLE) if two else self.first

    def survey(self, kind: str, arguments: bytes, cancel: StopFlag) -> dict[str, Any]:
        """Make a report on a repository, as `Worker.survey` does."""
        return self.second.survey(kind, arguments, cancel)

    def replay(
        self, before: str, current: str, texts: Sequence[str], cancel: StopFlag
    ) -> list[str]:
        """Replay revisions of a text on a newer one, as `excise.replay` does.

        Raises
        ------
        excise.errors.Cancelled, FailedInWorkerError
            As for `Worker.analyse`.
        """
        arguments = arguments_of(before=before, current=current, texts=list(texts))
        replayed = list(self.first.survey("replayed", arguments, cancel)["texts"])
        if len(replayed) != len(texts):
            raise FailedInWorkerError("a worker wrote another number of texts")
        return replayed

    @property
    def work(self) -> tuple[int, int]:
        """How many texts parsers got, and how many pairs of revisions were scored."""
        works = [worker.work for worker in {self.first, self.second}]
        return sum(work.parses for work in works), sum(work.pairs for work in works)

    def forget(self, key: str) -> None:
        """Let go of the document of a key."""
        for worker in {self.first, self.second}:
            worker.forget(key)

    def close(self) -> None:
        """End all workers, whatever they do."""
        self.first.close()
        self.second.close()
