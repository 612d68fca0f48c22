"""workspace/executeCommand: the custom requests for clients that cannot send them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from lsprotocol import types as t
from pygls.exceptions import JsonRpcInvalidParams

from excise_server.lsp import protocol
from excise_server.lsp.server import ExciseServer
from excise_server.lsp.standard import STANDARD

__all__ = ["executor"]

Handler = Callable[[ExciseServer, Any], Any]


def executor(handlers: dict[str, Handler]) -> Handler:
    """Return the handler that runs a command as the request of the same name."""

    async def execute_command(ls: ExciseServer, params: t.ExecuteCommandParams) -> object:
        arguments = params.arguments or []
        if (standard := STANDARD.get(params.command)) is not None:
            if len(arguments) != 1 or not isinstance(arguments[0], dict):
                raise JsonRpcInvalidParams(f"{params.command} takes one argument: an object")
            await standard(ls, arguments[0])
            return None
        method = protocol.COMMANDS.get(params.command)
        if method is None:
            raise JsonRpcInvalidParams("unknown command: the capabilities name those there are")
        if len(arguments) != 1:
            raise JsonRpcInvalidParams(f"{params.command} takes one argument: the params")
        result = handlers[method](ls, ls.protocol.params_of(method, arguments[0]))
        return await result if inspect.isawaitable(result) else result

    return execute_command
