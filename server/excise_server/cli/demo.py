"""``excise demo``: a repository with eight worktrees, to try the commands on."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError

_NEXT = """\
{shop}: a repository with eight worktrees, which agents and a colleague made
for two tasks. The main branch has moved on since the first of them.

  cd {cd}
  excise                                      what did they do?
  excise review claude-no-code mina/no-code   two of them, hunk by hunk
  excise review --run 'python3 -m unittest'   run its tests on each
  excise take codex-3fa9 | git apply          take one of them"""


@click.command("demo")
@click.argument("folder", metavar="[DIR]", default="excise-demo")
def command(*, folder: str) -> int:
    """Make a repository with eight worktrees in DIR, which stays, and say what to type next.

    DIR (default: excise-demo) must be new or empty. Git must be installed; none of its settings
    matters.
    """
    from excise_server.processes.example import build

    path = Path(folder)
    try:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            hint = "name a new folder, or remove it"
            raise SourceError("it is not an empty folder", name=folder, hint=hint)
        path.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise SourceError(f"cannot make {folder}: {reason}") from error
    shop = build(path.resolve())
    shown = os.path.relpath(shop)
    print(_NEXT.format(shop=printable(shown), cd=printable(shlex.quote(shown))))
    return 0
