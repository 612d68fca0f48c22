"""Standard output and error of the command: no byte of an input reaches a terminal raw."""

from __future__ import annotations

import codecs
import io
import sys
from typing import IO, TYPE_CHECKING, TextIO, cast

from excise_server.foundation.escape import printable

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "say", "set_up_streams", "wide_console"]

_PLAIN = {
    "…": "...",
    "→": ">",
    "·": "-",
    "━": "=",
    "╌": ".",
    "─": "-",
    "│": "|",
    "–": "-",
    "●": "*",
}


def set_up_streams() -> None:
    """Make printing total: characters that a narrow encoding lacks are replaced by plain ones."""
    codecs.register_error("excise-plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="excise-plain")


def say(message: str) -> None:
    """Print one line for people on standard error."""
    print(f"excise: {printable(message)}", file=sys.stderr)


def console() -> Console:
    """Return the console for people: colours and wrapped lines on a terminal only."""
    from rich.console import Console

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would end the process with 1; our exit code is 141

    terminal = sys.stdout.isatty()
    file = sys.stdout if terminal else cast(IO[str], _Trimmed(sys.stdout))
    return Piped(file=file, markup=False, highlight=False, emoji=False, soft_wrap=not terminal)


def wide_console() -> Console:
    """Return the console for people, whose lines are as long as they are off a terminal."""
    from excise_server.report.tables import UNWRAPPED

    out = console()
    if not out.is_terminal:
        out.width = UNWRAPPED
    return out


class _Trimmed:
    """A file that gets lines without the blanks that fill a terminal's row."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.encoding = file.encoding
        self.isatty, self.flush, self.fileno = file.isatty, file.flush, file.fileno

    def write(self, text: str) -> int:
        return self._file.write("\n".join(line.rstrip(" ") for line in text.split("\n")))


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    plain = "".join(_PLAIN.get(char) or ascii(char)[1:-1] for char in text)
    return plain, error.end
