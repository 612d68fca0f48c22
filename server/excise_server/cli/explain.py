"""``excise explain``: where two revisions diverge, side by side."""

from __future__ import annotations

import click

import excise
from excise.text import Revision, normalise
from excise_server.cli.inputs import STDIN, read_set
from excise_server.cli.options import ScoringOptions, shared_options
from excise_server.cli.progress import progress
from excise_server.cli.streams import console
from excise_server.foundation.inputs import RevisionSet, SourceError
from excise_server.report.documents import explain_document
from excise_server.wire.documents import json_text


@click.command("explain")
@click.argument("origin")
@click.argument("revisions", nargs=-1, metavar="A B")
@shared_options
def command(choices: ScoringOptions, *, origin: str, revisions: tuple[str, ...]) -> int:
    """Show the divergent regions of the revisions A and B of ORIGIN side by side.

    Each region shows what both or one of them kept, added and deleted, how much of it is alike,
    and its share of all divergent 1-4-grams. Regions are sorted by place, and text that both add or
    delete at different places comes last. ORIGIN may be - alone, as for matrix: the document then
    has exactly two revisions.
    """
    if origin != STDIN and len(revisions) != 2:
        raise click.UsageError(f"Give two revisions after the origin, not {len(revisions)}.")
    revision_set = read_set(origin, revisions, choices)
    a, b = _two(revision_set)
    with progress("Scoring"):
        score = excise.similarity(
            origin=revision_set.origin,
            a=a.text,
            b=b.text,
            language=choices.language or revision_set.language,
            path=revision_set.path,
            **choices.scoring,
        )
        document = json_text(explain_document(score, revision_set)) if choices.json else None
    if document is not None:
        print(document)
        return 0
    from excise_server.report.regions import ColumnTitles, pair_views

    columns = ("origin", "A", "B")
    texts = (normalise(revision_set.origin), normalise(a.text), normalise(b.text))
    names = ColumnTitles(columns, texts if choices.comments == "keep" else None)
    out = console()
    ids = revision_set.name, a.id, b.id
    notes = [f"{name}: {note}" for name, note in revision_set.notes]
    for view in pair_views(score, names, ids, "similarity", notes):
        out.print(view)
    return 0


def _two(revision_set: RevisionSet) -> tuple[Revision, ...]:
    """Return the two revisions, both of which must be readable to be explained."""
    for rejected in revision_set.rejected:
        raise SourceError(rejected.reason, name=rejected.id, hint=rejected.hint)
    if len(revision_set.revisions) != 2:
        reason = f"it holds {len(revision_set.revisions)} revisions"
        raise SourceError(reason, name=revision_set.name, hint="explain compares exactly two")
    return revision_set.revisions
