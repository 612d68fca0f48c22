"""A terminal: what a command, or a line of shell, writes to one."""

import errno
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

from tests.server.command import command_line, plain_environment

ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[()][AB0])")


def shown(line: str, folder: Path) -> str:
    """Run a line of shell as typed in a terminal of 80 columns; return what it shows, no colours.

    Errors come last, and progress is not shown: standard error is a pipe.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COLUMNS", "EXCISE_"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = kept | {"PATH": path, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    written, said = _run(["bash", "-c", line], environment, folder, stderr=subprocess.PIPE)
    text = ESCAPES.sub("", f"{written}{said}".replace("\r\n", "\n"))
    return "\n".join(row.rstrip() for row in text.split("\n"))


def on_terminal(*arguments: str, env=None, stdin: str | None = None) -> str:
    """Run our command with a terminal as output and error; return all that it writes there."""
    environment = plain_environment(**{"TERM": "xterm-256color", "COLUMNS": "80"} | (env or {}))
    return _run(command_line(*arguments), environment, given=stdin or "")[0]


def _run(
    command: list[str],
    environment: dict[str, str],
    folder: Path | None = None,
    given: str = "",
    stderr: int | None = None,
) -> tuple[str, str]:
    """Run a command on a terminal of its own; return what is written there, and to a pipe."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=theirs if stderr is None else stderr,
    )
    os.close(theirs)
    assert process.stdin is not None
    process.stdin.write(given.encode())
    process.stdin.close()
    process.stdin = None
    chunks = []
    while chunk := _read(ours):
        chunks.append(chunk)
    os.close(ours)
    _, said = process.communicate(timeout=60)
    return b"".join(chunks).decode(), (said or b"").decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError as error:  # how Linux says that the other side is closed
        if error.errno != errno.EIO:
            raise
        return b""
