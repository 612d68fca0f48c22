"""``excise rank``: the order of suggestions, with the facts behind it."""

from __future__ import annotations

import click

import excise
from excise_server.cli.candidate_options import intent_option
from excise_server.cli.inputs import read_set, report_rejected, similarities
from excise_server.cli.options import ScoringOptions, shared_options
from excise_server.cli.streams import console
from excise_server.report.documents import rank_document
from excise_server.wire.documents import json_text


@click.command("rank")
@click.argument("origin")
@click.argument("revisions", nargs=-1, metavar="REVISION...")
@intent_option
@shared_options
def command(
    choices: ScoringOptions, *, origin: str, revisions: tuple[str, ...], intent: str
) -> int:
    """Rank the REVISIONs of ORIGIN without knowing the right one.

    First comes the edit that most revisions make: those with the same code, comments aside. Of
    edits that are made equally often, the first is what is nearest to all others, and of these the
    one with fewer tokens. With --intent fix, for a bug fix, only the number of tokens counts here.
    The output says what decided.

    A revision is broken if it cannot work although the origin could: its syntax is invalid, or it
    uses an undefined name (or, with --intent fix, a function or class is gone). Broken ones come
    after all whole ones, then those that change no code or only add names that are never read, and
    last those that change nothing. The order is advice: an edit is not right just because most
    revisions make it.

    ORIGIN may be - alone, as for matrix.
    """
    revision_set = read_set(origin, revisions, choices)
    matrix = similarities(revision_set, choices)
    ranking = excise.rank(matrix, intent=intent)
    if choices.json:
        print(json_text(rank_document(matrix, ranking, intent, revision_set)))
    else:
        from excise_server.report.tables import SignatureText, rank_table

        console().print(
            rank_table(ranking, intent, revision_set), SignatureText(matrix.signature), sep="\n"
        )
    return report_rejected(revision_set.rejected)
