"""From arguments to a snapshot: files, or one JSON document on standard input."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

import excise
from excise_server.cli.options import ScoringOptions
from excise_server.cli.progress import progress_map
from excise_server.cli.streams import say
from excise_server.foundation.files import read_revisions
from excise_server.foundation.inputs import Rejected, RevisionSet, SourceError
from excise_server.records.lines import MAX_JSON
from excise_server.records.outputs import read_revision_set

STDIN = "-"


def read_set(origin: str, paths: tuple[str, ...], choices: ScoringOptions) -> RevisionSet:
    """Read the origin and the revisions that a command names, or a document from ``-``."""
    if origin == STDIN:
        if paths:
            raise click.UsageError(
                "'-' reads the revisions from standard input too: drop the files."
            )
        revision_set = read_revision_set(sys.stdin.buffer.read(MAX_JSON + 1))
        if not (revision_set.revisions or revision_set.rejected):
            raise click.UsageError("No revisions: the document's 'revisions' is empty.")
        return revision_set
    if not paths:
        raise click.UsageError(
            "No revisions: name at least one file after the origin, "
            "or give '-' alone to read a JSON document."
        )
    if STDIN in paths:
        raise click.UsageError(
            "'-' stands for a whole JSON document: give it alone, as the origin."
        )
    return read_revisions(origin, paths, encoding=choices.encoding)


def similarities(revision_set: RevisionSet, choices: ScoringOptions) -> excise.ScoreMatrix:
    """Score every pair of revisions.

    The matrix alone: what `analysis.compare` adds to it may cost the import of scikit-learn.
    """
    return excise.ScoreMatrix.from_texts(
        revision_set.origin,
        [revision.text for revision in revision_set.revisions],
        ids=[revision.id for revision in revision_set.revisions],
        language=choices.language or revision_set.language,
        path=revision_set.path,
        map=progress_map("Scoring"),
        **choices.scoring,
    )


def report_rejected(rejected: Sequence[Rejected]) -> int:
    """Report on standard error what could not be scored, and return the exit code."""
    for left in rejected:
        say(f"left out: {SourceError(left.reason, name=left.id, hint=left.hint)}")
    return 1 if rejected else 0
