"""What the command writes: no byte of an input reaches a terminal raw, no file is half written."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import IO, TYPE_CHECKING, TextIO, cast

from excise_server.foundation.escape import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

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


def wide_console(width: int | None = None) -> Console:
    """Return the console for people, whose lines are so long off a terminal (None: as they are)."""
    from excise_server.report.tables import UNWRAPPED

    out = console()
    if not out.is_terminal:
        out.width = width or UNWRAPPED
    return out


def show(
    page: str | Callable[[Console], Iterable[RenderableType]],
    output: str | None = None,
    *,
    width: int | None = None,
) -> None:
    """Print a page, or lines made for a console; or write them to the file ``output``.

    - ``width``: the longest line off a terminal; None: lines are as long as they are.

    Raises SourceError if the file cannot be written.
    """
    if output is not None:
        from excise_server.report.tables import plain_text

        text = page if isinstance(page, str) else plain_text(page)
        write_text(output, f"{text}\n")
    elif isinstance(page, str):
        print(page)
    else:
        out = wide_console(width)
        for line in page(out):
            out.print(line)


def write_text(path: str, text: str) -> None:
    """Write a file in one step, so the old content stays until the new text is complete.

    Raises SourceError if it cannot be written, or something that is not a regular file has that
    name.
    """
    from excise_server.foundation.inputs import SourceError

    try:
        if os.path.lexists(path) and not os.path.isfile(path):
            raise SourceError(f"cannot write {path}: it is not a regular file")
        _write(os.path.realpath(path), text)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SourceError(f"cannot write {path}: {reason}") from error


def _write(path: str, text: str) -> None:
    import tempfile  # which imports much more than it

    descriptor, part = tempfile.mkstemp(prefix=".excise-", dir=os.path.dirname(path))
    try:
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(part, 0o666 & ~mask)
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(part)
        raise


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
