"""Optional navigation by the standard protocol: hunks as symbols, variants as implementations.

It is off by default, because it would clutter the outline of a language's own server.
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
from excise_server.editor.places import LineMap
from excise_server.editor.wording import hunk_words, names_of
from excise_server.foundation.inputs import SourceError
from excise_server.foundation.paths import read_bytes, text_of
from excise_server.lsp.disk import local_path
from excise_server.lsp.publishing import Outcome
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.to_proto import Mapper, hunks_at

__all__ = ["NAVIGATION"]

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
