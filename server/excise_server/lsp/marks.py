"""What an editor shows at the lines of a document: diagnostics that it asks for, hovers, lenses."""

from __future__ import annotations

from lsprotocol import types as t

from excise_server.editor.document import document_key
from excise_server.editor.explanation import Block, explain_file, explain_hunk
from excise_server.editor.titles import file_title
from excise_server.editor.wording import hunk_words, names_of
from excise_server.lsp import protocol
from excise_server.lsp.mailboxes import explained, titles
from excise_server.lsp.markup import as_markdown, as_plain
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.standard import OPEN_REVIEW
from excise_server.lsp.to_proto import Mapper, hunks_at

__all__ = ["OPTIONS", "code_lens", "diagnostic", "hover"]

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


async def hover(ls: ExciseServer, params: t.HoverParams) -> t.Hover | None:
    """Explain the hunk or message at the position, or return None if there is none."""
    uri = params.text_document.uri
    if (analysis := await ls.to_show(uri)) is None:
        mailbox = await ls.mailboxes.newest(uri)
        message_blocks = explained(mailbox, params.position.line) if mailbox is not None else []
        return t.Hover(_content(ls, message_blocks)) if message_blocks else None
    line = params.position.line
    under = hunks_at(analysis, Mapper(analysis.snapshot.shown, ls.encoding), line, line)
    blocks = [block for index, _ in under for block in explain_hunk(analysis, index)]
    if line == 0:
        blocks += explain_file(analysis)
    if not blocks:
        return None
    return t.Hover(_content(ls, blocks), under[0][1] if under else None)


def _content(ls: ExciseServer, blocks: list[Block]) -> t.MarkupContent:
    """Return the explanation in the client's preferred format, or else as plain text."""
    text_document = ls.client_capabilities.text_document
    hovers = text_document.hover if text_document else None
    formats = (hovers.content_format if hovers else None) or [t.MarkupKind.PlainText]
    if formats[0] == t.MarkupKind.Markdown:
        return t.MarkupContent(t.MarkupKind.Markdown, as_markdown(blocks))
    return t.MarkupContent(t.MarkupKind.PlainText, as_plain(blocks))


async def code_lens(ls: ExciseServer, params: t.CodeLensParams) -> list[t.CodeLens] | None:
    """Return one lens for the file and one per undecided hunk, or none without revisions."""
    uri = params.text_document.uri
    if (analysis := await ls.to_show(uri)) is None:
        return await _of_mailbox(ls, uri)
    snapshot = analysis.snapshot
    mapper = Mapper(snapshot.shown, ls.encoding)
    key, lenses = document_key(uri), list[t.CodeLens]()
    names, count = names_of(snapshot.revisions), len(snapshot.texts)
    if not ls.typed.holds(key, top := mapper.visible(0, 1)):
        lenses.append(_lens(ls, top, file_title(analysis, names), protocol.COMPARE, {"uri": uri}))
    undecided = [index for index, decided in enumerate(analysis.decided) if not decided]
    for index in undecided[: ls.settings.max_per_file]:
        argument, shown = {"uri": uri, "hunk": index}, mapper.visible(*analysis.lines[index])
        if ls.typed.holds(key, t.Range(shown.start, shown.start)):
            continue
        title = hunk_words(analysis.hunks[index], count, names)
        lenses.append(_lens(ls, shown, title, protocol.SHOW_HUNK, argument))
    return lenses


async def _of_mailbox(ls: ExciseServer, uri: str) -> list[t.CodeLens] | None:
    """Return a lens on each message. They are only text, so they have no command."""
    mailbox, document = await ls.mailboxes.newest(uri), ls.session.find(uri)
    if mailbox is None or document is None or document.buffer is None:
        return None
    shown = titles(mailbox, Mapper(document.buffer.text(), ls.encoding))
    return [t.CodeLens(t.Range(r.start, r.start), t.Command(title, "")) for r, title in shown]


def _lens(
    ls: ExciseServer, shown: t.Range, title: str, method: str, argument: dict[str, object]
) -> t.CodeLens:
    """Return a lens on one line: with the client's own command, or ours that shows a page."""
    command = ls.settings.client_commands.get(method.replace("/", "."), OPEN_REVIEW)
    line = t.Range(shown.start, shown.start)
    return t.CodeLens(line, t.Command(title, command, arguments=[argument]))
