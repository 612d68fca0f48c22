"""workspace/configuration and workspace/didChangeConfiguration: choices that change."""

from __future__ import annotations

import logging

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException

from excise_server.lsp.server import ExciseServer
from excise_server.lsp.settings import SECTION, merged

__all__ = ["ask", "did_change_configuration", "register"]

logger = logging.getLogger(__name__)


def did_change_configuration(ls: ExciseServer, params: t.DidChangeConfigurationParams) -> None:
    """Take the section as it is now: ask for it where the client answers, else read what came."""
    if _answers(ls):
        ls.spawn(ask(ls))
    elif isinstance(params.settings, dict):
        ls.configure(merged(ls.initial_options, params.settings.get(SECTION)))


async def ask(ls: ExciseServer) -> None:
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


async def register(ls: ExciseServer) -> None:
    """Register for changes of the configuration, if the client requires that."""
    workspace = ls.client_capabilities.workspace
    changes = workspace.did_change_configuration if workspace else None
    if not (changes and changes.dynamic_registration):
        return
    method = t.WORKSPACE_DID_CHANGE_CONFIGURATION
    options = t.DidChangeConfigurationRegistrationOptions(section=SECTION)
    registration = t.Registration(
        id="excise-configuration", method=method, register_options=options
    )
    try:
        await ls.client_register_capability_async(t.RegistrationParams([registration]))
    except JsonRpcException as error:
        logger.warning("changes of the configuration will not be noticed: %s", error)


def _answers(ls: ExciseServer) -> bool:
    workspace = ls.client_capabilities.workspace
    return bool(workspace and workspace.configuration)
