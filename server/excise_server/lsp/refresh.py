"""Refresh requests: a client that supports them is told to ask again for outdated results."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from functools import partial

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException

from excise_server.editor.document import document_key
from excise_server.lsp.connection import Connection
from excise_server.lsp.virtual import parse_uri

__all__ = ["Refresher"]

logger = logging.getLogger(__name__)

MAX_OPENED = 1000
"""Most virtual documents whose requests are remembered."""


class Refresher:
    """Asks the client to renew lenses, pulled diagnostics and the texts of revisions."""

    def __init__(self, server: Connection) -> None:
        """Take the connection to the client."""
        self._server = server
        self._opened: OrderedDict[str, None] = OrderedDict()

    @property
    def pulls(self) -> bool:
        """Whether the client asks for diagnostics, and can be told when to ask again.

        Revisions arrive without an edit. A client that cannot be told would not see them, so it is
        sent diagnostics like a client that never pulls.
        """
        capabilities = self._server.client_capabilities
        document, workspace = capabilities.text_document, capabilities.workspace
        refresh = workspace.diagnostics if workspace else None
        return bool(document and document.diagnostic and refresh and refresh.refresh_support)

    def opened(self, uri: str) -> None:
        """Note that the client has asked for the text behind a virtual URI."""
        self._opened[uri] = None
        self._opened.move_to_end(uri)
        if len(self._opened) > MAX_OPENED:
            self._opened.popitem(last=False)

    def settings_changed(self) -> None:
        """Tell a client that asks for diagnostics that the same scores are shown otherwise."""
        if self.pulls:
            self._ask(lambda: self._server.workspace_diagnostic_refresh_async(None))

    def marks_changed(self) -> None:
        """Tell the client that marks and lenses have changed or moved."""
        server, workspace = self._server, self._server.client_capabilities.workspace
        if self.pulls:
            self._ask(lambda: server.workspace_diagnostic_refresh_async(None))
        lenses = workspace.code_lens if workspace else None
        if lenses and lenses.refresh_support:
            self._ask(lambda: server.workspace_code_lens_refresh_async(None))

    def scores_changed(self, key: str) -> None:
        """Tell the client that the scores of a document have changed."""
        self.marks_changed()
        server, workspace = self._server, self._server.client_capabilities.workspace
        contents = workspace.text_document_content if workspace else None
        for uri in list(self._opened) if contents else ():
            parsed = parse_uri(uri)
            if parsed is not None and document_key(parsed[0]) == key:
                params = t.TextDocumentContentRefreshParams(uri=uri)
                self._ask(partial(server.workspace_text_document_content_refresh_async, params))

    def _ask(self, request: Callable[[], Awaitable[None]]) -> None:
        async def asking() -> None:
            try:
                await request()
            except JsonRpcException as error:
                logger.info("the client does not refresh: %s", error)

        self._server.spawn(asking())
