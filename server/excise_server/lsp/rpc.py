"""One client: frames of the base protocol, JSON-RPC by the specification, and the connection.

Every request is answered, and nothing private leaves. pygls 2.1.1 leaves requests with bad
parameters and requests after `shutdown` unanswered, sends tracebacks to the client, shows a popup
for each failed notification, and takes any nested object with a key "jsonrpc" for a message.
`Protocol` overrides how messages are read and how results are written. Handlers, types and
capabilities remain those of pygls.

Frames come over blocking streams, with a thread each to read and to write. The loop never waits for
a stream: a client that does not read cannot stop it, and a blocked read cannot delay the exit.
Reads are plain `os.read` or `recv`, so that the interpreter can end while one of them waits.
"""

from __future__ import annotations

import asyncio
import contextvars
import enum
import json
import logging
import re
import threading
from collections.abc import Callable, Coroutine, Generator, Iterator
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from typing import Any, cast

import msgspec
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

from excise_server.lsp.settings import Settings
from excise_server.lsp.to_proto import Encoding
from excise_server.wire import lsp as p

logger = logging.getLogger(__name__)

# --- frames ---

MAX_FRAME = 1 << 30
"""Longest message accepted: 1 GiB (300 revisions of 10 MB are three requests)."""

MAX_BAD = 100
"""Bad frames in a row after which the session ends: the other side does not speak the protocol."""

_CHUNK = 1 << 16
_HEADER_LIMIT = 1 << 14
_BLANK = b"\r\n\r\n"
_FIELD = re.compile(rb"content-(?:length[ \t]*:[ \t]*\d{1,10}|type[ \t]*:[^\r\n]*)[ \t]*", re.I)
_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(\d{1,10})[ \t]*", re.I)
_LAST_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*\d{1,10}[ \t]*\Z", re.I)
_FIELD_LIMIT = 256
"""Bytes before a blank line in which a field that names a length is looked for."""


class BadFrame(bytes):
    """Bytes that are not a message, where one should be."""


def frames(receive: Callable[[int], bytes], *, strict: bool = False) -> Iterator[bytes]:
    """Yield the content of every message until the stream ends.

    Whatever is not a message is yielded as a `BadFrame`, and reading goes on with the next header:
    also where a header named a wrong length, because no JSON text has a header in it (line ends in
    its strings are escaped).

    - ``strict``: take no other header field than the protocol's, and end with the first bad frame:
      where a web page may be the other side, which can send nothing but HTTP.
    """
    reader = _FrameReader(receive, strict)
    bad, most = 0, 1 if strict else MAX_BAD
    while bad < most and (frame := reader.next()) is not None:
        bad = bad + 1 if isinstance(frame, BadFrame) else 0
        yield frame


class _FrameReader:
    """The received bytes that are not yet consumed."""

    def __init__(self, receive: Callable[[int], bytes], strict: bool) -> None:
        self._receive, self._strict = receive, strict
        self._pending = bytearray()

    def next(self) -> bytes | None:
        """Take the next message, or a bad frame in its place, or None at the end of the stream."""
        header = self._header()
        if header is None or isinstance(header, BadFrame):
            return header
        length = _length_of(header, strict=self._strict)
        if length is not None:
            return self._content(length)
        if (last := _LAST_LENGTH.search(header)) is not None and last.start():
            # The rest of a message that was longer than its header said, and then a header.
            self._pending[:0] = header[last.start() :] + _BLANK
            return BadFrame(header[: min(last.start(), 80)])
        return BadFrame(header[:80])

    def _more(self) -> bool:
        chunk = self._receive(_CHUNK)
        self._pending += chunk
        return bool(chunk)

    def _header(self) -> bytes | None:
        """Take the next block of header lines."""
        searched = 0
        while (end := self._pending.find(_BLANK, searched)) < 0:
            if len(self._pending) > _HEADER_LIMIT:
                start = bytes(self._pending[:80])
                del self._pending[:-_FIELD_LIMIT]
                return BadFrame(start)
            searched = max(0, len(self._pending) - 3)
            if not self._more():
                return None
        header = bytes(self._pending[:end])
        del self._pending[: end + 4]
        return header

    def _content(self, length: int) -> bytes | None:
        """Take the content of a message, up to a header in it if there is one."""
        searched = 0
        while True:
            available = min(length, len(self._pending))
            while (end := self._pending.find(_BLANK, searched, available)) >= 0:
                field = bytes(self._pending[max(0, end - _FIELD_LIMIT) : end])
                if (last := _LAST_LENGTH.search(field)) is not None:
                    size = end - len(field) + last.start()
                    start = bytes(self._pending[: min(size, 80)])
                    del self._pending[:size]
                    return BadFrame(start)
                searched = end + 1
            searched = max(searched, available - 3)
            if available == length:
                content = bytes(self._pending[:length])
                del self._pending[:length]
                return content
            if not self._more():
                return None


def _length_of(header: bytes, *, strict: bool) -> int | None:
    """Return the length in a header, ignoring case (RFC 9110) and other fields."""
    lines = header.split(b"\r\n")
    if strict and not all(map(_FIELD.fullmatch, lines)):
        return None
    for line in lines:
        if match := _LENGTH.fullmatch(line):
            length = int(match[1])
            return length if length <= MAX_FRAME else None
    return None


