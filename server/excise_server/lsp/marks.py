"""What an editor shows at the lines of a document: diagnostics that it asks for, hovers, lenses.

For clients that want it (`standardNavigation`), hunks are symbols, and variants implementations.
That is off by default, because it would clutter the outline of a language's own server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from lsprotocol import types as t
from pygls.uris import from_fs_path

from excise.text import normalise
from excise_server.editor.analysis import Analysis
from excise_server.editor.document import document_key
from excise_server.editor.findings import (
    Block,
    Code,
    Line,
    Table,
    explain_file,
    explain_hunk,
    file_title,
    hunk_words,
    names_of,
)
from excise_server.editor.places import LineMap
from excise_server.foundation.escape import printable
from excise_server.foundation.inputs import SourceError
from excise_server.foundation.paths import read_bytes, text_of
from excise_server.lsp import protocol
from excise_server.lsp.disk import local_path
from excise_server.lsp.mailboxes import explained, titles
from excise_server.lsp.publishing import Outcome
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.standard import OPEN_REVIEW
from excise_server.lsp.to_proto import Mapper, hunks_at
from excise_server.report.markdown import fenced, inert

__all__ = ["NAVIGATION", "OPTIONS", "as_markdown", "as_plain", "code_lens", "diagnostic", "hover"]

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


def as_markdown(blocks: Sequence[Block]) -> str:
    """Return the blocks as Markdown."""
    return "\n\n".join(_markdown(block) for block in blocks)


def as_plain(blocks: Sequence[Block]) -> str:
    """Return the blocks as plain text, tables in columns."""
    return "\n\n".join(_plain(block) for block in blocks)


def _markdown(block: Block) -> str:
    match block:
        case Line(text):
            return inert(text)
        case Table(head, rows):
            lines = [head, tuple("---" for _ in head), *rows]
            cells = [
                lines[1] if row is lines[1] else [inert(cell) for cell in row] for row in lines
            ]
            return "\n".join(f"| {' | '.join(row)} |" for row in cells)
        case Code(lines, language):
            return fenced(lines, language)


def _plain(block: Block) -> str:
    match block:
        case Line(text):
            return printable(text)
        case Table(head, rows):
            lines = [[printable(cell) for cell in row] for row in (head, *rows)]
            widths = [max(len(row[column]) for row in lines) for column in range(len(head))]
            return "\n".join(
                "  ".join(
                    cell.ljust(width) for cell, width in zip(row, widths, strict=True)
                ).rstrip()
                for row in lines
            )
        case Code(lines, _):
            return "\n".join(f"    {line}" for line in lines)


MAX_PLACES = 50
"""Most locations in one answer."""


async def implementation(
    ls: ExciseServer, params: t.ImplementationParams
) -> list[t.Location] | None:
    """Return the lines of the hunk under the cursor in each candidate that changes it."""
    uri = params.text_document.uri
    if (analysis := await ls.to_show(uri)) is None:
        return None
    mapper, line = Mapper(analysis.snapshot.shown, ls.encoding), params.position.line
    changing = [
        (member, analysis.hunks[index].spans[member])
        for index, _ in hunks_at(analysis, mapper, line, line)
        for variant in analysis.hunks[index].variants
        if variant.text != analysis.hunks[index].text
        for member in variant.members
        if member != analysis.snapshot.own
    ]
    files = {name: file.path for name, file in ls.gatherer.files(document_key(uri)).items()}
    try:
        places = await asyncio.to_thread(_places, ls, analysis, changing[:MAX_PLACES], files)
    except OSError as error:
        raise RequestFailed(f"the page cannot be written: {error.strerror}") from error
    return places or None


async def document_symbol(
    ls: ExciseServer, params: t.DocumentSymbolParams
) -> list[t.DocumentSymbol] | list[t.SymbolInformation] | None:
    """Return the hunks of a document, in its order."""
    uri = params.text_document.uri
    if (analysis := await ls.to_show(uri)) is None:
        return None
    mapper = Mapper(analysis.snapshot.shown, ls.encoding)
    names = names_of(analysis.snapshot.revisions)
    count, kind = len(analysis.snapshot.texts), t.SymbolKind.Event
    symbols = [
        (hunk_words(hunk, count, names), mapper.visible(*lines), decided)
        for hunk, lines, decided in zip(
            analysis.hunks, analysis.lines, analysis.decided, strict=True
        )
    ]
    text_document = ls.client_capabilities.text_document
    can = text_document.document_symbol if text_document else None
    if can and can.hierarchical_document_symbol_support:
        return [
            t.DocumentSymbol(name, kind, where, where, "decided" if decided else "undecided")
            for name, where, decided in symbols
        ]
    return [t.SymbolInformation(t.Location(uri, w), name, kind) for name, w, _ in symbols]


def workspace_symbol(
    ls: ExciseServer, params: t.WorkspaceSymbolParams
) -> list[t.SymbolInformation] | None:
    """Return the candidates of open documents, each at its first change."""
    symbols: dict[str, t.SymbolInformation] = {}
    for uri in ls.session.open_uris():
        outcome = ls.publisher.outcome(document_key(uri))
        if not isinstance(outcome, Outcome):
            continue
        analysis = outcome.analysis
        mapper = Mapper(analysis.snapshot.shown, ls.encoding)
        names = names_of(analysis.snapshot.revisions)
        for index, identity in enumerate(analysis.snapshot.ids):
            name = names[index]
            name = name if name in identity else f"{name} ({identity})"
            if params.query.casefold() not in name.casefold() or index == analysis.snapshot.own:
                continue
            where = t.Location(uri, mapper.visible(*_first_change(analysis, index)))
            symbols.setdefault(identity, t.SymbolInformation(where, name, t.SymbolKind.Package))
    return list(symbols.values()) or None


NAVIGATION: dict[str, Callable[..., Any]] = {
    t.TEXT_DOCUMENT_IMPLEMENTATION: implementation,
    t.TEXT_DOCUMENT_DOCUMENT_SYMBOL: document_symbol,
    t.WORKSPACE_SYMBOL: workspace_symbol,
}


def _first_change(analysis: Analysis, candidate: int) -> tuple[int, int]:
    """Return the lines of the first hunk that a candidate changes, or else the first line."""
    for hunk, lines in zip(analysis.hunks, analysis.lines, strict=True):
        if any(candidate in v.members and v.text != hunk.text for v in hunk.variants):
            return lines
    return 0, 1


def _places(
    ls: ExciseServer,
    analysis: Analysis,
    changing: Sequence[tuple[int, tuple[int, int]]],
    files: dict[str, str],
) -> list[t.Location]:
    """Return the locations of lines in the candidates' own files or else in pages, in a thread."""
    snapshot, names = analysis.snapshot, names_of(analysis.snapshot.revisions)
    document = (local_path(snapshot.uri_or_path) or snapshot.uri_or_path).rpartition("/")[2]
    places = []
    for member, (lo, hi) in changing:
        revision = snapshot.revisions[member]
        text, path = normalise(revision.text), files.get(revision.id)
        if path is None or (own_text := _text_of(path)) is None:
            about, name = f"{revision.id} {snapshot.uri_or_path}", f"{names[member]}-{document}"
            path = ls.pages.write(about, name, text)
        elif own_text != text:  # it was replayed from its base
            lo, hi = LineMap.of_texts(text, own_text).span(lo, hi)
            text = own_text
        where = Mapper(text, ls.encoding).visible(lo, hi)
        places.append(t.Location(from_fs_path(path) or "", where))
    return places


def _text_of(path: str) -> str | None:
    """Return the text of a file that a source found just before, if it is still there."""
    try:
        return normalise(text_of(read_bytes(path, [path.rpartition("/")[0]])))
    except SourceError:
        return None
