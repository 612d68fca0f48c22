"""A progress bar for whatever takes longer than a second, on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["DELAY", "Advance", "progress", "progress_map"]

DELAY = 1.0
"""Seconds that pass before a bar is shown."""

Advance = Callable[[float], None]


@contextmanager
def progress(label: str, total: float | None = None) -> Iterator[Advance]:
    """Show how much is done; what is yielded takes the amount done so far.

    Parameters
    ----------
    label : str
        What is being done; text of ours, never of a file.
    total : float, optional
        The amount to do; None: unknown, and time is shown.
    """
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    # rich draws from its own thread, so a single long computation shows that it is alive too.
    from rich.console import Console, RenderableType
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    begun = time.monotonic()

    class Late(Progress):
        def get_renderables(self) -> Iterable[RenderableType]:
            if time.monotonic() - begun >= DELAY:
                yield from super().get_renderables()

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    options: dict[str, Any] = {"redirect_stdout": False, "redirect_stderr": False}
    with Late(*columns, console=Console(stderr=True), transient=True, **options) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.update(task, completed=done)


def progress_map(label: str) -> Callable[..., Iterable[Any]]:
    """Return a `map` that shows how many of its items are done."""

    def tracked(function: Callable[..., Any], items: Iterable[Any]) -> Iterator[Any]:
        work = list(items)
        with progress(label, len(work)) as advance:
            for done, item in enumerate(work, start=1):
                yield function(item)
                advance(done)

    return tracked
