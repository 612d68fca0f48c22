"""initialize and initialized: the client's choices, and the time to load what scoring needs."""

from __future__ import annotations

from lsprotocol import types as t

from excise_server.lsp.compare import register_content
from excise_server.lsp.configuration import ask, register
from excise_server.lsp.diagnostic import OPTIONS, diagnostic
from excise_server.lsp.navigation import NAVIGATION
from excise_server.lsp.server import ExciseServer

__all__ = ["initialize", "initialized"]


def initialize(ls: ExciseServer, params: t.InitializeParams) -> None:
    """Read the options, and offer to be asked for diagnostics if that replaces sending them."""
    ls.on_client(params.process_id)
    ls.initial_options = params.initialization_options
    ls.configure(params.initialization_options)
    if ls.publisher.refresher.pulls:
        # Only then: Neovim would ask as well, and show both answers and sent diagnostics.
        ls.feature(t.TEXT_DOCUMENT_DIAGNOSTIC, OPTIONS)(diagnostic)
    if ls.settings.standard_navigation:
        for method, handler in NAVIGATION.items():
            ls.feature(method)(handler)


def initialized(ls: ExciseServer, _params: t.InitializedParams) -> None:
    """Load numpy and the grammars in the worker, and ask for what can change."""
    ls.warm_up()
    for asking in (ls.memory.ready(), register_content(ls), register(ls), ask(ls)):
        ls.spawn(asking)
