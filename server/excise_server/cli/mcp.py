"""``excise mcp``: the candidates of a repository for programs, by the Model Context Protocol."""

from __future__ import annotations

from importlib.util import find_spec

import click


@click.command("mcp")
@click.argument(
    "folders", nargs=-1, metavar="[FOLDER...]", type=click.Path(exists=True, file_okay=False)
)
def command(*, folders: tuple[str, ...]) -> int:
    """Serve the candidates of the repositories in FOLDERs to one client, over standard input.

    The default is the current folder. A client can read the files in these folders, and if it
    announces roots, only those that are also in its roots. Nothing is written, and nothing from a
    repository is run.

    docs/agents.md describes the tools and how to add the server to a client. The command needs the
    extra mcp of the package.
    """
    if find_spec("mcp") is None:
        from excise.errors import extra_hint

        raise click.ClickException(f"the package mcp is missing; {extra_hint('mcp')}")
    from excise_server.mcp.app import serve

    return serve(folders or (".",))
