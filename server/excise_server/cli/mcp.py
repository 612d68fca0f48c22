"""``excise mcp``: the candidates of a repository for programs, by the Model Context Protocol."""

from __future__ import annotations

from importlib.util import find_spec

import click

__all__ = ["command"]


@click.command("mcp", short_help="Serve candidates to agents (Model Context Protocol).")
@click.argument(
    "folders", nargs=-1, metavar="[FOLDER...]", type=click.Path(exists=True, file_okay=False)
)
def command(*, folders: tuple[str, ...]) -> int:
    """Serve the candidates of the repositories in FOLDERs to one client, over standard input.

    Without FOLDERs, of the current folder. A client gets to read what lies in them, and in its own
    roots if it announces any; nothing is written, and nothing of a repository is run.

    The tools and how to add the server to a client are in docs/agents.md. It needs the extra
    mcp of the package.
    """
    if find_spec("mcp") is None:
        raise click.ClickException(
            "excise mcp needs the package mcp, which the extra mcp of excise brings "
            "(in a clone: pip install '.[mcp]')"
        )
    from excise_server.mcp.app import serve

    return serve(folders or (".",))
