"""Conversion of line edits to an edit of the workspace, in a form that the client supports."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types as t

from excise_server.editor.analysis import Analysis
from excise_server.editor.apply import LineEdit, line_end
from excise_server.lsp.sync import Encoding
from excise_server.lsp.to_proto import Mapper

__all__ = ["workspace_edit"]

_ANNOTATION = "excise"


def workspace_edit(
    analysis: Analysis,
    edits: Sequence[LineEdit],
    label: str,
    encoding: Encoding,
    capabilities: t.ClientCapabilities,
) -> t.WorkspaceEdit:
    """Return one edit of the analysed version: one undo step, with the line ends of the buffer.

    A client that knows versions refuses it when the document has moved on.
    """
    snapshot = analysis.snapshot
    text = snapshot.buffer or ""
    mapper, end = Mapper(text, encoding), line_end(text)
    ranged = [(mapper.exact(e.lo, e.hi), e.text.replace("\n", end)) for e in edits]
    workspace = capabilities.workspace
    can = workspace.workspace_edit if workspace else None
    if not (can and can.document_changes):
        plain = [t.TextEdit(where, new) for where, new in ranged]
        return t.WorkspaceEdit(changes={snapshot.uri_or_path: plain})
    annotated = bool(can.change_annotation_support)
    changes: list[t.TextEdit | t.AnnotatedTextEdit | t.SnippetTextEdit] = [
        t.AnnotatedTextEdit(_ANNOTATION, where, new) if annotated else t.TextEdit(where, new)
        for where, new in ranged
    ]
    document = t.OptionalVersionedTextDocumentIdentifier(snapshot.uri_or_path, snapshot.version)
    notes = {_ANNOTATION: t.ChangeAnnotation(label, needs_confirmation=False)}
    return t.WorkspaceEdit(
        document_changes=[t.TextDocumentEdit(document, changes)],
        change_annotations=notes if annotated else None,
    )
