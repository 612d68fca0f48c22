"""excise/sources: the revisions that each source found or refused for an open document."""

from __future__ import annotations

from excise_server.editor.document import OWN_EDITS, Document
from excise_server.lsp.gathering import Gathered
from excise_server.lsp.protocol import (
    FoundRevision,
    Refusal,
    SourceOrigin,
    SourceReport,
    SourcesParams,
    SourcesResult,
)
from excise_server.lsp.server import ExciseServer

__all__ = ["sources"]


async def sources(ls: ExciseServer, params: SourcesParams) -> SourcesResult:
    """Wait until the sources have answered, and report on them."""
    gathered = await ls.gatherer.newest(params.uri)
    document = ls.session.find(params.uri)
    if document is None or document.buffer is None:
        return SourcesResult(None, [], [])
    reports = _reports(gathered, document)
    own_edits = document.own_edits(ls.session.own_edits)
    if own_edits is not None:
        reports[OWN_EDITS] = SourceReport(
            OWN_EDITS, [FoundRevision(own_edits.id, own_edits.label, [])], [], []
        )
    kind, label = "saved", "saved file"
    if document.elsewhere is not None:
        kind, label = document.elsewhere.kind, document.elsewhere.label
    return SourcesResult(SourceOrigin(kind, label), [], list(reports.values()))


def _reports(gathered: Gathered, document: Document) -> dict[str, SourceReport]:
    """Return a report for each source with an answer, in the order of the answers."""
    from excise_server.sources.registry import setting_of

    reports: dict[str, SourceReport] = {}

    def report(name: str) -> SourceReport:
        source = setting_of(name) or name.partition(":")[0]
        return reports.setdefault(source, SourceReport(source, [], [], []))

    answer = gathered.found
    for version in answer.versions:
        if version.id in document.found:
            found = FoundRevision(
                version.id, version.candidate.label, list(version.candidate.notes)
            )
            report(version.id).found.append(found)
    for name in answer.unchanged:
        report(name).unchanged.append(name)
    for refused in (*answer.refused, *gathered.rejected):
        report(refused.id).refused.append(Refusal(refused.id, refused.reason, refused.hint))
    return reports
