"""``excise matrix``: the similarity of every pair of revisions."""

from __future__ import annotations

import click

from excise_server.cli.inputs import read_set, report_rejected, similarities
from excise_server.cli.options import ScoringOptions, shared_options
from excise_server.cli.streams import wide_console
from excise_server.report.documents import matrix_document
from excise_server.wire.documents import json_text


@click.command("matrix")
@click.argument("origin")
@click.argument("revisions", nargs=-1, metavar="REVISION...")
@shared_options
def command(choices: ScoringOptions, *, origin: str, revisions: tuple[str, ...]) -> int:
    """Print the similarity of every pair of REVISIONs of ORIGIN, from 0 (nothing in common) to 1.

    ORIGIN may be - alone: a JSON document on standard input, {"origin", "language" or "path",
    "revisions": [{"id", "text"}]}.
    """
    revision_set = read_set(origin, revisions, choices)
    matrix = similarities(revision_set, choices)
    if choices.json:
        print(json_text(matrix_document(matrix, revision_set)))
    else:
        from excise_server.report.tables import SignatureText, matrix_table, notes_about

        out = wide_console()
        for part in matrix_table(matrix, out.width):
            out.print(part)
        out.print(*notes_about(matrix, revision_set), SignatureText(matrix.signature), sep="\n")
    return report_rejected(revision_set.rejected)
