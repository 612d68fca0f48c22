"""JSON-RPC by the specification: every request is answered, and nothing private leaves.

pygls 2.1.1 leaves requests with bad parameters and requests after `shutdown` unanswered, sends
tracebacks to the client, shows a popup for each failed notification, and takes any nested object
with a key "jsonrpc" for a message. This class overrides how messages are read and how results are
written. Handlers, types and capabilities remain those of pygls.
"""

from __future__ import annotations

import contextvars
import enum
import json
import logging
from collections.abc import Callable, Generator
from concurrent.futures import Future
from functools import partial
from typing import Any, cast

from cattrs import Converter, transform_error
from lsprotocol import types as t
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from excise_server.lsp import protocol
from excise_server.lsp.wire import BadFrame

__all__ = ["Protocol", "RequestFailed"]

logger = logging.getLogger(__name__)

_DROPPED = (
    t.TEXT_DOCUMENT_DID_OPEN,
    t.TEXT_DOCUMENT_DID_CHANGE,
    t.TEXT_DOCUMENT_DID_CLOSE,
    t.NOTEBOOK_DOCUMENT_DID_OPEN,
    t.NOTEBOOK_DOCUMENT_DID_CHANGE,
    t.NOTEBOOK_DOCUMENT_DID_CLOSE,
    t.WORKSPACE_EXECUTE_COMMAND,
)
"""pygls' own handlers that ours replace: its text sync loses its place and copies every file."""


class RequestFailed(JsonRpcException):
    """The error for a correct request that cannot be answered now. The message says why."""

    CODE = t.LSPErrorCodes.RequestFailed.value
    MESSAGE = "Request Failed"


