"""Conversion of our findings to the protocol's types, the only place that makes positions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsprotocol import types as t
from pygls.uris import from_fs_path

from excise.text import normalise, raw_lines
from excise_server.editor.analysis import Analysis
from excise_server.editor.findings import Findings
from excise_server.editor.hunk_scores import MAX_PAIRS, HunkScores
from excise_server.lsp import protocol as p
from excise_server.lsp.related import Related
from excise_server.lsp.sync import Encoding, width
from excise_server.report.words import disagree, words_of

__all__ = ["Mapper", "diagnostics", "hunk", "report"]

SOURCE = "excise"
MAX_RELATED = 8
MAX_SEVERE = 20
"""Most hunks of a file that are more than a hint."""


class Mapper:
    """Lines of a text as ranges of the protocol, in one encoding."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        """Take the text that the client shows, in which a byte order mark takes a column."""
        self._lines = raw_lines(normalise(text))
        self._encoding: Encoding = encoding
        self._mark = width("\ufeff", encoding) if text.startswith("\ufeff") else 0

    def exact(self, lo: int, hi: int) -> t.Range:
        """Return the range that an edit of these lines replaces, or an empty one for a gap."""
        return t.Range(self._start(lo), self._start(hi))

    def visible(self, lo: int, hi: int) -> t.Range:
        """Return the range to underline, without the last line end, or a line beside a gap."""
        if lo == hi:
            lo = min(lo, max(len(self._lines) - 1, 0))
        last = max(lo, hi - 1)
        return t.Range(self._start(lo), t.Position(last, self._width(last)))

    def _start(self, line: int) -> t.Position:
        """Return the start of a line, or the end of the text past the last line."""
        if line == 0:
            return t.Position(0, self._mark)
        if line < len(self._lines) or not self._lines or self._lines[-1].endswith("\n"):
            return t.Position(line, 0)
        return t.Position(line - 1, self._width(line - 1))

    def _width(self, line: int) -> int:
        content = self._lines[line].removesuffix("\n") if line < len(self._lines) else ""
        return width(content, self._encoding) + (self._mark if line == 0 else 0)


def diagnostics(
    uri: str,
    findings: Findings,
    mapper: Mapper,
    severity: t.DiagnosticSeverity,
    related: Related | None,
) -> list[t.Diagnostic]:
    """Return one diagnostic for the file and one per hunk, linked as far as `related` knows.

    Of hunks, only the first few have the severity of the setting: hundreds would drown what a
    linter says.
    """
    hunks = [
        t.Diagnostic(
            range=mapper.visible(*hunk.lines),
            message=hunk.message,
            severity=severity if number < MAX_SEVERE else t.DiagnosticSeverity.Hint,
            source=SOURCE,
            code="hunk",
            data=hunk.data,
            related_information=(
                related.of_hunk(hunk.data["index"]) if related and number < MAX_SEVERE else None
            )
            or None,
        )
        for number, hunk in enumerate(findings.hunks)
    ]
    information = [
        t.DiagnosticRelatedInformation(t.Location(uri, hunk.range), hunk.message)
        for hunk in hunks[:MAX_RELATED]
    ]
    file = t.Diagnostic(
        range=mapper.visible(0, 1),
        message=findings.message,
        severity=severity,
        source=SOURCE,
        code="ranking",
        data=findings.data,
        related_information=(related and information) or None,
    )
    return [file, *hunks]


def report(
    analysis: Analysis,
    encoding: Encoding,
    state: int,
    files: Mapping[str, str],
    notes: Mapping[str, list[str]],
) -> p.ReportResult:
    """Return the report of a document, with the files and notes that its sources know by id."""
    snapshot, comparison = analysis.snapshot, analysis.comparison
    ids = comparison.matrix.ids
    text = snapshot.origin if snapshot.buffer is None else snapshot.buffer
    mapper = Mapper(text, encoding)
    return p.ReportResult(
        version=snapshot.version,
        state=state,
        signature=comparison.signature,
        revisions=_revisions(analysis, files, notes),
        similarity=comparison.matrix.values.tolist(),
        words=words_of(comparison.matrix),
        clusters=[
            p.ReportCluster(
                [ids[member] for member in cluster.members],
                ids[cluster.representative],
                cluster.min_similarity,
            )
            for cluster in comparison.clusters
        ],
        intent=snapshot.intent,
        disagree=disagree(comparison.ranking),
        hunks=[
            hunk(scores, mapper.exact(*lines), ids)
            for scores, lines in zip(analysis.hunks, analysis.lines, strict=True)
        ],
    )


def _revisions(
    analysis: Analysis, files: Mapping[str, str], notes: Mapping[str, list[str]]
) -> list[p.ReportRevision]:
    comparison = analysis.comparison
    cluster_numbers = {
        member: number
        for number, cluster in enumerate(comparison.clusters, start=1)
        for member in cluster.members
    }
    ranking = {ranked.index: ranked for ranked in comparison.ranking}
    return [
        p.ReportRevision(
            id=revision.id,
            label=revision.label,
            rank=ranking[index].rank,
            cluster=cluster_numbers[index],
            no_op=comparison.matrix.no_ops[index],
            notes=[*comparison.notes[index], *notes.get(revision.id, ())],
            makers=ranking[index].makers,
            mean_similarity=ranking[index].mean_similarity,
            why=list(ranking[index].why),
            edit_size=ranking[index].edit_size,
            syntax_errors=ranking[index].syntax_errors,
            stub=ranking[index].stub,
            broken=list(ranking[index].broken),
            file=from_fs_path(files[revision.id]) if revision.id in files else None,
        )
        for index, revision in enumerate(analysis.snapshot.revisions)
    ]


def hunk(scores: HunkScores, exact: t.Range, ids: tuple[str, ...]) -> p.ReportHunk:
    """Return one hunk in the shape of the report."""
    mean: Any = scores.mean
    return p.ReportHunk(
        range=exact,
        variants=[
            p.Variant([ids[member] for member in variant.members], variant.text)
            for variant in scores.hunk.variants
        ],
        agree=scores.hunk.agree,
        es=mean and mean.es,
        keep=mean and mean.keep,
        add=mean and mean.add,
        delete=mean and mean.delete,
        share=scores.share,
        pairs=[
            p.PairScore(
                ids[pair.a],
                ids[pair.b],
                pair.numbers.es,
                pair.numbers.keep,
                pair.numbers.add,
                pair.numbers.delete,
                pair.share,
            )
            for pair in scores.pairs[:MAX_PAIRS]
        ],
    )