class Outbox:
    """The writing end: takes whole frames from the loop, and writes them in its own thread."""

    def __init__(self, send: Callable[[bytes], object]) -> None:
        """Write with ``send``, which takes all the bytes it is given or raises OSError."""
        self._send = send
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="excise-writer", daemon=True)
        self._thread.start()

    def write(self, frame: bytes) -> None:
        """Write a frame after all earlier ones."""
        self._queue.put(frame)

    def close(self, timeout: float = 1.0) -> None:
        """Wait until everything is written, but not for a client that has stopped reading."""
        self._queue.put(None)
        self._thread.join(timeout)

    def _run(self) -> None:
        while (frame := self._queue.get()) is not None:
            try:
                self._send(frame)
            except OSError:
                return  # the client is gone; the reader sees the end of its stream


# --- messages ---

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
        self._initialized = False
        self.on_exit: Callable[[int], None] = lambda _code: None
        super().__init__(server, converter)

    def _register_builtin_features(self) -> None:
        super()._register_builtin_features()  # type: ignore[no-untyped-call]
        for method in _DROPPED:
            del self.fm.builtin_features[method]

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
                # A client of another release asks for what is gone: its user sees nothing else.
                left = isinstance(error, JsonRpcMethodNotFound) and method.startswith("excise/")
                level = logging.WARNING if left else logging.INFO
                logger.log(level, "refused %s: %s", method[:100], error)
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

        Raises JsonRpcInvalidParams if they are wrong. The message is one line.
        """
        return self._params(method, {"params": params})

    def unstructured(self, result: object) -> dict[str, Any]:
        """Return a result in the form for the wire. Any thread may call this."""
        return cast("dict[str, Any]", self._serialize_message(result))

    def _params(self, method: str, message: dict[str, Any]) -> object:
        if (ours := p.METHODS.get(method)) is not None:
            try:
                return msgspec.convert(message.get("params"), ours.params)
            except msgspec.ValidationError as error:
                raise JsonRpcInvalidParams(f"{method}: {error}") from error
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
        result.capabilities.experimental = {"excise": {"version": p.SCHEMA}}
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

    def _serialize_message(self, data: Any) -> Any:  # noqa: ANN401 of our records, and pygls'
        if isinstance(data, msgspec.Struct):
            return msgspec.to_builtins(data)
        return super()._serialize_message(data)

    def _send_data(self, data: object) -> None:
        if self.writer is None:
            logger.error("nothing to write to")
            return
        try:
            body = json.dumps(data, default=self._serialize_message, separators=(",", ":"))
        except Exception:
            logger.exception("a message cannot be serialised")
            if (msg_id := getattr(data, "id", None)) is None:
                return
            problem = {"code": JsonRpcInternalError.CODE, "message": "internal error"}
            body = json.dumps({"jsonrpc": self.VERSION, "id": msg_id, "error": problem})
        content = body.encode()
        self.writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(content), content))


def _parsed(frame: bytes) -> dict[str, Any]:
    """Return the message of a frame, checked as far as JSON-RPC goes.

    Raises JsonRpcException its ``data`` is the id to answer to, or None (it is not sent).
    """
    if isinstance(frame, BadFrame):
        raise JsonRpcParseError("no Content-Length header")
    try:
        message = json.loads(frame, parse_float=_number)
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


def _number(digits: str) -> float:
    """Return a number as an integer wherever it is one: clients write 2.0 for 2."""
    value = float(digits)
    return int(value) if value.is_integer() else value


def _exactly(value: object, kind: type) -> object:
    """Take only values of the type itself: cattrs would make "None" of null and 2 of 2.7."""
    if issubclass(kind, enum.Enum):
        return kind(value)  # enumerations of strings and of ints are also handled here
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


# --- the connection ---

_ENCODINGS: dict[str, Encoding] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


class Connection(LanguageServer):
    """The server's side of a client, below everything that answers it."""

    protocol: Protocol

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 pygls'
        """Prepare a connection. The arguments are those of pygls' server."""
        super().__init__(*arguments, **options)
        self.settings = Settings()
        self._asking: set[asyncio.Task[None]] = set()

    @property
    def encoding(self) -> Encoding:
        """Units of the columns that the client counts in, UTF-16 if none was negotiated."""
        negotiated = self.workspace.position_encoding
        value = negotiated.value if isinstance(negotiated, t.PositionEncodingKind) else negotiated
        return _ENCODINGS.get(value or "", "utf-16")

    def can(self, capability: str) -> Any:  # noqa: ANN401 a capability has any type
        """Return a capability of the client by its path, such as ``window.show_message``."""
        value: Any = self.client_capabilities
        for part in capability.split("."):
            value = value and getattr(value, part)
        return value

    def ask(self, request: Coroutine[Any, Any, object], failed: str, level: int) -> None:
        """Send the client a request whose refusal is only logged."""

        async def asking() -> None:
            try:
                await request
            except JsonRpcException as error:
                logger.log(level, "%s: %s", failed, error)

        self.spawn(asking())

    def spawn(self, asking: Coroutine[Any, Any, None]) -> None:
        """Ask the client something that no message waits for."""
        task = asyncio.get_running_loop().create_task(asking)
        self._asking.add(task)
        task.add_done_callback(self._asked)

    def _asked(self, task: asyncio.Task[None]) -> None:
        self._asking.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("asking the client failed", exc_info=error)
