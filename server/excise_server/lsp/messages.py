"""Messages before they have a type: checked as JSON-RPC, with strict parameters."""

from __future__ import annotations

import enum
import json
from typing import Any

from cattrs import transform_error
from pygls.exceptions import JsonRpcInvalidRequest, JsonRpcParseError

from excise_server.lsp.wire import BadFrame

__all__ = ["exactly", "explained", "parsed"]


def parsed(frame: bytes) -> dict[str, Any]:
    """Return the message of a frame, checked as far as JSON-RPC goes.

    Raises
    ------
    JsonRpcException
        Its ``data`` is the id to answer to, or None (it is not sent).
    """
    if isinstance(frame, BadFrame):
        raise JsonRpcParseError("no Content-Length header")
    try:
        message = json.loads(frame)
    except (ValueError, RecursionError) as error:
        raise JsonRpcParseError("not JSON") from error
    if not isinstance(message, dict):
        raise JsonRpcInvalidRequest("not a JSON-RPC message")
    msg_id = message.get("id")
    null = "method" in message and message.get("id", 0) is None
    if null or type(msg_id) not in (int, str, type(None)):
        raise JsonRpcInvalidRequest("the id is neither a string nor an integer")
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method", ""), str):
        raise JsonRpcInvalidRequest("not a JSON-RPC 2.0 message", data=msg_id)
    return message


def exactly(value: object, kind: type) -> object:
    """Take only values of the type itself: cattrs would make "None" of null and 2 of 2.7."""
    if issubclass(kind, enum.Enum):
        return kind(value)  # enumerations of strings and of ints are also handled here
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}")
    return value


def explained(error: Exception) -> str:
    """Return the error in the parameters, in one line without their values."""
    try:
        reasons = transform_error(error, path="")
    except Exception:  # noqa: BLE001 not every error is one that it knows
        return "wrong parameters"
    return "; ".join(line.replace("@ .", "@ ") for line in reasons[:3]) or "wrong parameters"
