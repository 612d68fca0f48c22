"""``python -I -m excise_server.processes.checked``: the user's command, run once in a folder.

A process of its own, because `runs` ends whatever the command left, by its ancestry: in a server
that would be the work of others. It ends with its starter, and the run with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

import msgspec

from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError
from excise_server.processes.lifetime import StopFlag, start_tied
from excise_server.processes.parsers import cache_folder
from excise_server.processes.runs import SECONDS, Said, run_in_folders
from excise_server.review.candidate import Candidate

_TAIL, _TAIL_LINES = 4_000, 20
"""Bytes and lines at the end of a run's output that are kept."""


class Checked(msgspec.Struct):
    """Why the command did not pass (empty: it passed), and then the last lines of its output."""

    reason: str
    output: list[str]
    interrupted: bool = False


def run_once(
    folder: str, command: str, seconds: float | None = None, say: Said = lambda _: None
) -> Checked:
    """Run a command in a folder.

    Raises SourceError if it cannot be run here, or its output cannot be kept.
    """
    if (cache := cache_folder()) is None:
        raise SourceError("no cache folder for the output", hint="set HOME or XDG_CACHE_HOME")
    mix = Candidate("mix", folder, "", "", label="the mix")
    seconds = seconds or SECONDS
    runs = run_in_folders(command, [[mix]], cache, with_base=False, seconds=seconds, say=say)
    if runs.interrupted:
        return Checked("interrupted", [], interrupted=True)
    [verdict] = runs.verdicts
    output = list[str]()
    for log in runs.folder.glob("*.log") if not verdict.passed else ():
        with suppress(OSError), open(log, "rb") as file:
            file.seek(max(0, os.path.getsize(log) - _TAIL))
            lines = file.read().decode("utf-8", "replace").rstrip().split("\n")
            output += [printable(line) for line in lines[-_TAIL_LINES:]]
    return Checked("" if verdict.passed else verdict.reason, output)


def check(folder: str, command: str, cancel: StopFlag) -> Checked:
    """Run a command in a folder, in a process of its own; wait for it in this thread.

    Raises SourceError if it cannot be run here.
    """
    try:
        process = start_tied(
            [sys.executable, "-I", "-m", "excise_server.processes.checked"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise SourceError(f"the check cannot be started: {error}") from error
    cancel.listen(process.kill)
    try:
        out, _ = process.communicate(msgspec.json.encode((folder, command)))
    finally:
        cancel.release()
    with suppress(msgspec.MsgspecError):
        answer = msgspec.json.decode(out, type=Checked | str)
        if isinstance(answer, str):
            raise SourceError(answer)
        return answer
    cancel.check()
    raise SourceError(f"the check ended without a result: exit status {process.returncode}")


def main() -> None:
    """Run what standard input describes, and print the outcome, or why there is none."""
    folder, command = msgspec.json.decode(sys.stdin.buffer.read(), type=tuple[str, str])
    answer: Checked | str
    try:
        answer = run_once(folder, command)
    except SourceError as error:
        answer = str(error)
    sys.stdout.buffer.write(msgspec.json.encode(answer))


if __name__ == "__main__":
    main()
