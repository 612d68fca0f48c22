"""Measures that run in their own interpreter: the other end of ``remote_child.py``.

CodeBLEU needs a tree-sitter older than ours, LENS an old pandas, and BERTScore torch, so none of
them shares our environment. One process answers line by line, and ends with our pipe.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from excise.evaluation import MeasureUnavailableError

__all__ = ["Remote"]

CHILD = Path(__file__).with_name("remote_child.py")


class Remote:
    """A measure computed by a process. Picklable: each of our processes has its own.

    ``python`` is the interpreter that has the package of ``codebleu``, ``bertscore`` or ``lens``,
    and ``model`` the folder of a local model. After ``patience`` seconds for one output, or for the
    start, the process is ended.
    """

    def __init__(
        self, measure: str, python: str, model: str | None = None, patience: float = 300.0
    ) -> None:
        """Keep what is needed to start."""
        self.measure, self.python, self.model = measure, python, model
        self.patience = patience
        self.version = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def __getstate__(self) -> dict[str, Any]:
        """Leave the process behind."""
        return {**self.__dict__, "_process": None, "_rest": b""}

    def __call__(
        self, origin: str, references: Sequence[str], hypothesis: str, language: str
    ) -> float:
        """Return the value of one output, or raise `MeasureUnavailableError`."""
        self.start()
        texts = {"origin": origin, "references": list(references), "hypothesis": hypothesis}
        return float(self._ask(texts | {"language": language})["value"])

    def start(self) -> None:
        """Start the process, if it does not run, and learn its version."""
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        try:
            self._process = subprocess.Popen(  # noqa: S603 (an interpreter that the user named)
                [self.python, "-I", str(CHILD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise self._failed(f"{self.python} does not start: {error.strerror}") from error
        self.version = str(self._ask({"measure": self.measure, "model": self.model})["ready"])

    def close(self) -> None:
        """End the process."""
        process, self._process, self._rest = self._process, None, b""
        if process is None:
            return
        process.kill()
        process.communicate()

    __del__ = close

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(question).encode("ascii") + b"\n")
            process.stdin.flush()
            answer = json.loads(self._line(process))
        except (BrokenPipeError, EOFError) as error:
            self.close()
            raise self._failed("its process ended") from error
        except (TimeoutError, ValueError, RecursionError) as error:
            self.close()
            raise self._failed(str(error)) from error
        if not isinstance(answer, dict) or "error" in answer:
            why = answer.get("error") if isinstance(answer, dict) else answer
            raise self._failed(str(why))
        return answer

    def _line(self, process: subprocess.Popen[bytes]) -> bytes:
        """Read one line of the answer, for as long as there is patience."""
        assert process.stdout is not None
        until = monotonic() + self.patience
        while b"\n" not in self._rest:
            # Windows cannot wait for a pipe with a limit, so patience is endless there.
            if (
                os.name != "nt"
                and not select.select([process.stdout], [], [], max(0.0, until - monotonic()))[0]
            ):
                raise TimeoutError(f"no answer within {self.patience:g} s")
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                raise EOFError
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _failed(self, why: str) -> MeasureUnavailableError:
        return MeasureUnavailableError(f"{why} (by {self.python})")
