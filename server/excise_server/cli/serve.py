"""``excise serve``: the language server."""

from __future__ import annotations

import click


@click.command("serve")
@click.option("--stdio", is_flag=True, help="Over standard input and output (default).")
@click.option(
    "--tcp", type=click.IntRange(0, 65535), metavar="PORT", help="On a port; 0: a free one."
)
def command(*, stdio: bool, tcp: int | None) -> int:
    """Run the language server for one editor, over --stdio or --tcp PORT of this machine.

    With --tcp it prints a token. The editor must send it, as "token" in the initializationOptions
    of initialize: any program on this machine, and any web page in a browser, can reach a port.
    """
    if stdio and tcp is not None:
        raise click.UsageError("Choose one of --stdio and --tcp.")
    from excise_server.lsp.app import serve_stdio, serve_tcp

    return serve_stdio() if tcp is None else serve_tcp(tcp)
