"""The command on a terminal of its own."""

from __future__ import annotations

import errno
import os
import pty
import subprocess

from tests.server.command import command_line, plain_environment


def on_terminal(*arguments: str, env=None, stdin: str | None = None) -> str:
    """Run the command with a terminal of 80 columns as output and error; return all it got."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command_line(*arguments),
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=theirs,
        env=plain_environment(**{"TERM": "xterm-256color", "COLUMNS": "80"} | (env or {})),
    )
    os.close(theirs)
    assert process.stdin is not None
    if stdin is not None:
        process.stdin.write(stdin.encode())
    process.stdin.close()
    chunks = []
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError as error:  # how Linux says that the other side is closed
            if error.errno != errno.EIO:
                raise
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(ours)
    process.wait(timeout=60)
    return b"".join(chunks).decode()
