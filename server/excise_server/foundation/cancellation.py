"""Cancellation of work whose result is no longer needed."""

from __future__ import annotations

import threading
from collections.abc import Callable

import excise

__all__ = ["StopFlag"]


class StopFlag(excise.CancelFlag):
    """A flag that also calls a function once when it is raised, for work in other processes."""

    def __init__(self) -> None:
        """Start without a function to call."""
        self._lock = threading.Lock()
        self._listener: Callable[[], None] | None = None

    def cancel(self) -> None:
        """Raise the flag, and tell."""
        with self._lock:
            super().cancel()
            listener, self._listener = self._listener, None
        if listener is not None:
            listener()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call this when the flag is raised, at once if it has been."""
        with self._lock:
            raised = self.cancelled
            if not raised:
                self._listener = listener
        if raised:
            listener()

    def release(self) -> None:
        """Stop calling the function."""
        with self._lock:
            self._listener = None
