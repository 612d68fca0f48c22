"""codeAction/resolve: the edit of an action that was offered without it."""

from __future__ import annotations

from lsprotocol import types as t
from pygls.exceptions import JsonRpcInvalidParams

from excise_server.lsp import protocol
from excise_server.lsp.apply import Choice, choice_command, edit_of
from excise_server.lsp.rpc import RequestFailed
from excise_server.lsp.server import ExciseServer

__all__ = ["code_action_resolve"]

_METHODS = (protocol.APPLY_VARIANT, protocol.APPLY_REVISION)


async def code_action_resolve(ls: ExciseServer, action: t.CodeAction) -> t.CodeAction:
    """Return the action with its edit, or unchanged if it needs none.

    Raises
    ------
    RequestFailed
        If nothing is left to edit, or the user's edits are in the way.
    """
    data = action.data
    if data is None:
        return action
    if not isinstance(data, dict) or data.get("method") not in _METHODS:
        raise JsonRpcInvalidParams("not an action of this server")
    params = ls.protocol.params_of(data["method"], data.get("params"))
    assert isinstance(params, Choice)
    try:
        _, action.edit = await edit_of(ls, params)
    except RequestFailed as error:
        can = ls.client_capabilities.text_document
        resolve = can.code_action.resolve_support if can and can.code_action else None
        if error.data is None or "command" not in (resolve.properties if resolve else ()):
            raise
        # The command says what is wrong, and asks whether to take it all the same.
        action.command = choice_command(ls, action.title, params)
        return action
    if action.edit is None:
        raise RequestFailed("the document already has this text")
    return action
