"""Sandboxes for several threads."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue

from excise_server.evaluation.sandbox import Sandbox, Verdict

__all__ = ["Sandboxes"]


class Sandboxes:
    """Sandboxes for several threads, made when they are needed."""

    def __init__(self) -> None:
        """Start without any sandbox."""
        self._idle: SimpleQueue[Sandbox] = SimpleQueue()
        self._all: list[Sandbox] = []

    def run(self, parts: Sequence[str], *, seconds: float = 10.0) -> Verdict:
        """Run a program like `Sandbox.run`, in a sandbox that is not in use."""
        sandbox = self._one()
        verdict = sandbox.run(parts, seconds=seconds)
        self._idle.put(sandbox)
        return verdict

    def _one(self) -> Sandbox:
        with suppress(Empty):
            while (sandbox := self._idle.get_nowait()).closed:
                pass
            return sandbox
        sandbox = Sandbox()
        self._all.append(sandbox)
        return sandbox

    def close(self) -> None:
        """End all of them."""
        for sandbox in self._all:
            sandbox.close()
