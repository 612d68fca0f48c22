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

    A timer shows the bar: one long call of a kernel must not keep it from being shown. Until then
    nothing is imported and nothing is sent to the terminal.

    - ``label``: what is being done: our own text, never that of a file.
    - ``total``: the amount to do; None: unknown, and a moving bar is shown.
    """
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    lock, is_closed, amount = Lock(), False, 0.0
    bar: Progress | None = None

    def show() -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        nonlocal bar
        with lock:
            if is_closed:
                return
            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            shown = Progress(
                *columns,
                console=Console(stderr=True),
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            shown.add_task(label, total=total, completed=int(amount))
            shown.start()
            bar = shown

    def advance(done: float) -> None:
        nonlocal amount
        amount = done
        if bar is not None:
            bar.update(bar.task_ids[0], completed=done)

    timer = Timer(DELAY, show)
    timer.daemon = True
    timer.start()
    try:
        yield advance
    finally:
        timer.cancel()
        with lock:
            is_closed = True
            if bar is not None:
                bar.stop()


def progress_map(label: str) -> Callable[..., Iterable[Any]]:
    """Return a `map` that shows how many of its items are done."""

    def tracked(function: Callable[..., Any], items: Iterable[Any]) -> Iterator[Any]:
        work = list(items)
        with progress(label, len(work)) as advance:
            for done, item in enumerate(work, start=1):
                yield function(item)
                advance(done)

    return tracked
