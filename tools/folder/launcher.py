"""Start Excise from a single folder, where sys.executable is Excise and not a Python.

Processes that Excise starts for itself are started as a Python is: `-I -m MODULE` or `-c CODE`.
"""

from __future__ import annotations

import runpy
import sys


def main() -> None:
    """Run what a Python would run, or else the command."""
    arguments = sys.argv[1:]
    while arguments and arguments[0] in ("-I", "-S", "-B"):
        arguments = arguments[1:]
    if arguments[:1] == ["-m"]:
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif arguments[:1] == ["-c"]:
        sys.argv = ["-c", *arguments[2:]]
        exec(arguments[1], {"__name__": "__main__"})  # noqa: S102 - ours
    else:
        from excise_server.cli import main as command

        command()


if __name__ == "__main__":
    main()
