"""The actions offered on every line to clients without their own commands for a review."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from excise_server.editor.analysis import Analysis
from excise_server.editor.document import OWN_EDITS
from excise_server.editor.wording import names_of
from excise_server.foundation.paths import inside
from excise_server.lsp.disk import local_path
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.standard import (
    OPEN_CANDIDATE,
    OPEN_CANDIDATES,
    OPEN_REVIEW,
    ORIGINS,
    PICK_ORIGIN,
    RESTART_REVIEW,
    TAKE_CANDIDATE,
)

__all__ = ["SOURCE_KINDS", "standard_actions"]

_SHOW, _TAKE, _START = "source.excise.show", "source.excise.take", "source.excise.start"
SOURCE_KINDS = [_SHOW, _TAKE, _START]


def standard_actions(
    ls: ExciseServer, analysis: Analysis, uri: str
) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yield title, kind, command and argument of each action on a document's review."""
    yield "Show the hunks of this file side by side", _SHOW, OPEN_REVIEW, {"uri": uri}
    path = local_path(uri)
    if path is None or not inside(path, ls.folders()):
        return
    if ls.gatherer.choices.trusted:
        title = "Compare the candidates of this repository"
        yield title, _SHOW, OPEN_CANDIDATES, {"uri": uri}
    snapshot = analysis.snapshot
    for identity, name in zip(snapshot.ids, names_of(snapshot.revisions), strict=True):
        argument = {"uri": uri, "id": identity}
        yield f"Show this file as {name} has it", _SHOW, OPEN_CANDIDATE, argument
        if ls.gatherer.choices.trusted and identity != OWN_EDITS:
            yield f"Take all files from {name}", _TAKE, TAKE_CANDIDATE, argument
    document = ls.session.find(uri)
    if document is not None and document.pinned is not None:
        title = "Start the review of this file again"
        yield title, _START, RESTART_REVIEW, {"uri": uri}
    for origin, origin_words in ORIGINS.items():
        if origin != ls.gatherer.choices.settings.origin:
            argument = {"uri": uri, "origin": origin}
            yield f"Compare candidates with {origin_words}", _START, PICK_ORIGIN, argument
