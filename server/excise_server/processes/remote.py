"""Measures that run in their own interpreter: the other end of ``remote_child.py``.

CodeBLEU needs a tree-sitter older than ours, LENS an old pandas, and BERTScore torch, so none of
them shares our environment. One process answers line by line, and ends with our pipe.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Empty
from typing import Any

from excise.evaluation import MeasureUnavailableError
from excise_server.processes.worker import MissingError, Process

CHILD = Path(__file__).with_name("remote_child.py")


class Remote:
    """A measure computed by a process; each of our forks has its own.

    ``python`` is the interpreter that has the package of ``codebleu``, ``bertscore`` or ``lens``,
    and ``model`` the folder of a local model. After ``patience`` seconds for one output, or for the
    start, the process is ended.
    """

    def __init__(
        self, measure: str, python: str, model: str | None = None, patience: float = 300.0
    ) -> None:
        self.measure, self.python, self.model = measure, python, model
        self.patience = patience
        self.version = ""
        self._process: Process | None = None
        self._starter = 0

    def __call__(
        self, origin: str, references: Sequence[str], hypothesis: str, language: str
    ) -> float:
        """Return the value of one output, or raise `MeasureUnavailableError`."""
        self.start()
        texts = {"origin": origin, "references": list(references), "hypothesis": hypothesis}
        return float(self._ask(texts | {"language": language})["value"])

    def start(self) -> None:
        """Start the process, if it does not run, and learn its version."""
        if self._starter != os.getpid():
            self._process = None  # that of our parent is not ours to ask or to end
        if self._process is not None and self._process.ended() is None:
            return
        self.close()
        command = [self.python, "-I", str(CHILD)]
        try:
            self._process = Process(command, _lines, stderr=subprocess.DEVNULL)
        except MissingError as error:
            why = getattr(error.__cause__, "strerror", error)
            raise self._failed(f"{self.python} does not start: {why}") from error
        self._starter = os.getpid()
        self.version = str(self._ask({"measure": self.measure, "model": self.model})["ready"])

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None and self._starter == os.getpid():
            process.close()

    __del__ = close

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process is not None
        try:
            self._process.send(json.dumps(question).encode("ascii") + b"\n")
            if (line := self._process.inbox.get(timeout=self.patience)) is None:
                raise BrokenPipeError
            answer = json.loads(line)
        except (BrokenPipeError, Empty, ValueError, RecursionError) as error:
            self.close()
            ended = isinstance(error, BrokenPipeError)
            why = "its process ended" if ended else f"no answer within {self.patience:g} s"
            raise self._failed(why if ended or isinstance(error, Empty) else str(error)) from error
        if isinstance(answer, dict) and "error" not in answer:
            return answer
        raise self._failed(str(answer["error"] if isinstance(answer, dict) else answer))

    def _failed(self, why: str) -> MeasureUnavailableError:
        return MeasureUnavailableError(f"{why} (by {self.python})")


def _lines(descriptor: int) -> Iterator[bytes]:
    """Yield the whole lines of a pipe."""
    with open(descriptor, "rb", closefd=False) as pipe:
        yield from (line for line in pipe if line.endswith(b"\n"))
