"""``python -m excise_server [--stdio | --tcp PORT]``: the language server alone, for editors."""

from __future__ import annotations

import argparse
import gc
from typing import NoReturn


def main(arguments: list[str] | None = None) -> NoReturn:
    """Serve one session, and end the process with its exit code."""
    parser = argparse.ArgumentParser(prog="python -m excise_server", description=__doc__)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--stdio", action="store_true", help="standard input and output (default)")
    choice.add_argument("--tcp", type=int, metavar="PORT", help="a port of this machine; 0: any")
    # Some clients add their process id, but the end of the stream suffices.
    parser.add_argument("--clientProcessId", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)

    # What is imported now stays until the end: to look for garbage among it is time before the
    # first answer. The session goes on collecting (lsp/transport.py).
    gc.disable()
    from excise_server.lsp.app import serve_stdio, serve_tcp

    if chosen.tcp is not None:
        serve_tcp(chosen.tcp)
    serve_stdio()


if __name__ == "__main__":
    main()
