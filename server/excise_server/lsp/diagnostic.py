"""textDocument/diagnostic: for clients that ask for diagnostics instead of being sent them."""

from __future__ import annotations

from lsprotocol import types as t

from excise_server.lsp.server import ExciseServer

__all__ = ["OPTIONS", "diagnostic"]

OPTIONS = t.DiagnosticOptions(
    identifier="excise", inter_file_dependencies=False, workspace_diagnostics=False
)


async def diagnostic(
    ls: ExciseServer, params: t.DocumentDiagnosticParams
) -> t.RelatedFullDocumentDiagnosticReport | t.RelatedUnchangedDocumentDiagnosticReport:
    """Wait for the sources and the scores, and return the diagnostics, none without scores.

    The pause after a keystroke is not cut short: a client asks after each.
    """
    uri = params.text_document.uri
    await ls.gatherer.newest(uri)
    items, result_id = await ls.diagnostics(uri)
    if result_id is not None and result_id == params.previous_result_id:
        return t.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
    return t.RelatedFullDocumentDiagnosticReport(items=items, result_id=result_id)
