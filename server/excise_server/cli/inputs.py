"""From arguments to a snapshot: files, or one JSON document on standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

import click

import excise
from excise.text import Revision
from excise_server.cli.options import MeasureOptions
from excise_server.cli.progress import progress_map
from excise_server.cli.streams import say
from excise_server.foundation.escape import printable
from excise_server.foundation.files import read_revisions
from excise_server.foundation.inputs import Rejected, RevisionSet, SourceError, did_you_mean
from excise_server.records.lines import MAX_JSON
from excise_server.records.outputs import read_revision_set

STDIN = "-"


def read_set(origin: str, paths: tuple[str, ...], choices: MeasureOptions) -> RevisionSet:
    """Read the origin and the revisions that a command names, or a document from ``-``."""
    if origin == STDIN:
        revision_set = read_revision_set(sys.stdin.buffer.read(MAX_JSON + 1))
        if not (revision_set.revisions or revision_set.rejected):
            raise click.UsageError("No revisions: the document's 'revisions' is empty.")
        return _chosen(revision_set, paths) if paths else revision_set
    if not paths:
        raise click.UsageError(
            "No revisions: name at least one file after the origin, "
            "or give '-' as the origin to read a JSON document."
        )
    if STDIN in paths:
        raise click.UsageError("'-' stands for a whole JSON document: give it as the origin.")
    return read_revisions(origin, paths, encoding=choices.encoding)


def _chosen(revision_set: RevisionSet, ids: tuple[str, ...]) -> RevisionSet:
    every: dict[str, Revision | Rejected] = {each.id: each for each in revision_set.revisions}
    every |= {each.id: each for each in revision_set.rejected}
    for name in ids:
        if name not in every:
            raise SourceError(
                f"no revision is called {printable(name)}",
                name=revision_set.name,
                hint=did_you_mean(name, every),
            )
    return replace(
        revision_set,
        revisions=tuple(each for i in ids if isinstance(each := every[i], Revision)),
        rejected=tuple(each for i in ids if isinstance(each := every[i], Rejected)),
        notes=tuple(note for note in revision_set.notes if note[0] in ids),
    )


def similarities(revision_set: RevisionSet, choices: MeasureOptions) -> excise.ScoreMatrix:
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


def report_rejected(rejected: Sequence[Rejected], paths: Sequence[str] = ()) -> int:
    """Report on standard error what could not be scored, and return the exit code.

    - ``paths``: the files that were named: where all are in one folder, it is not said of each.
    """
    folders = {os.path.dirname(path) for path in paths}
    folder = f"{folders.pop()}/" if len(folders) == 1 < len(paths) else ""
    for left in rejected:
        name = left.id.removeprefix(folder)
        say(f"left out: {SourceError(left.reason, name=name, hint=left.hint)}")
    return 1 if rejected else 0
