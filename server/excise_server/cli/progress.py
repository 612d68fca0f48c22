"""A progress bar for whatever takes longer than a second, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

DELAY = 1.0
"""Seconds that pass before a bar is shown."""

Advance = Callable[[float], None]


@contextmanager
def progress(label: str, total: float | None = None) -> Iterator[Advance]:
    """Show progress, and yield a function that takes the amount done so far.

    - ``label``: what is being done: our own text, never that of a file.
    - ``total``: the amount to do; None: unknown, and a moving bar is shown.
    """
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    bar = _LateBar(label, total)
    try:
        yield bar.advance
    finally:
        bar.close()


def progress_map(label: str) -> Callable[..., Iterable[Any]]:
    """Return a `map` that shows how many of its items are done."""

    def tracked(function: Callable[..., Any], items: Iterable[Any]) -> Iterator[Any]:
        work = list(items)
        with progress(label, len(work)) as advance:
            for done, item in enumerate(work, start=1):
                yield function(item)
                advance(done)

    return tracked


class _LateBar:
    """A bar that a timer shows: one long call of a kernel must not keep it from being shown.

    Until then nothing is imported and nothing is sent to the terminal.
    """

    def __init__(self, label: str, total: float | None) -> None:
        self._label, self._total = label, total
        self._done = 0.0
        self._bar: Progress | None = None
        self._lock = Lock()
        self._closed = False
        self._timer = Timer(DELAY, self._show)
        self._timer.daemon = True
        self._timer.start()

    def advance(self, done: float) -> None:
        self._done = done
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done)

    def close(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._closed = True
            if self._bar is not None:
                self._bar.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._closed:
                return
            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            bar = Progress(
                *columns,
                console=Console(stderr=True),
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            bar.add_task(self._label, total=self._total, completed=int(self._done))
            bar.start()
            self._bar = bar