class Protocol(LanguageServerProtocol):
    """The protocol of one session: new, then initialised, then shut down."""

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        """Prepare a session. `on_exit` receives the exit code when the client sends `exit`."""
        for kind in (str, int, bool):
            converter.register_structure_hook(kind, _exactly)
        protocol.register(converter)
        self._initialized = False
        self.on_exit: Callable[[int], None] = lambda _code: None
        super().__init__(server, converter)

    def _register_builtin_features(self) -> None:
        super()._register_builtin_features()  # type: ignore[no-untyped-call]
        for method in _DROPPED:
            del self.fm.builtin_features[method]

    # The base class caches this method, which mypy takes for another kind of attribute.
    def get_message_type(self, method: str) -> type[Any] | None:  # type: ignore[override]
        """Return the type of a message, ours or the protocol's."""
        return protocol.message_type(method) or super().get_message_type(method)

    # --- coming in ---

    def receive(self, frame: bytes) -> None:
        """Take one message from the wire. Never raises: a failure is an answer or a log line."""
        try:
            message = _parsed(frame)
        except JsonRpcException as error:
            self._refuse(error.data, error)
            return
        method, params = message.get("method"), message.get("params")
        if method is None:
            self._on_response(message)
        elif "id" in message:
            try:
                self._on_request(message["id"], method, message)
            except JsonRpcException as error:
                logger.info("refused %s: %s", method, error)
                self._refuse(message["id"], error)
        elif method == t.CANCEL_REQUEST:
            self._cancel(params.get("id") if isinstance(params, dict) else None)
        elif method == t.EXIT:
            self.on_exit(0 if self._shutdown else 1)
        elif self._initialized and not self._shutdown:
            self._on_notification(method, message)

    def _on_request(self, msg_id: int | str, method: str, message: dict[str, Any]) -> None:
        if self._shutdown:
            raise JsonRpcInvalidRequest("the server has been shut down")
        if not self._initialized and method != t.INITIALIZE:
            raise JsonRpcServerNotInitialized("initialize comes first")
        if self._initialized and method == t.INITIALIZE:
            raise JsonRpcInvalidRequest("already initialized")
        if msg_id in self._request_futures:
            raise JsonRpcInvalidRequest("a request with this id is still running")
        handler = self._get_handler(method)
        params = self._params(method, message)
        callback = partial(self._send_handler_result, msg_id=msg_id)
        context = contextvars.copy_context()
        context.run(self._ctx_msg_id.set, msg_id)
        context.run(self._execute_handler, msg_id, handler, callback, (params,))

    def _on_notification(self, method: str, message: dict[str, Any]) -> None:
        try:
            handler = self._get_handler(method)
            params = self._params(method, message)
        except JsonRpcMethodNotFound:
            logger.debug("no handler for %s", method)
        except JsonRpcException as error:
            logger.warning("ignored %s: %s", method, error)
        else:
            context = contextvars.copy_context()
            key = f"notification {id(message)}"
            context.run(self._execute_handler, key, handler, partial(self._noted, key), (params,))

    def _on_response(self, message: dict[str, Any]) -> None:
        future = self._request_futures.pop(message.get("id", ""), None)
        if future is None or future.done():
            return  # the request is unknown, or was answered already
        try:
            if (error := message.get("error")) is not None:
                raised = self._converter.structure(error, t.ResponseError)
                future.set_exception(JsonRpcException.from_error(raised))
                return
            expected = self._result_types.pop(message["id"], None)
            future.set_result(
                self._converter.structure(message, expected).result if expected else None
            )
        except Exception as error:  # noqa: BLE001 a converter's hook may raise anything
            logger.warning("unusable response: %s", _explained(error))
            future.set_exception(JsonRpcInvalidParams(_explained(error)))

    def _cancel(self, msg_id: object) -> None:
        if isinstance(msg_id, int | str) and (future := self._request_futures.get(msg_id)):
            future.cancel()

    def params_of(self, method: str, params: object) -> object:
        """Return parameters in the type of a method.

        Raises
        ------
        JsonRpcInvalidParams
            If they are wrong. The message is one line.
        """
        message = {"id": 0, "jsonrpc": self.VERSION, "method": method, "params": params}
        return self._params(method, message)

    def unstructured(self, result: object) -> dict[str, Any]:
        """Return a result in the form for the wire. Any thread may call this."""
        return cast("dict[str, Any]", self._converter.unstructure(result))

    def _params(self, method: str, message: dict[str, Any]) -> object:
        kind = self.get_message_type(method)
        if kind is None:
            raise JsonRpcMethodNotFound.of(method)
        try:
            return self._converter.structure(message, kind).params
        except Exception as error:
            raise JsonRpcInvalidParams(f"{method}: {_explained(error)}") from error

    @lsp_method(t.INITIALIZE)
    def lsp_initialize(self, params: t.InitializeParams) -> Generator[Any, Any, t.InitializeResult]:
        """Answer like pygls, and accept other requests from now on."""
        result = yield from super().lsp_initialize(params)
        self._initialized = True
        result.capabilities.experimental = {"excise": {"version": protocol.SCHEMA}}
        return result

    @lsp_method(t.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def lsp_work_done_progress_cancel(self, params: t.WorkDoneProgressCancelParams) -> None:
        """Stop the work that a token shows. Any JSON value may come in place of a token."""
        token: object = params.token
        if isinstance(token, int | str) and (future := self.progress.tokens.get(token)):
            future.cancel()

    # --- going out ---

    def _send_handler_result(self, future: Future[Any], *, msg_id: int | str) -> None:
        self._request_futures.pop(msg_id, None)
        if future.cancelled():
            self._refuse(msg_id, JsonRpcRequestCancelled("cancelled"))
        elif (error := future.exception()) is None:
            self._send_response(msg_id, result=future.result())
        elif isinstance(error, JsonRpcException):
            self._refuse(msg_id, error)
        else:
            logger.error("request %r failed", msg_id, exc_info=error)
            self._refuse(msg_id, JsonRpcInternalError("internal error; the server's log has more"))

    def _noted(self, key: str, future: Future[Any]) -> None:
        """Log the failure of a notification, which has no answer, and show nothing."""
        self._request_futures.pop(key, None)
        if not future.cancelled() and (error := future.exception()) is not None:
            logger.error("notification failed", exc_info=error)

    def _refuse(self, msg_id: int | str | None, error: JsonRpcException) -> None:
        problem = {"code": error.code, "message": error.message}
        if isinstance(error, RequestFailed) and error.data is not None:
            problem["data"] = error.data
        self._send_data({"jsonrpc": self.VERSION, "id": msg_id, "error": problem})

    def _send_data(self, data: object) -> None:
        if self.writer is None:
            logger.error("nothing to write to")
            return
        try:
            body = json.dumps(data, default=self._serialize_message, separators=(",", ":"))
        except Exception:
            logger.exception("a message does not serialise")
            if (msg_id := getattr(data, "id", None)) is None:
                return
            problem = {"code": JsonRpcInternalError.CODE, "message": "internal error"}
            body = json.dumps({"jsonrpc": self.VERSION, "id": msg_id, "error": problem})
        content = body.encode()
        self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))


def _parsed(frame: bytes) -> dict[str, Any]:
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


def _exactly(value: object, kind: type) -> object:
    """Take only values of the type itself: cattrs would make "None" of null and 2 of 2.7."""
    if issubclass(kind, enum.Enum):
        return kind(value)  # enumerations of strings and of ints are also handled here
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}")
    return value


def _explained(error: Exception) -> str:
    """Return the error in the parameters, in one line without their values."""
    try:
        reasons = transform_error(error, path="")
    except Exception:  # noqa: BLE001 not every error is one that it knows
        return "wrong parameters"
    return "; ".join(line.replace("@ .", "@ ") for line in reasons[:3]) or "wrong parameters"
