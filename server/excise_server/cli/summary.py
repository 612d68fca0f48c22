"""``excise score --jsonl --summary``: one mean for a file of records, and a difference of two."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import NamedTuple

import excise
from excise_server.foundation.inputs import SourceError
from excise_server.report.documents import json_text, summary_document

__all__ = ["Numbers", "Summary", "print_summaries", "summarise"]


class Numbers(NamedTuple):
    """The figures kept of a score, so that memory does not grow with the texts."""

    value: float
    keep: float | None
    add: float | None
    delete: float | None
    signature: str

    @classmethod
    def of(cls, score: excise.Score) -> Numbers:
        """Return the numbers of a score."""
        return cls(score.value, score.keep, score.add, score.delete, score.signature)


class Summary(NamedTuple):
    """The summary of a file, and how many of its records have no score."""

    corpus: excise.CorpusScore
    failed: int


def summarise(path: str, records: Iterator[tuple[Hashable, Numbers | str]]) -> Summary:
    """Summarise the records of a file, given as the task of each and its score or an error.

    Raises
    ------
    SourceError
        If no record could be scored.
    """
    tasks: list[Hashable] = []
    scores: list[Numbers] = []
    errors: list[str] = []
    for task, score in records:
        if isinstance(score, str):
            errors.append(score)
        else:
            tasks.append(task)
            scores.append(score)
    if not scores:
        raise SourceError(errors[0] if errors else "it holds no records", name=path)
    return Summary(excise.CorpusScore.from_scores(scores, tasks), len(errors))


def print_summaries(system: Summary, baseline: Summary | None, *, as_json: bool) -> None:
    """Print a line for each system and one for their difference, or a document.

    Raises
    ------
    SourceError
        If the two are of other tasks or signatures.
    """
    if not as_json:
        # The scores are printed, whether or not the two files can be compared.
        print(system.corpus)
        if baseline is not None:
            print(f"baseline: {baseline.corpus}")
    difference = None
    if baseline is not None:
        try:
            difference = system.corpus.difference(baseline.corpus)
        except excise.OptionError as error:
            raise SourceError(f"no difference: {error}") from error
    if as_json:
        print(json_text(summary_document(system, baseline, difference)))
    elif difference is not None:
        print(difference)
