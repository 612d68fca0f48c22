"""The choices of a client: in initialize, and as the configuration that may change later."""

from __future__ import annotations

import logging

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException

from excise_server.lsp.marks import NAVIGATION, OPTIONS, diagnostic
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.settings import SECTION, merged
from excise_server.lsp.to_proto import SCHEME

__all__ = ["did_change_configuration", "initialize", "initialized"]

logger = logging.getLogger(__name__)


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
    for asking in (ls.memory.ready(), _register_content(ls), _register_changes(ls), _ask(ls)):
        ls.spawn(asking)


def did_change_configuration(ls: ExciseServer, params: t.DidChangeConfigurationParams) -> None:
    """Take the section as it is now: ask for it where the client answers, else read what came."""
    if _answers(ls):
        ls.spawn(_ask(ls))
    elif isinstance(params.settings, dict):
        ls.configure(merged(ls.initial_options, params.settings.get(SECTION)))


async def _ask(ls: ExciseServer) -> None:
    """Ask a client that supports it. Unset options keep their values from `initialize`."""
    if not _answers(ls):
        return
    request = t.ConfigurationParams([t.ConfigurationItem(section=SECTION)])
    try:
        answers = await ls.workspace_configuration_async(request)
    except JsonRpcException as error:
        logger.warning("no configuration: %s", error)
        return
    ls.configure(merged(ls.initial_options, answers[0] if answers else None))


async def _register_content(ls: ExciseServer) -> None:
    """Offer the texts of revisions to a client that opens documents of other schemes."""
    workspace = ls.client_capabilities.workspace
    can = workspace.text_document_content if workspace else None
    options = t.TextDocumentContentRegistrationOptions(schemes=[SCHEME])
    method, failed = t.WORKSPACE_TEXT_DOCUMENT_CONTENT, "revisions cannot be opened as documents"
    if can and can.dynamic_registration:
        await _register(ls, t.Registration("excise-content", method, options), failed)


async def _register_changes(ls: ExciseServer) -> None:
    """Register for changes of the configuration, if the client requires that."""
    workspace = ls.client_capabilities.workspace
    can = workspace.did_change_configuration if workspace else None
    options = t.DidChangeConfigurationRegistrationOptions(section=SECTION)
    method = t.WORKSPACE_DID_CHANGE_CONFIGURATION
    failed = "changes of the configuration will not be noticed"
    if can and can.dynamic_registration:
        await _register(ls, t.Registration("excise-configuration", method, options), failed)


async def _register(ls: ExciseServer, registration: t.Registration, failed: str) -> None:
    try:
        await ls.client_register_capability_async(t.RegistrationParams([registration]))
    except JsonRpcException as error:
        logger.warning("%s: %s", failed, error)


def _answers(ls: ExciseServer) -> bool:
    workspace = ls.client_capabilities.workspace
    return bool(workspace and workspace.configuration)
