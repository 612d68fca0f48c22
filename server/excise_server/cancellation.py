"""Stopping work that nobody waits for any more."""

from __future__ import annotations

import excise

__all__ = ["raise_if_cancelled"]


def raise_if_cancelled(cancel: excise.CancelFlag | None) -> None:
    """Raise `excise.Cancelled` if somebody raised the flag; its deadline is not for the shell.

    Past the deadline the library takes a shorter way, and what follows is done all the same.
    """
    if cancel is not None and cancel.cancelled and not cancel.timed_out:
        raise excise.Cancelled("nobody waits for this any more")
