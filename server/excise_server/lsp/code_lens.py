"""textDocument/codeLens: the state of the review on the first line, and each undecided hunk."""

from __future__ import annotations

from lsprotocol import types as t

from excise_server.editor.document import document_key
from excise_server.editor.titles import file_title
from excise_server.editor.wording import hunk_words, names_of
from excise_server.lsp import protocol
from excise_server.lsp.mailboxes import titles
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.standard import OPEN_REVIEW
from excise_server.lsp.to_proto import Mapper

__all__ = ["code_lens"]


async def code_lens(ls: ExciseServer, params: t.CodeLensParams) -> list[t.CodeLens] | None:
    """Return one lens for the file and one per undecided hunk, or none without revisions."""
    uri = params.text_document.uri
    if (analysis := await ls.to_show(uri)) is None:
        return await _of_mailbox(ls, uri)
    snapshot = analysis.snapshot
    mapper = Mapper(snapshot.origin if snapshot.buffer is None else snapshot.buffer, ls.encoding)
    key, lenses = document_key(uri), list[t.CodeLens]()
    names, count = names_of(snapshot.revisions), len(snapshot.texts)
    if not ls.typed.holds(key, top := mapper.visible(0, 1)):
        lenses.append(_lens(ls, top, file_title(analysis, names), protocol.COMPARE, {"uri": uri}))
    undecided = [index for index, decided in enumerate(analysis.decided) if not decided]
    for index in undecided[: ls.settings.max_per_file]:
        argument, shown = {"uri": uri, "hunk": index}, mapper.visible(*analysis.lines[index])
        if ls.typed.holds(key, t.Range(shown.start, shown.start)):
            continue
        title = hunk_words(analysis.hunks[index].hunk, count, names)
        lenses.append(_lens(ls, shown, title, protocol.SHOW_HUNK, argument))
    return lenses


async def _of_mailbox(ls: ExciseServer, uri: str) -> list[t.CodeLens] | None:
    """Return a lens on each message. They are only text, so they have no command."""
    mailbox, document = await ls.mailboxes.newest(uri), ls.session.find(uri)
    if mailbox is None or document is None or document.buffer is None:
        return None
    mapper = Mapper(document.buffer.text(), ls.encoding)
    return [
        t.CodeLens(t.Range(shown.start, shown.start), t.Command(title, ""))
        for shown, title in titles(mailbox, mapper)
    ]


def _lens(
    ls: ExciseServer, shown: t.Range, title: str, method: str, argument: dict[str, object]
) -> t.CodeLens:
    """Return a lens on one line: with the client's own command, or ours that shows a page."""
    command = ls.settings.client_commands.get(method.replace("/", "."), OPEN_REVIEW)
    line = t.Range(shown.start, shown.start)
    return t.CodeLens(line, t.Command(title, command, arguments=[argument]))
