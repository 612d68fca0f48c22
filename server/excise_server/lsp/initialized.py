"""initialize and initialized: the client's choices, and the time to load what scoring needs."""

from __future__ import annotations

from lsprotocol import types as t

from excise_server.lsp.server import ExciseServer
from excise_server.lsp.settings import settings_of
from excise_server.lsp.source_settings import source_choices_of

__all__ = ["initialize", "initialized"]


def initialize(ls: ExciseServer, params: t.InitializeParams) -> None:
    """Read the options."""
    ls.settings = settings_of(params.initialization_options)
    ls.gatherer.choose(source_choices_of(params.initialization_options))


def initialized(ls: ExciseServer, _params: t.InitializedParams) -> None:
    """Load numpy, scikit-learn and the grammars in the worker: the client has its reply."""
    ls.warm_up()
