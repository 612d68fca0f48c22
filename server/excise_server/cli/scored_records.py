"""``excise eval`` by its first protocol: the score of each record, or their mean."""

from __future__ import annotations

import os
import sys
from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from gzip import GzipFile
from typing import IO

import excise
from excise.evaluation.exact import rewrite_note
from excise.signature import check_measure
from excise_server.cli.options import MeasureOptions
from excise_server.cli.progress import Advance, progress
from excise_server.cli.streams import say, show
from excise_server.foundation.inputs import SourceError
from excise_server.records.lines import BadLine, opened, read_records
from excise_server.records.outputs import Record, read_record
from excise_server.report.documents import record_line, summary_document
from excise_server.wire.documents import ErrorLine, RecordLine, json_line, json_text


def _scored(
    stream: IO[bytes], path: str, choices: MeasureOptions
) -> Iterator[tuple[Record | BadLine, excise.Score | str]]:
    for record in read_records(stream, read_record, path):
        score: excise.Score | str
        if isinstance(record, BadLine):
            yield record, f"line {record.number}: {record.reason}"
            continue
        try:
            score = excise.excision_score(
                origin=record.origin,
                reference=record.references,
                hypothesis=record.hypothesis,
                deletion=choices.options.deletion,
                language=choices.language or record.language,
                path=record.path,
                **choices.scoring,
            )
            check_measure(choices.parts, score.signature)
            if (note := rewrite_note(record.origin, record.hypothesis)) is not None:
                score = replace(score, notes=(*score.notes, note))
        except Exception as error:  # noqa: BLE001 - one record never costs the others
            reason = str(error) if isinstance(error, excise.ExciseError) else repr(error)
            score = f"line {record.line}: {reason}"
        yield record, score


def score_lines(path: str, choices: MeasureOptions) -> int:
    """Print a line for each record as soon as it is scored: memory does not grow with the file."""
    bad = 0
    with opened(path) as stream, _progress(length := _length(stream)) as advance:
        scored = 0
        for scored, (record, score) in enumerate(_scored(stream, path, choices), start=1):
            line: RecordLine | ErrorLine
            name = record.id if isinstance(record, BadLine) else record.value["id"]
            if isinstance(record, BadLine) or isinstance(score, str):
                line = ErrorLine(id=name, error=str(score))
                bad += 1
            else:
                several = isinstance(record.value["reference"], list)
                line = record_line(name, score, several=several)
            print(json_line(line), flush=True)
            advance(scored if length is None else stream.tell())
    if bad:
        say(f"{bad} of {scored} records could not be scored: see 'error' in their lines")
    return 1 if bad else 0


def summarise(
    path: str, baseline: str | None, choices: MeasureOptions, format: str, output: str | None
) -> int:
    """Print the mean of one file or of two, and name how many records have no score."""
    paths = [path] if baseline is None else [path, baseline]
    summaries = [_summary(name, choices) for name in paths]
    corpora = [corpus for corpus, _ in summaries]
    # The scores are printed, whether or not the two files can be compared.
    lines = [f"{mark}{corpus}" for mark, corpus in zip(("", "baseline: "), corpora, strict=False)]
    difference, refusal = None, None
    if baseline is not None:
        try:
            difference = corpora[0].difference(corpora[1])
            lines.append(str(difference))
        except excise.OptionError as error:
            refusal = SourceError(f"no difference: {error}")
    if format == "text":
        show("\n".join(lines), output)
    if refusal is not None:
        raise refusal
    if format == "json":
        show(json_text(summary_document(summaries, difference)), output)
    for name, (corpus, failed) in zip(paths, summaries, strict=True):
        if failed:
            total = failed + len(corpus.values)
            say(f"{name}: {failed} of {total} records have no score: --format jsonl names them")
    return 1 if any(failed for _, failed in summaries) else 0


def _summary(path: str, choices: MeasureOptions) -> tuple[excise.CorpusScore, int]:
    """Summarise the records of a file, and count those without a score."""
    tasks: list[Hashable] = []
    counts: list[int] = []
    errors: list[str] = []
    rewrites: list[str] = []

    def scores() -> Iterator[excise.Score]:
        for number, (record, score) in enumerate(_scored(stream, path, choices), start=1):
            if isinstance(record, BadLine) or isinstance(score, str):
                errors.append(str(score))
            else:
                tasks.append(record.cluster)
                counts.append(record.count)
                rewrites.extend(note for note in score.notes if note.startswith("rewrite: "))
                yield score
            advance(number if length is None else stream.tell())

    with opened(path) as stream, progress("Scoring", length := _length(stream)) as advance:
        try:
            # It keeps the figures of each score alone, and asks for the others after the last.
            corpus = excise.CorpusScore.from_scores(scores(), tasks, counts=counts)
            if rewrites:
                many = f"{len(rewrites):,} of {len(tasks):,}"
                say(f"{path}: {many} hypotheses rewrite their origin: --format jsonl names them")
            return corpus, len(errors)
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
