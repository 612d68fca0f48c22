"""``excise score``: a hypothesis against references, from files or from lines of records."""

from __future__ import annotations

import os
import sys
from collections.abc import Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from gzip import GzipFile
from typing import IO

import click

import excise
from excise.signature import DELETIONS
from excise.text import normalise
from excise_server.cli.options import ScoringOptions, choice_option, shared_options
from excise_server.cli.progress import Advance, progress
from excise_server.cli.streams import console, say
from excise_server.foundation.files import language_of, read_text
from excise_server.foundation.inputs import SourceError
from excise_server.records.lines import BadLine, opened, read_records
from excise_server.records.outputs import ScoreRecord, read_score_record
from excise_server.report.documents import record_line, score_document, summary_document
from excise_server.wire.documents import ErrorLine, RecordLine, json_line, json_text


@click.command("score")
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
@choice_option("--deletion", DELETIONS, "precision", "Form of the delete operation.")
@shared_options
def command(
    choices: ScoringOptions,
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


def _score(
    texts: Sequence[str],
    language: str | None,
    path: str | None,
    choices: ScoringOptions,
    deletion: str,
) -> excise.Score:
    """Score the last of some texts against those between it and the origin."""
    return excise.excision_score(
        origin=texts[0],
        reference=texts[1:-1],
        hypothesis=texts[-1],
        deletion=deletion,
        language=language,
        path=path,
        **choices.scoring,
    )


def _score_files(paths: tuple[str, ...], choices: ScoringOptions, deletion: str) -> int:
    texts = [read_text(path, encoding=choices.encoding, descriptors=True) for path in paths]
    with progress("Scoring"):
        language = choices.language or language_of(paths[0], texts[0], paths[1:])
        score = _score(texts, language, paths[0], choices, deletion)
        document = json_text(score_document(score)) if choices.json else None
    if document is not None:
        print(document)
        return 0
    from excise_server.report.regions import ColumnTitles, pair_views

    position = 1 + score.reference
    columns = ("origin", "reference", "hypothesis")
    chosen = (normalise(texts[0]), normalise(texts[position]), normalise(texts[-1]))
    names = ColumnTitles(columns, chosen if choices.comments == "keep" else None, deletion)
    out = console()
    for view in pair_views(score, names, (paths[0], paths[position], paths[-1]), "score"):
        out.print(view)
    return 0


def _scored(
    stream: IO[bytes], path: str, choices: ScoringOptions, deletion: str
) -> Iterator[tuple[ScoreRecord | BadLine, excise.Score | str]]:
    """Yield each record with its score, or with the reason why it has none."""
    for record in read_records(stream, read_score_record, path):
        score: excise.Score | str
        if isinstance(record, BadLine):
            yield record, f"line {record.number}: {record.reason}"
            continue
        try:
            texts = (record.origin, *record.references, record.hypothesis)
            language = choices.language or record.language
            score = _score(texts, language, record.path, choices, deletion)
        except Exception as error:  # noqa: BLE001 - one record never costs the others
            reason = str(error) if isinstance(error, excise.ExciseError) else repr(error)
            score = f"line {record.line}: {reason}"
        yield record, score


def _score_lines(path: str, choices: ScoringOptions, deletion: str) -> int:
    """Score record by record: memory does not grow with the file."""
    bad = 0
    with opened(path) as stream, _progress(length := _length(stream)) as advance:
        scored = 0
        for scored, (record, score) in enumerate(_scored(stream, path, choices, deletion), start=1):
            line: RecordLine | ErrorLine
            if isinstance(record, BadLine) or isinstance(score, str):
                line = ErrorLine(id=record.id, error=str(score))
                bad += 1
            else:
                line = record_line(record.id, score, several=record.several)
            print(json_line(line), flush=True)
            advance(scored if length is None else stream.tell())
    if bad:
        say(f"{bad} of {scored} records could not be scored: see 'error' in their lines")
    return 1 if bad else 0


def _summarise(path: str, baseline: str | None, choices: ScoringOptions, deletion: str) -> int:
    """Print the mean of one file or of two, and name how many records have no score."""
    paths = [path] if baseline is None else [path, baseline]
    summaries = [_summary(name, choices, deletion) for name in paths]
    corpora = [corpus for corpus, _ in summaries]
    if not choices.json:
        # The scores are printed, whether or not the two files can be compared.
        for mark, corpus in zip(("", "baseline: "), corpora, strict=False):
            print(f"{mark}{corpus}")
    difference = None
    if baseline is not None:
        try:
            difference = corpora[0].difference(corpora[1])
        except excise.OptionError as error:
            raise SourceError(f"no difference: {error}") from error
    if choices.json:
        print(json_text(summary_document(summaries, difference)))
    elif difference is not None:
        print(difference)
    for name, (corpus, failed) in zip(paths, summaries, strict=True):
        if failed:
            total = failed + len(corpus.values)
            say(f"{name}: {failed} of {total} records could not be scored; leave out --summary")
    return 1 if any(failed for _, failed in summaries) else 0


def _summary(path: str, choices: ScoringOptions, deletion: str) -> tuple[excise.CorpusScore, int]:
    """Summarise the records of a file, and count those without a score."""
    tasks: list[Hashable] = []
    errors: list[str] = []

    def scores() -> Iterator[excise.Score]:
        for number, (record, score) in enumerate(_scored(stream, path, choices, deletion), start=1):
            if isinstance(record, BadLine) or isinstance(score, str):
                errors.append(str(score))
            else:
                tasks.append(record.id if record.task is None else record.task)
                yield score
            advance(number if length is None else stream.tell())

    with opened(path) as stream, progress("Scoring", length := _length(stream)) as advance:
        try:
            # It keeps the figures of each score alone, and asks for the tasks after the last.
            return excise.CorpusScore.from_scores(scores(), tasks), len(errors)
        except excise.OptionError as error:
            if tasks:
                raise
            reason = errors[0] if errors else "it holds no records"
            raise SourceError(reason, name=path) from error


def _progress(length: int | None) -> AbstractContextManager[Advance]:
    """Show the bytes read, if known. Lines on a terminal show progress by themselves."""
    if sys.stdout.isatty():
        return nullcontext(lambda done: None)
    return progress("Scoring", length)


def _length(stream: IO[bytes]) -> int | None:
    if isinstance(stream, GzipFile) or not stream.seekable():
        return None
    position = stream.tell()
    size = stream.seek(0, os.SEEK_END)
    stream.seek(position)
    return size
