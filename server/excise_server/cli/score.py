"""``excise score``: a hypothesis against references, from files or from lines of records."""

from __future__ import annotations

import os
import sys
from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, nullcontext
from gzip import GzipFile
from typing import IO

import click

import excise
from excise.signature import DELETIONS
from excise.text import normalise
from excise_server.cli.options import Choices, shared_options
from excise_server.cli.progress import Advance, progress
from excise_server.cli.streams import console, say
from excise_server.cli.summary import Numbers, print_summaries, summarise
from excise_server.foundation.files import language_of, read_text
from excise_server.records.lines import BadLine, opened
from excise_server.records.scores import ScoreRecord, read_score_records
from excise_server.report.documents import (
    ErrorLine,
    RecordLine,
    json_line,
    json_text,
    record_line,
    score_document,
)

__all__ = ["command"]


@click.command("score", short_help="Score a hypothesis against a reference.")
@click.option("--origin", metavar="FILE", help="The file before any edit.")
@click.option("--reference", metavar="FILE", multiple=True, help="The edit to compare with.")
@click.option("--hypothesis", metavar="FILE", help="The edit to score.")
@click.option("--jsonl", metavar="FILE", help="Score records instead, one a line; - is stdin.")
@click.option(
    "--summary", is_flag=True, help="Of --jsonl, print the mean with its 95 % interval by task."
)
@click.option(
    "--baseline", metavar="FILE", help="Records of another system: --summary has the difference."
)
@click.option(
    "--deletion",
    type=click.Choice(DELETIONS),
    default="precision",
    show_default=True,
    help="Form of the delete operation.",
)
@shared_options
def command(
    choices: Choices,
    *,
    origin: str | None,
    reference: tuple[str, ...],
    hypothesis: str | None,
    jsonl: str | None,
    summary: bool,
    baseline: str | None,
    deletion: str,
) -> int:
    """Score a hypothesis against one or more references: the paper's measure.

    With several --reference the best one counts. With --jsonl every line holds
    {"id", "language" or "path", "origin", "reference" (a text or a list), "hypothesis"};
    a line that cannot be scored becomes {"id", "error"}. With --summary, records may have
    a "task": outputs of one task are resampled together.
    """
    if (summary and jsonl is None) or (baseline is not None and not summary):
        raise click.UsageError("--summary goes with --jsonl, and --baseline with --summary.")
    if jsonl is not None:
        if origin is not None or reference or hypothesis is not None:
            raise click.UsageError(
                "--jsonl holds the texts: drop --origin, --reference, --hypothesis."
            )
        if summary:
            return _summarise(jsonl, baseline, choices, deletion)
        return _score_lines(jsonl, choices, deletion)
    if origin is None or not reference or hypothesis is None:
        raise click.UsageError("Give --origin, --reference and --hypothesis, or --jsonl.")
    return _score_files((origin, *reference, hypothesis), choices, deletion)


def _score_files(paths: tuple[str, ...], choices: Choices, deletion: str) -> int:
    texts = [read_text(path, encoding=choices.encoding, descriptors=True) for path in paths]
    with progress("Scoring"):
        score = excise.excision_score(
            origin=texts[0],
            reference=texts[1:-1],
            hypothesis=texts[-1],
            deletion=deletion,
            language=choices.language or language_of(paths[0], texts[0], paths[1:]),
            path=paths[0],
            **choices.scoring,
        )
        document = json_text(score_document(score)) if choices.json else None
    if document is not None:
        print(document)
        return 0
    from excise_server.report.regions import Names, pair_views

    position = 1 + score.reference
    columns = ("origin", "reference", "hypothesis")
    chosen = (normalise(texts[0]), normalise(texts[position]), normalise(texts[-1]))
    names = Names(columns, chosen if choices.comments == "keep" else None, deletion)
    out = console()
    for view in pair_views(score, names, (paths[0], paths[position], paths[-1]), "score"):
        out.print(view)
    return 0


def _score_lines(path: str, choices: Choices, deletion: str) -> int:
    """Score record by record: memory does not grow with the file."""
    total = bad = 0
    # Lines on a terminal show progress by themselves.
    bar = nullcontext(lambda done: None) if sys.stdout.isatty() else None
    for record, score in _scored(path, choices, deletion, bar):
        total, bad = total + 1, bad + isinstance(score, str)
        line: RecordLine | ErrorLine
        if isinstance(score, str):
            line = ErrorLine(id=record.id, error=score)
        else:
            several = isinstance(record, ScoreRecord) and record.several
            line = record_line(record.id, score, several=several)
        print(json_line(line), flush=True)
    if bad:
        say(f"{bad} of {total} records could not be scored: see 'error' in their lines")
    return 1 if bad else 0


def _summarise(path: str, baseline: str | None, choices: Choices, deletion: str) -> int:
    """Print the mean of one file or of two, and name how many records have no score."""
    paths = [path] if baseline is None else [path, baseline]
    summaries = [summarise(name, _numbers(name, choices, deletion)) for name in paths]
    print_summaries(
        summaries[0], summaries[1] if baseline is not None else None, as_json=choices.json
    )
    for name, summary in zip(paths, summaries, strict=True):
        if summary.failed:
            total = summary.failed + len(summary.corpus.values)
            failures = f"{summary.failed} of {total} records could not be scored"
            say(f"{name}: {failures}; leave out --summary")
    return 1 if any(summary.failed for summary in summaries) else 0


def _numbers(
    path: str, choices: Choices, deletion: str
) -> Iterator[tuple[Hashable, Numbers | str]]:
    for record, score in _scored(path, choices, deletion):
        task = None if isinstance(record, BadLine) else record.task
        yield (
            record.id if task is None else task,
            (score if isinstance(score, str) else Numbers.of(score)),
        )


def _scored(
    path: str,
    choices: Choices,
    deletion: str,
    bar: AbstractContextManager[Advance] | None = None,
) -> Iterator[tuple[ScoreRecord | BadLine, excise.Score | str]]:
    """Yield each record and its score, or why it has none."""
    with opened(path) as stream:
        length = _length(stream)
        with bar or progress("Scoring", length) as advance:
            for number, record in enumerate(read_score_records(stream, path), start=1):
                yield record, _score_of(record, choices, deletion)
                advance(number if length is None else stream.tell())


def _score_of(record: ScoreRecord | BadLine, choices: Choices, deletion: str) -> excise.Score | str:
    if isinstance(record, BadLine):
        return f"line {record.number}: {record.reason}"
    try:
        return excise.excision_score(
            origin=record.origin,
            reference=list(record.references),
            hypothesis=record.hypothesis,
            deletion=deletion,
            language=choices.language or record.language,
            path=record.path,
            **choices.scoring,
        )
    except Exception as error:  # noqa: BLE001 - one record never costs the others
        reason = str(error) if isinstance(error, excise.ExciseError) else repr(error)
        return f"line {record.line}: {reason}"


def _length(stream: IO[bytes]) -> int | None:
    if isinstance(stream, GzipFile) or not stream.seekable():
        return None
    position = stream.tell()
    size = stream.seek(0, os.SEEK_END)
    stream.seek(position)
    return size
