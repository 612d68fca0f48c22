"""A terminal: what a command line shows on one, without colours."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[()][AB0])")


def shown(line: str, folder: Path, columns: int = 80, **environment: str) -> str:
    """Run a line of shell as typed in a terminal of this width; return what it shows.

    Errors come last, and progress is not shown: standard error is a pipe.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("COLUMNS", "EXCISE_"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    process = subprocess.Popen(
        ["bash", "-c", line],
        cwd=folder,
        env=kept | {"PATH": path, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"} | environment,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not part:
            break
        parts.append(part)
    os.close(ours)
    _, said = process.communicate()
    text = b"".join((*parts, said)).decode().replace("\r\n", "\n")
    return "\n".join(row.rstrip() for row in ESCAPES.sub("", text).split("\n"))
