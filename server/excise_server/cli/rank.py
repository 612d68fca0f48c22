"""``excise rank``: the order of suggestions, with its reasons as numbers."""

from __future__ import annotations

import click

import excise
from excise.confidence import kind_of
from excise.text import normalise
from excise_server.cli.inputs import read_set, report_rejected, similarities
from excise_server.cli.options import Choices, shared_options
from excise_server.cli.streams import console
from excise_server.report.documents import json_text, rank_document

__all__ = ["command"]


@click.command("rank", short_help="Order the revisions of a file by how far they agree.")
@click.argument("origin")
@click.argument("revisions", nargs=-1, metavar="REVISION...")
@shared_options
def command(choices: Choices, *, origin: str, revisions: tuple[str, ...]) -> int:
    """Rank the REVISIONs of ORIGIN without knowing the right one.

    \b
      score = 3 * agreement - ln(4 + tokens) - (3 if it is broken)

    the larger the better: agreement is the mean similarity to the other revisions, and tokens are
    those deleted and inserted. If every edit has over 5 tokens and some agreement reaches .2, the
    size counts a hundredth of that and breaks ties. The output says which of the two decided.

    A revision is broken if it cannot work although the origin could: its syntax is invalid, it uses
    an undefined name, or a function or class is gone. A revision that changes no code, or only adds
    names that are never read, ranks below those that do more. Then come those that change only
    white space, and last those that change nothing. The order is advice: an edit is not right just
    because most revisions make it.

    ORIGIN may be - alone, as for matrix.
    """
    revision_set = read_set(origin, revisions, choices)
    matrix = similarities(revision_set, choices)
    ranking = excise.rank(matrix)
    confidence = excise.confidence(ranking, kind_of(normalise(revision_set.origin)))
    if choices.json:
        print(json_text(rank_document(matrix, ranking, confidence, revision_set)))
    else:
        from excise_server.report.tables import rank_table, signature_text

        console().print(
            rank_table(ranking, confidence, revision_set),
            signature_text(matrix.signature),
            sep="\n",
        )
    return report_rejected(revision_set)
