"""textDocument/codeLens: the ranking of the file on its first line, and of each hunk."""

from __future__ import annotations

from lsprotocol import types as t

from excise_server.editor.analysis import Analysis
from excise_server.editor.findings import name
from excise_server.lsp import protocol
from excise_server.lsp.former import client_command
from excise_server.lsp.mailboxes import titles
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.to_proto import Mapper
from excise_server.report.digits import digits

__all__ = ["code_lens"]


async def code_lens(ls: ExciseServer, params: t.CodeLensParams) -> list[t.CodeLens] | None:
    """Return one lens for the file and one per hunk; none without revisions."""
    uri = params.text_document.uri
    if (analysis := await ls.to_show(uri)) is None:
        return await _of_mailbox(ls, uri)
    snapshot = analysis.snapshot
    mapper = Mapper(snapshot.origin if snapshot.buffer is None else snapshot.buffer, ls.encoding)
    lenses = [_lens(ls, mapper.visible(0, 1), file_title(analysis), protocol.COMPARE, {"uri": uri})]
    for at, lines in enumerate(analysis.lines[: ls.settings.max_per_file]):
        argument = {"uri": uri, "hunk": at}
        title = hunk_title(analysis, at)
        lenses.append(_lens(ls, mapper.visible(*lines), title, protocol.SHOW_HUNK, argument))
    return lenses


async def _of_mailbox(ls: ExciseServer, uri: str) -> list[t.CodeLens] | None:
    """Return a lens on each message; they only tell, so they have no command."""
    mailbox, document = await ls.mailboxes.newest(uri), ls.session.find(uri)
    if mailbox is None or document is None or document.buffer is None:
        return None
    mapper = Mapper(document.buffer.text(), ls.encoding)
    return [
        t.CodeLens(t.Range(shown.start, shown.start), t.Command(said, ""))
        for shown, said in titles(mailbox, mapper)
    ]


def file_title(analysis: Analysis) -> str:
    """Return "#1 of 5: gpt · cluster 1 of 3 · ES 0.83"; all that share the first rank are named."""
    ranking, clusters = analysis.comparison.ranking, analysis.comparison.clusters
    first = [ranked for ranked in ranking if ranked.rank == 1]
    who = ", ".join(name(ranked.id) for ranked in first[:3]) + (", …" if len(first) > 3 else "")
    home = next(n for n, c in enumerate(clusters, start=1) if first[0].index in c.members)
    parts = [f"#1 of {len(ranking)}: {who}", f"cluster {home} of {len(clusters)}"]
    if first[0].agreement is not None:
        parts.append(f"ES {digits(first[0].agreement)}")
    return " · ".join(parts)


def hunk_title(analysis: Analysis, index: int) -> str:
    """Return "3 variants · 3 of 5 agree"."""
    hunk, count = analysis.hunks[index].hunk, len(analysis.snapshot.texts)
    variants = len(hunk.variants)
    agree = f"{hunk.agree} of {count} agree" if hunk.agree > 1 else "no two agree"
    return f"{variants} variant{'s' if variants > 1 else ''} · {agree}"


def _lens(
    ls: ExciseServer, shown: t.Range, title: str, method: str, argument: dict[str, object]
) -> t.CodeLens:
    """Return a lens on one line, whose command is ours unless the client has its own."""
    command, argument = client_command(ls, method.replace("/", "."), argument)
    line = t.Range(shown.start, shown.start)
    return t.CodeLens(line, t.Command(title, command, arguments=[argument]))
